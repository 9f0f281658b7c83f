import type { HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command, CommandReply, Host } from "../../protocol/host/host.ts";
import { refusalOf } from "../../protocol/host/refusal.ts";
import { reason, type SageErrorCode, SageError } from "../../protocol/reasons/reason.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { replyInEnglish } from "../../view/in-english.ts";
import type { Devices, Paired, Taken } from "./devices.ts";
import { addDeviceRoutes, addPasskeyRoute, type PasskeyReply, type Passkeys } from "./device-routes.ts";
import { proxyName, type Caller, type Entered, type Entrance, type ProxyIdentity, type Turned } from "./entrance.ts";
import { pageFiles, type PageFiles } from "./files.ts";
import { guardHeaders, isForeign, refuse, type Origins } from "./headers.ts";

export { createDevices, CODE_MS, LINK_MS, type Devices, type Passkey } from "./devices.ts";
export { createEntrance, type Caller, type Entered, type Identity, type Visitor } from "./entrance.ts";
export type { PasskeyReply, Passkeys } from "./device-routes.ts";
export type { PageFiles } from "./files.ts";

const POLL_MS = 250;

type WebParts = {
  /** Known once the port is. */
  origins(): Origins;
  files: PageFiles;
  devices: Devices;
  entrance: Entrance;
  identity?: ProxyIdentity | undefined;
  /** The host as somebody who has entered may use it. */
  hostFor(entered: Entered, surface: string): Host;
  passkeys: Passkeys;
  parse(body: unknown): Command;
  /** Counts a command of this person. Throws when there were too many. */
  count(person: string): void;
  /** Takes over a connection that asked to become a WebSocket, from a host and a page of ours. */
  open(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller): void;
  /** Bytes of a body, or the status to refuse it with. */
  readBody(incoming: IncomingMessage): Promise<Buffer | number>;
};

