import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { decodeFrame, encodeFrame } from "./frame.ts";
import { newId, type Json } from "./world.ts";

const SERVICE = 33554678;

/** Reply to a delivery: the code of the acknowledgement, and the handler's own answer if it gave one. */
export type Ack = { code: number; body?: unknown };

export type Sockets = {
  /** Answer of the discovery: an address for one more connection. */
  endpoint(port: number): Json;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** To one living connection; undefined when there is none, or it never answers. */
  deliver(payload: string, within: (giveUp: () => void) => () => void): Promise<Ack | undefined>;
  count(): number;
  /** How often somebody connected. */
  connected(): number;
  drop(): void;
  /** No pong from now on, for connections that are there; new ones are well. */
  silence(): void;
  /** Connections that are there answer pings and get no event; new ones are well. */
  deafen(): void;
  /** Each delivery in so many frames. */
  fragments: number;
  /** The type of data frames; `card` is what arrives while the callback is not configured. */
  frameType: "event" | "card";
  close(): void;
};

type Connection = { socket: WebSocket; silent: boolean; deaf: boolean };

export function createSockets(client: Json): Sockets {
  const server = new WebSocketServer({ noServer: true });
  let connections: Connection[] = [];
  let ever = 0;
  const tickets = new Set<string>();
  const waiting = new Map<string, (ack: Ack | undefined) => void>();

  const receive = (connection: Connection, buffer: Buffer) => {
    const frame = decodeFrame(buffer);
    if (frame.method === 0) {
      if (frame.headers["type"] !== "ping" || connection.silent) return;
      if (frame.service !== SERVICE) throw new Error(`a ping came for service ${frame.service}`);
      connection.socket.send(
        encodeFrame({ ...frame, headers: { type: "pong" }, payload: Buffer.from(JSON.stringify(client)) }),
      );
      return;
    }
    const answer = JSON.parse(frame.payload?.toString("utf8") ?? "{}") as { code: number; data?: string };
    const body: unknown =
      answer.data === undefined ? undefined : JSON.parse(Buffer.from(answer.data, "base64").toString());
    waiting.get(frame.headers["message_id"] ?? "")?.({ code: answer.code, ...(body !== undefined && { body }) });
  };

  const sockets: Sockets = {
    endpoint(port) {
      const ticket = randomBytes(8).toString("hex");
      tickets.add(ticket);
      // The first parameter is lost by the client's reading of the address.
      const url = `ws://127.0.0.1:${port}/ws/v2?fpid=1&device_id=7441&access_key=${ticket}&service_id=${SERVICE}&ticket=${ticket}`;
      return { code: 0, msg: "", data: { URL: url, ClientConfig: client } };
    },
    upgrade(request, socket, head) {
      const ticket = new URL(request.url ?? "", "http://x").searchParams.get("ticket") ?? "";
      if (!tickets.delete(ticket)) {
        socket.end("HTTP/1.1 403 Forbidden\r\nHandshake-Status: 514\r\nHandshake-Msg: auth failed\r\n\r\n");
        return;
      }
      server.handleUpgrade(request, socket, head, (connected) => {
        ever++;
        const connection = { socket: connected, silent: false, deaf: false };
        connections.push(connection);
        connected.on("message", (data: Buffer) => receive(connection, data));
        connected.on("close", () => (connections = connections.filter((one) => one !== connection)));
        connected.on("error", () => {});
      });
    },
    async deliver(payload, within) {
      const [to] = connections.splice(0, 1);
      if (!to) return undefined;
      connections.push(to); // one after the other, as a cluster does
      if (to.deaf) return new Promise((resolve) => within(() => resolve(undefined)));
      const id = newId("frame");
      const bytes = Buffer.from(payload, "utf8");
      const step = Math.max(1, Math.ceil(bytes.length / sockets.fragments));
      const sum = Math.ceil(bytes.length / step);
      return new Promise((resolve) => {
        const stop = within(() => settle(undefined));
        const settle = (ack: Ack | undefined) => {
          stop();
          waiting.delete(id);
          resolve(ack);
        };
        waiting.set(id, settle);
        for (let seq = 0; seq < sum; seq++)
          to.socket.send(
            encodeFrame({
              seqId: 1,
              logId: 1,
              service: SERVICE,
              method: 1,
              headers: {
                type: sockets.frameType,
                message_id: id,
                sum: String(sum),
                seq: String(seq),
                trace_id: "trace",
                timestamp: String(Date.now()),
              },
              payload: bytes.subarray(seq * step, (seq + 1) * step),
            }),
          );
      });
    },
    count: () => connections.length,
    connected: () => ever,
    drop() {
      for (const { socket } of connections.splice(0)) socket.terminate(); // gone at once, whoever comes back quickly
    },
    silence() {
      for (const one of connections) one.silent = true;
    },
    deafen() {
      for (const one of connections) one.deaf = true;
    },
    fragments: 1,
    frameType: "event",
    close() {
      sockets.drop();
      server.close();
    },
  };
  return sockets;
}
