import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { WebSocketServer, type WebSocket } from "ws";

/** A page, and a WebSocket that says what it is told to everybody on it: what frames cost before they mean anything. */
export async function bareSockets(hello: (socket: WebSocket) => void): Promise<{ port: number; all: Set<WebSocket> }> {
  const app = new Hono();
  app.get("/", (context) => context.html("<!doctype html><title>bare</title>"));
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  sockets.on("connection", hello);
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve({ port, all: sockets.clients }),
    ) as Server;
    server.on("upgrade", (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit("connection", opened)),
    );
  });
}
