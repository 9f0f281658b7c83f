import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Route = (response: ServerResponse, request: IncomingMessage) => void;

/** A web server on this machine: routes by path, and what was asked of it, by host and path. */
export async function webServer(routes: Record<string, Route>, address = "127.0.0.1") {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    asked.push(`${request.headers.host?.replace(/:\d+$/, "")}${request.url}`);
    response.on("error", () => undefined);
    (routes[path] ?? ((reply) => void reply.writeHead(404, "Not Found").end()))(response, request);
  });
  server.listen(0, address);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    port,
    /** An address of this server under a name; something else has to lead there. */
    at: (host: string, path: string) => `http://${host}:${port}${path}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export const html =
  (body: string, type = "text/html; charset=utf-8"): Route =>
  (response) =>
    void response.writeHead(200, { "content-type": type }).end(body);

export const redirect =
  (to: string | ((request: IncomingMessage) => string), status = 302): Route =>
  (response, request) =>
    void response
      .writeHead(status, { location: Buffer.from(typeof to === "string" ? to : to(request)).toString("latin1") })
      .end();
