import type { IncomingMessage } from "node:http";
import { ReadableStream } from "node:stream/web";

// `import` would read every export of node:http, and the one named WebSocket loads undici: 20 ms and 10 MB.
const http = process.getBuiltinModule("node:http");

/** The part of a Response that the AI SDK's providers read. */
type ProviderResponse = {
  ok: boolean;
  status: number;
  statusText: string;
  headers: Map<string, string>;
  body: ReadableStream<Uint8Array>;
};

// A machine that slept comes back with sockets that look open and are dead: do not keep idle ones for long.
const keepAlive = { keepAlive: true, noDelay: true, timeout: 30_000 };
const plain = { request: http.request, agent: new http.Agent(keepAlive) };

let secure: typeof plain | undefined;
/** Loading TLS costs 4 ms, which a server on this machine does not need. */
function overTls(): typeof plain {
  const https = process.getBuiltinModule("node:https");
  return (secure ??= { request: https.request, agent: new https.Agent(keepAlive) });
}

/**
 * Just enough of `fetch` for a model provider. The global one costs 1.5 ms more a request, and 20 MB.
 * Fails with code ETIMEDOUT when nothing at all moved on the connection for `idleTimeoutMs`.
 */
export function createFetch(idleTimeoutMs: number): typeof globalThis.fetch {
  const post = (input: unknown, init: RequestInit = {}): Promise<ProviderResponse> =>
    new Promise((resolve, reject) => {
      const url = new URL(String(input));
      const body = init.body as string;
      const { request, agent } = url.protocol === "https:" ? overTls() : plain;
      let response: IncomingMessage | undefined;
      const outgoing = request(url, {
        agent,
        method: init.method ?? "POST",
        headers: { ...(init.headers as Record<string, string>), "content-length": Buffer.byteLength(body) },
        timeout: idleTimeoutMs,
        ...(init.signal && { signal: init.signal }),
      });
      outgoing.on("timeout", () => {
        const error = Object.assign(new Error(`no data from ${url.host} for ${idleTimeoutMs / 1000} s`), {
          code: "ETIMEDOUT",
        });
        // Destroying the request alone would reach the reader of the body as a reset connection.
        response?.destroy(error);
        outgoing.destroy(error);
      });
      outgoing.on("error", reject);
      outgoing.on("response", (incoming) => {
        response = incoming;
        const status = incoming.statusCode ?? 0;
        resolve({
          ok: status >= 200 && status < 300,
          status,
          statusText: incoming.statusMessage ?? "",
          headers: new Map(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
          body: streamOf(incoming),
        });
      });
      outgoing.end(body);
    });
  return post as unknown as typeof globalThis.fetch;
}

function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      incoming.on("data", (chunk: Buffer) => {
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
      });
      incoming.on("end", () => controller.close());
      incoming.on("error", (error) => controller.error(error));
    },
    pull() {
      incoming.resume();
    },
    cancel() {
      incoming.destroy();
    },
  });
}
