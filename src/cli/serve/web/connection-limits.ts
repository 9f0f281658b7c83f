import type { Server } from "node:http";
import type { Socket } from "node:net";

export type ConnectionLimits = {
  /** Connections open at once. */
  most: number;
  /** A connection that has sent no byte for this long after it was opened is closed. */
  silentMs: number;
};

/**
 * Keeps strangers from using up all connections. Node's own `maxConnections` turns the newest caller away, which during a flood is
 * the platform; here the connection that has waited longest gives way, one that is being answered last of all.
 */
export function limitConnections(server: Server, { most, silentMs }: ConnectionLimits): void {
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
    const others = [...open].filter((one) => one !== newest);
    return others.find((one) => one.bytesRead === 0) ?? others.find((one) => !answering.has(one)) ?? others[0];
  }
}
