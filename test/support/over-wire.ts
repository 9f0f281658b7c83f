import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import { connectWeb } from "../../src/host/socket/connect-web.ts";
import { createWireServer, type Greeting } from "../../src/host/socket/serve.ts";
import { webWire } from "../../src/host/socket/web-wire.ts";
import type { Host } from "../../src/protocol/host/host.ts";
import type { Sender } from "../../src/protocol/sender.ts";
import type { ClientSurface } from "../../src/remote/frames.ts";

/** Any host behind a real WebSocket on this machine, and a client of it. */
export async function overWire(host: Host, me: Pick<Sender, "by"> & { surface: ClientSurface }) {
  let greeting: Greeting = {
    ...{ host, me, person: me.by, version: "test", journal: "one" },
    may: ["talk", "approve"],
  };
  // A story sends as fast as it can; how many commands a second are taken is tested elsewhere.
  const wires = createWireServer({ ...limits });
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  const open = new Set<WebSocket>();
  sockets.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    wires.serve(
      (hear) => webWire(socket, hear),
      () => greeting,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const client = connectWeb(url, "key", { surface: me.surface });
  await client.welcome;
  return {
    url,
    host: client,
    /** Every connection breaks, without a word. */
    cut() {
      for (const socket of open) socket.terminate();
    },
    /** From the next connection on. */
    greet: (next: Greeting) => void (greeting = next),
    connections: () => open.size,
    async close() {
      client.close();
      wires.close();
      for (const socket of open) socket.terminate();
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const limits = {
  ...{ unknown: 32, helloMs: 2_000, watches: 32, commands: 64, connections: 20, all: 500 },
  ...{ aSecond: 10_000, beatMs: 20_000 },
};
