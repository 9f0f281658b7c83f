// One real host, one real WebSocket between it and a client.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import { connectWeb } from "../../src/host/socket/connect-web.ts";
import { createWireServer, type Greet } from "../../src/host/socket/serve.ts";
import { webWire } from "../../src/host/socket/web-wire.ts";
import type { InboxEvent, WatchEvent } from "../../src/protocol/host/host.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { worded } from "../support/worded.ts";

test("a turn is begun, asked about, answered and followed over a WebSocket", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("touch ran")] }, { text: "Done." }] });
  const greet: Greet = (_hello, key) =>
    key === "right"
      ? {
          host: sage.host,
          person: "lin",
          version: "test",
          journal: sage.store.journalId(),
          me: { by: "Lin", surface: "web" },
          may: ["talk", "approve"],
        }
      : { close: 4401, why: "" };
  await using web = await listening(greet);
  const host = connectWeb(web.url, "right");
  assert.deepEqual((await host.welcome).me, { by: "Lin", surface: "web" });
  const leaving = new AbortController();
  const { signal } = leaving;
  const events: WatchEvent[] = [];
  const inbox: InboxEvent[] = [];
  const all = Promise.all([
    collect(host.watch(sage.session, { signal }), events),
    collect(host.inbox({ signal }), inbox),
  ]);
  await until(() => events.some(({ type }) => type === "ready") && inbox.length === 1);
  const said = await host.send({ type: "say", session: sage.session, text: "开始", by: "Mallory", surface: "tui" });
  assert.equal(said.ok, true);
  await until(() => inbox.some((event) => event.type === "fact" && event.fact.type === "input.requested"));
  const pending = await host.send({ type: "pending" });
  assert.ok(pending.ok && pending.requests[0]);
  const requestId = pending.requests[0].request.id;
  const answer = { type: "respond", response: { type: "granted", requestId }, by: "", surface: "" } as const;
  assert.equal((await host.send(answer)).ok, true);
  await until(() => events.some((event) => event.type === "fact" && event.fact.type === "turn.ended"));
  const facts = events.flatMap((event) => (event.type === "fact" ? [event.fact] : []));
  assert.deepEqual(facts, JSON.parse(JSON.stringify(sage.facts())), "every fact, as it is in the journal");
  const spoken = facts.find(({ type }) => type === "user.said");
  assert.ok(spoken?.type === "user.said" && spoken.data.by === "Lin" && spoken.data.surface === "web");
  leaving.abort();
  await all;
  host.close();

  const stranger = connectWeb(web.url, "wrong");
  await assert.rejects(stranger.welcome, { code: "key-unknown" });
  const refused = await stranger.send({ type: "sessions" });
  assert.equal(!refused.ok && refused.code, "key-unknown");
  stranger.close();
});

test("a server that refuses before the first frame is not dialled again; one without encryption never", async () => {
  const server = createServer();
  let dials = 0;
  server.on("upgrade", (_request, socket) => {
    dials++;
    socket.end("HTTP/1.1 421 Misdirected Request\r\nConnection: close\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host = connectWeb(`http://127.0.0.1:${port}/`, "key");
  await assert.rejects(host.welcome, worded({ code: "not-permitted", message: /HTTP 421/ }));
  assert.equal(dials, 1);
  host.close();
  server.close();
  for (const url of ["http://sage.example.com", "http://127.0.0.1.example.com", "ws://127.0.0.1", "sage.example.com"])
    assert.throws(() => connectWeb(url, "key"), { code: "config-invalid" }, url);
});

async function collect<E>(stream: AsyncIterable<E>, into: E[]): Promise<void> {
  for await (const event of stream) into.push(event);
}

async function listening(greet: Greet) {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, maxPayload: 1024 * 1024 });
  const wires = createWireServer();
  sockets.on("connection", (socket) => wires.serve((hear) => webWire(socket, hear), greet));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      wires.close();
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
