import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type HttpBindings, serve } from "@hono/node-server";
import { Hono } from "hono";
import { thrownText } from "../../../texts/shared/error.ts";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import type { ServeTexts } from "../../../texts/serve/serve.ts";

const MAX_BODY_BYTES = 1024 * 1024;
/** Bytes of all bodies that are being received. */
const MAX_BODIES_BYTES = 64 * 1024 * 1024;
const SLOWEST_MS = 10_000;
const usual: ConnectionLimits = { most: 500, silentMs: 10_000 };

export type Readiness = { ready: boolean; [detail: string]: unknown };

type Webhook = (request: {
  headers: Record<string, string | undefined>;
  body: Buffer;
}) => Promise<{ status: number; body: object }>;

type HttpParts = {
  ready(): Readiness;
  /** In Prometheus text; only this machine may read it. */
  metrics?(): string;
  /** Webhooks by their path. None where events come over connections of our own. */
  webhooks?: Readonly<Record<string, Webhook>>;
  /** Further routes, such as those of the page. */
  more?(app: App, readBody: BodyReader): void;
  log(text: string): void;
  slowestMs?: number;
};

export type App = Hono<{ Bindings: HttpBindings }>;

/** HTTP answers of the daemon. Strangers may come here: nothing they send reaches further than its check. */
export function createHttp({ ready, metrics, webhooks = {}, more, log, slowestMs = SLOWEST_MS }: HttpParts): App {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const readBody = bodyReader(slowestMs);
  app.get("/health", (context) => context.json({ status: "ok" }));
  app.get("/ready", (context) => {
    const now = ready();
    return context.json(now, now.ready ? 200 : 503);
  });
  if (metrics)
    app.get("/metrics", (context) =>
      isLoopback(context.env.incoming.socket.remoteAddress) && !isForwarded(context.env.incoming)
        ? new Response(metrics(), { headers: { "content-type": "text/plain; version=0.0.4" } })
        : answer(404, {}),
    );
  for (const [path, webhook] of Object.entries(webhooks)) {
    app.post(path, async (context) => {
      const body = await readBody(context.env.incoming);
      if (typeof body === "number") return answer(body, {}, { connection: "close" });
      const told = await webhook({ headers: Object.fromEntries(context.req.raw.headers), body });
      return answer(told.status, told.body);
    });
    app.all(path, () => answer(405, {}, { allow: "POST" }));
  }
  more?.(app, readBody);
  app.notFound(() => answer(404, {}));
  app.onError((error) => {
    log(`http: ${thrownText(error)}`);
    return answer(500, {});
  });
  return app;
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(127\.|::1$|::ffff:127\.)/.test(address);
}

/** Sent on by a proxy on this machine for somebody who is elsewhere, or by a browser under a name that a foreign server gave us. */
function isForwarded({ headers }: IncomingMessage): boolean {
  const named = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? "");
  return !named || ["forwarded", "via", "x-forwarded-for", "x-real-ip"].some((name) => headers[name] !== undefined);
}

function answer(status: number, body: object, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
}

export type BodyReader = (incoming: IncomingMessage) => Promise<Buffer | Refusal>;
type Refusal = 400 | 408 | 413 | 503;

/** Reads the bytes as they came, or says with which status to refuse them. */
function bodyReader(slowestMs: number): BodyReader {
  let together = 0;
  return async (incoming) => {
    if (Number(incoming.headers["content-length"] ?? 0) > MAX_BODY_BYTES) return 413;
    const { promise, resolve } = Promise.withResolvers<Buffer | Refusal>();
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(resolve, slowestMs, 408);
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      together += chunk.length;
      if (size > MAX_BODY_BYTES) resolve(413);
      else if (together > MAX_BODIES_BYTES) resolve(503);
      else chunks.push(chunk);
    });
    incoming.on("end", () => resolve(Buffer.concat(chunks)));
    incoming.on("error", () => resolve(400));
    incoming.on("close", () => resolve(400));
    const body = await promise;
    clearTimeout(timer);
    together -= size;
    incoming.removeAllListeners("data");
    if (typeof body === "number") incoming.resume().on("error", () => {});
    return body;
  };
}

type Listening = {
  port: number;
  /** Takes nothing new; what is being answered gets a moment. */
  close(): Promise<void>;
};

type ListenOptions = {
  host: string;
  port: number;
  t: ServeTexts;
  connections?: ConnectionLimits;
  /** Certificate and key, in PEM: spoken is https. */
  tls?: { cert: string; key: string } | undefined;
  /** Told of connections that ask to become a WebSocket. Without it they are ended. */
  upgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
};

export async function listen(
  app: App,
  { host, port, t, connections = usual, tls, upgrade }: ListenOptions,
): Promise<Listening> {
  const patience = { requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 5_000 };
  const server = serve({
    fetch: app.fetch,
    hostname: host,
    port,
    ...(tls ? { createServer: createHttps, serverOptions: { ...patience, ...tls } } : { serverOptions: patience }),
  }) as Server;
  limitConnections(server, connections);
  if (upgrade)
    server.on("upgrade", (request, socket, head) => {
      try {
        upgrade(request, socket, head);
      } catch {
        socket.destroy(); // whatever a stranger sent ends their own connection, and nobody else's
      }
    });
  try {
    await once(server, "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "EADDRINUSE" ? t.portTaken : code === "EACCES" ? t.portRights : thrownText(error);
    throw new SageError("config-invalid", said(t.cannotListen(`${host}:${port}`, why)), { cause: error });
  }
  server.on("error", () => {}); // too many files open, for a while: who comes then comes again
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const patience = setTimeout(() => server.closeAllConnections(), 3_000);
      server.closeIdleConnections();
      await closed;
      clearTimeout(patience);
    },
  };
}

export type ConnectionLimits = {
  /** Connections open at once. */
  most: number;
  /** A connection that has sent no byte for this long after it was opened is closed. */
  silentMs: number;
};

/** Keeps a free connection in a flood: the one that waited longest gives way, where Node's `maxConnections` would drop the newest. */
function limitConnections(server: Server, { most, silentMs }: ConnectionLimits): void {
  const open = new Set<Socket>();
  const answering = new Set<Socket>();

  server.on("request", ({ socket }, response) => {
    answering.add(socket);
    response.once("close", () => answering.delete(socket));
  });
  // A client that has become a WebSocket is known, or gone within seconds.
  server.on("upgrade", ({ socket }) => answering.add(socket));
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    const silent = setTimeout(() => {
      if (socket.bytesRead === 0) socket.destroy();
    }, silentMs).unref();
    socket.once("close", () => {
      clearTimeout(silent);
      open.delete(socket);
      answering.delete(socket);
    });
    if (open.size > most) oldest(socket)?.destroy();
  });

  /** Sets keep the order of insertion. */
  function oldest(newest: Socket): Socket | undefined {
    const others = [...open].filter((socket) => socket !== newest);
    return (
      others.find((socket) => socket.bytesRead === 0) ?? others.find((socket) => !answering.has(socket)) ?? others[0]
    );
  }
}