export type Web = {
  /** Of the server: the only path that may become a WebSocket is ours. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
};

/** The page of the daemon, and the doors through which it and remote terminals come in. */
export function addWeb(app: Hono<{ Bindings: HttpBindings }>, parts: WebParts): Web {
  const { devices, entrance, identity, hostFor, parse, readBody } = parts;
  const file = pageFiles(parts.files);
  for (const path of ["/", "/assets/*", "/v1/*"])
    app.use(path, async (context, next) => {
      const { incoming } = context.env;
      const status = refuse(incoming, parts.origins());
      if (status !== undefined) return answer(status, {});
      if (context.req.path.startsWith("/v1/") && isForeign(incoming)) return answer(403, {});
      return next();
    });
  app.get("/", (context) => file("index.html", context.req.header("accept-encoding")) ?? answer(404, {}));
  app.get("/assets/:name", (context) => {
    const name = context.req.param("name");
    return (name === "index.html" ? undefined : file(name, context.req.header("accept-encoding"))) ?? answer(404, {});
  });

  addPairRoute(app, { devices, entrance, callerOf, readJson });
  app.post("/v1/send", async (context) => {
    const { incoming } = context.env;
    const entered = await enter(incoming);
    if (typeof entered === "string") return turnedAway(entered);
    try {
      // Known by the proxy's word alone: a browser sends that by itself, also for another page.
      if ("proxy" in entered.identity && !isOwnRequest(incoming)) return answer(403, refused("not-permitted"));
      const body = await readJson(incoming);
      if (body instanceof Response) return body;
      return replied(await replyTo(entered, body));
    } finally {
      entered.leave();
    }
  });

  app.delete("/v1/device", async (context) => {
    const entered = await enter(context.env.incoming);
    if (typeof entered === "string") return turnedAway(entered);
    entered.leave();
    if (!("device" in entered.identity)) return answer(404, refused("request-invalid"));
    const removed = await settled(devices.remove(entered.identity.device.id));
    return removed instanceof Response ? removed : answer(200, { ok: true });
  });
  addDeviceRoutes(app, { devices, origins: parts.origins, enter, answer, settled });
  addPasskeyRoute(app, { passkeys: parts.passkeys, count: parts.count, enter, readJson, replied, turnedAway });
  app.all("/v1/*", () => answer(404, {}));

  return {
    upgrade(request, socket, head) {
      const caller = callerOf(request);
      // With a name from the proxy alone nobody has to hold a key: then only our own page may speak in that name.
      const status = refuse(request, parts.origins(), { ambient: caller.proxy !== undefined });
      if (status !== undefined) return hangUp(socket, status);
      // Compared as it came: what is no address at all must not be read as one.
      if (request.url?.split("?")[0] !== "/v1/wire") return hangUp(socket, 404);
      if (isForeign(request)) return hangUp(socket, 403);
      parts.open(request, socket, head, caller);
    },
  };

  function callerOf({ headers, socket }: IncomingMessage): Caller {
    const address = socket.remoteAddress ?? "";
    return { address, proxy: proxyName(headers, address, identity) };
  }

  function enter(incoming: IncomingMessage): Promise<Entered | Turned> {
    const key = /^Bearer (\S+)$/.exec(incoming.headers.authorization ?? "")?.[1];
    return entrance.enter(key, callerOf(incoming));
  }

  function isOwnRequest(incoming: IncomingMessage): boolean {
    return incoming.headers["x-sage"] === "1" && refuse(incoming, parts.origins(), { ambient: true }) === undefined;
  }

  async function replyTo(entered: Entered, body: unknown): Promise<CommandReply> {
    try {
      parts.count(entered.visitor.by);
      return await hostFor(entered, "web").send(parse(body));
    } catch (error) {
      return refusalOf(error);
    }
  }

  async function readJson(incoming: IncomingMessage): Promise<unknown> {
    // A form of another page can send plain text, and never this.
    if (!/^application\/json\b/i.test(incoming.headers["content-type"] ?? "")) return answer(415, {});
    const bytes = await readBody(incoming);
    if (typeof bytes === "number") return answer(bytes, {}, { connection: "close" });
    try {
      return JSON.parse(bytes.toString("utf8")) as unknown;
    } catch (error) {
      return answer(400, { ok: false, code: "request-invalid", message: thrownText(error) });
    }
  }
}

type PairParts = Pick<WebParts, "devices" | "entrance"> & {
  callerOf(incoming: IncomingMessage): Caller;
  readJson(incoming: IncomingMessage): Promise<unknown>;
};

/** A device gets its key, for an invitation or for one that it has. */
function addPairRoute(app: Hono<{ Bindings: HttpBindings }>, { devices, entrance, callerOf, readJson }: PairParts) {
  const pairs = createPairLimits();
  app.post("/v1/pair", async (context) => {
    const { incoming } = context.env;
    const { address } = callerOf(incoming);
    if (!pairs.may(address)) return answer(429, refused("queue-full"));
    const body = await readJson(incoming);
    if (body instanceof Response) return body;
    const given = pairing(body);
    if (!given) return answer(400, refused("request-invalid"));
    if (!pairs.may(address)) return answer(429, refused("queue-full")); // others may have tried in the meantime
    const taken = await settled(devices.take(given.by, { name: given.name, from: address }));
    if (taken instanceof Response) return taken;
    if (!taken) pairs.failed(address);
    const paired = taken && (await settled(admitted(taken, context.req.raw.signal)));
    if (paired instanceof Response) return paired;
    if (!paired) return answer(401, refusedBecause("key-unknown"));
    const entered = await entrance.enter(paired.key, { address });
    if (typeof entered === "string") return turnedAway(entered);
    entered.leave();
    const { by, may } = entered.visitor;
    return answer(200, { ok: true, key: paired.key, me: { by, surface: "web" }, may });
  });
}

/** Waits for confirmation at the terminal, if the invitation requires it. */
async function admitted(taken: Taken, signal: AbortSignal): Promise<Paired | undefined> {
  if (taken.state === "paired") return taken.paired;
  for (;;) {
    const verdict = await taken.look();
    if (typeof verdict === "object") return verdict;
    if (verdict === "refused") return undefined;
    try {
      await sleep(POLL_MS, undefined, { signal });
    } catch {
      return undefined; // the device has gone; nobody gets a key
    }
  }
}

function pairing(body: unknown): { by: { key: string } | { code: string }; name: string } | undefined {
  const { key, code, name } = (body ?? {}) as { key?: unknown; code?: unknown; name?: unknown };
  const called = typeof name === "string" ? name.slice(0, 200) : "";
  if (typeof key === "string") return { by: { key }, name: called };
  return typeof code === "string" ? { by: { code }, name: called } : undefined;
}

function turnedCode(turned: Turned): SageErrorCode {
  return ({ "key-unknown": "key-unknown", "may-not-look": "not-permitted", unsure: "journal-locked" } as const)[turned];
}

function refusedBecause(turned: Turned): CommandReply {
  const why = {
    "key-unknown": reason("device-key-unknown", {}),
    "may-not-look": reason("may-not-look", { by: "" }),
    unsure: reason("devices-unsure", {}),
  } as const;
  return replyInEnglish(refusalOf(new SageError(turnedCode(turned), why[turned])));
}

/** The result, or the answer to give where nothing can be written down: nobody was let in, and nobody removed. */
async function settled<T>(doing: Promise<T>): Promise<T | Response> {
  try {
    return await doing;
  } catch (error) {
    const refusal = refusalOf(error);
    return answer(httpStatus(refusal.code), replyInEnglish(refusal));
  }
}

function turnedAway(why: Turned): Response {
  return answer(httpStatus(turnedCode(why)), refusedBecause(why));
}

function replied(reply: PasskeyReply): Response {
  return reply.ok ? answer(200, reply) : answer(httpStatus(reply.code), replyInEnglish(reply));
}

function refused(code: SageErrorCode): { ok: false; code: SageErrorCode } {
  return { ok: false, code };
}

const statuses: Partial<Record<SageErrorCode, number>> = {
  "request-invalid": 400,
  "input-invalid": 400,
  usage: 400,
  "key-unknown": 401,
  "not-permitted": 403,
  "request-unknown": 404,
  "session-unknown": 404,
  "request-resolved": 409,
  "request-pending": 409,
  "session-owned": 409,
  "queue-full": 429,
  "host-gone": 503,
  "journal-locked": 503,
  "disk-full": 503,
};

function httpStatus(code: SageErrorCode): number {
  return statuses[code] ?? 500;
}

function answer(status: number, body: object, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...guardHeaders, "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

const phrases: Record<number, string> = { 403: "Forbidden", 404: "Not Found", 421: "Misdirected Request" };

/** Before any frame: a browser learns no more than that it failed. */
function hangUp(socket: Duplex, status: number): void {
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${status} ${phrases[status] ?? ""}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

const MINUTE = 60_000;
const A_MINUTE = { ofAddress: 10, together: 60 };

/** Failed pairing attempts are counted per address and in total; own failures do not block a person with the right link. */
type PairLimits = { may(address: string): boolean; failed(address: string): void };

export function createPairLimits(now: () => number = Date.now): PairLimits {
  const failures = new Map<string, number>();
  let together = 0;
  let since = now();
  const renew = () => {
    if (now() - since < MINUTE) return;
    failures.clear();
    [together, since] = [0, now()];
  };
  return {
    may(address) {
      renew();
      return (failures.get(address) ?? 0) < A_MINUTE.ofAddress && together < A_MINUTE.together;
    },
    failed(address) {
      renew();
      failures.set(address, (failures.get(address) ?? 0) + 1);
      together++;
    },
  };
}
