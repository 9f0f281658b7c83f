import { request as ask, type IncomingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { createVisitors } from "../../src/cli/serve/web/visitors.ts";
import { createHttp, listen } from "../../src/cli/serve/web/http.ts";
import { openWeb } from "../../src/cli/serve/web/web.ts";
import { createRedaction } from "../../src/config/secrets/redact.ts";
import { readSettings, type Settings } from "../../src/config/settings/settings.ts";
import { openSurfaceStores, shareFile } from "../../src/host/surface-store.ts";
import { connectWeb } from "../../src/host/socket/connect-web.ts";
import type { Command, CommandReply } from "../../src/protocol/host/host.ts";
import { createDevices, type PageFiles } from "../../src/surfaces/web/index.ts";
import { serveTexts } from "../../src/texts/serve/serve.ts";
import type { TestSage } from "./sage.ts";

export type Answer = { status: number; headers: IncomingHttpHeaders; body: string };

/** The page's server over the host of a test, on a port of its own. */
export async function served(
  { host, store }: Pick<TestSage, "host" | "store">,
  dir: string,
  given: {
    settings?: Partial<Settings>;
    env?: NodeJS.ProcessEnv;
    origins?: string[];
    files?: PageFiles;
    /** Headers that a proxy before it adds to whatever becomes a WebSocket. */ proxy?: Record<string, string>;
  } = {},
) {
  const settings: Settings = { ...readSettings(`${dir}/no-settings`), ...given.settings };
  const stores = openSurfaceStores(`${dir}/surfaces.db`);
  const devices = createDevices(shareFile(stores.of("web")));
  const origins: string[] = [...(given.origins ?? [])];
  const logged: string[] = [];
  const files: PageFiles =
    given.files ??
    new Map(
      Object.entries({ "index.html": "<!doctype html><title>Sage</title>", "main-1a2b3c4d.js": "console.log(1);" }).map(
        ([name, text]) => [name, Buffer.from(text)] as const,
      ),
    );
  const web = openWeb({
    ...{ host, store, devices, files, cwd: dir, settings: () => settings, origins: () => origins },
    visitors: createVisitors(devices, () => settings),
    redaction: createRedaction(given.env ?? {}),
  });
  const app = createHttp({
    ready: () => ({ ready: true }),
    more: web.routes,
    log: (text) => void logged.push(text),
  });
  const lines = new Set<Duplex>();
  const line = { isCut: false };
  const upgrade: typeof web.upgrade = (request, socket, head) => {
    if (line.isCut) return void socket.destroy();
    lines.add(socket);
    Object.assign(request.headers, given.proxy);
    web.upgrade(request, socket, head);
  };
  const listening = await listen(app, { host: "127.0.0.1", port: 0, t: serveTexts("en"), upgrade });
  const url = `http://127.0.0.1:${listening.port}`;
  origins.push(url, url.replace("127.0.0.1", "localhost"));

  /** As it stands: `fetch` would not send these headers. */
  const raw = (method: string, path: string, headers: Record<string, string | string[]> = {}, body = "") =>
    new Promise<Answer>((resolve, reject) => {
      const sent = ask(
        `${url}${path}`,
        { method, headers, setHost: !("host" in headers), agent: false },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => (text += part));
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
          );
        },
      );
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: "" });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  const json = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    raw("POST", path, { "content-type": "application/json", ...headers }, JSON.stringify(body));
  const pair = async (owner = "account:lin", name = "phone") => {
    const { key } = await devices.invite({ owner });
    const { body } = await json("/v1/pair", { key, name });
    return JSON.parse(body) as { ok: true; key: string; me: { by: string }; may: string[] };
  };
  return {
    ...{ url, devices, settings, logged, raw, json, pair },
    port: listening.port,
    /** Breaks every connection, and lets no other come about until it is mended. */
    cut() {
      line.isCut = true;
      for (const socket of lines) socket.destroy();
      lines.clear();
    },
    mend: () => void (line.isCut = false),
    send: async <C extends Command>(key: string, command: C) => {
      const { status, body } = await json("/v1/send", command, { authorization: `Bearer ${key}` });
      return { status, reply: JSON.parse(body) as CommandReply<C["type"]> };
    },
    connect: (key: string) => connectWeb(url, key, { surface: "web" }),
    /** A socket that says hello, with everything that is heard on it. */
    async socket(key: string | undefined, headers: Record<string, string> = {}) {
      const socket = new WebSocket(`${url.replace("http", "ws")}/v1/wire`, { headers });
      const heard: string[] = [];
      const closed = new Promise<number>((resolve) => socket.on("close", resolve));
      socket.on("error", () => {});
      socket.on("message", (data: Buffer) => void heard.push(data.toString("utf8")));
      await new Promise((resolve) => socket.on("open", resolve).on("close", resolve));
      const hello = { protocols: [1], surface: "web", client: "test" };
      if (socket.readyState === WebSocket.OPEN)
        socket.send(JSON.stringify({ hello, ...(key !== undefined && { key }) }));
      return { socket, heard, closed, say: (frame: object) => socket.send(JSON.stringify(frame)) };
    },
    async [Symbol.asyncDispose]() {
      web.close();
      await listening.close();
      stores.close();
    },
  };
}
