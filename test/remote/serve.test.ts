// The server's side of the protocol: whoever comes says hello first, keeps to the limits, and reads what is sent.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { suite, test } from "node:test";
import * as fc from "../support/properties.ts";
import { WebSocket, WebSocketServer } from "ws";
import { createHost } from "../../src/host/host.ts";
import { createWireServer, webLimits, type Greet, type Limits } from "../../src/host/socket/serve.ts";
import { webWire, type WebWireOptions } from "../../src/host/socket/web-wire.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Store } from "../../src/journal/store/store.ts";
import { closedBy, type Wire } from "../../src/remote/wire.ts";
import { until } from "../support/until.ts";
import { settled } from "../support/wires.ts";

const lin = { by: "Lin", surface: "web" };
const hello = { hello: { protocols: [1], surface: "web", client: "test" } };

function hosted(store: Store = memoryStore()) {
  const host = createHost({ store, version: "test", executor: () => Promise.reject(new Error("nothing runs here")) });
  const greet: Greet = () => ({
    ...{ host, person: "lin", version: "test", journal: store.journalId(), me: lin, may: ["talk"] },
  });
  return { store, host, greet };
}

/** A client that says whatever it is told to, at one end of a wire in memory. */
function raw(server: ReturnType<typeof createWireServer>, greet: Greet) {
  const over = new AbortController();
  const heard: Record<string, unknown>[] = [];
  let hear: (frame: unknown) => void = () => {};
  const wire: Wire = {
    over: over.signal,
    send: (frame) => void heard.push(JSON.parse(JSON.stringify(frame)) as Record<string, unknown>),
    close: (code, why = "") => over.abort({ code: code ?? 1000, why }),
  };
  server.serve((listen) => {
    hear = listen;
    return wire;
  }, greet);
  return {
    heard,
    closed: () => (over.signal.aborted ? closedBy(over.signal).code : undefined),
    hangUp: () => over.abort({ code: 1006, why: "" }),
    async say(...frames: unknown[]) {
      for (const frame of frames) {
        if (over.signal.aborted) break;
        try {
          hear(frame);
        } catch {
          wire.close(4400);
        }
      }
      await settled(4);
    },
  };
}

suite("a connection", () => {
  test("says hello first, once, in a protocol that is spoken, and within two seconds", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { greet } = hosted();
    const server = createWireServer();
    const ends = async (...frames: unknown[]) => {
      const client = raw(server, greet);
      await client.say(...frames);
      return client.closed();
    };
    assert.equal(await ends(hello), undefined);
    assert.equal(await ends({ do: "send", id: 1, command: { type: "sessions" } }), 4400);
    assert.equal(await ends({ hello: { ...hello.hello, protocols: [2, 3] } }), 4406);
    assert.equal(await ends({ hello: { ...hello.hello, protocols: [3, 1] } }), undefined);
    assert.equal(await ends(hello, hello), 4400);
    assert.equal(await ends({ hello: { ...hello.hello, surface: "mallory" } }), 4400);
    const silent = raw(server, greet);
    t.mock.timers.tick(1_999);
    assert.equal(silent.closed(), undefined);
    t.mock.timers.tick(1);
    assert.equal(silent.closed(), 4408);
    server.close();
  });

  test("is turned away above 32 without a hello, 20 of one person and 500 in all", async () => {
    const { greet } = hosted();
    const server = createWireServer();
    const waiting = Array.from({ length: 32 }, () => raw(server, greet));
    assert.equal(raw(server, greet).closed(), 4429);
    for (const one of waiting) await one.say(hello);
    assert.deepEqual(
      waiting.map(({ closed }) => closed()).filter((code) => code === 4429).length,
      12,
      "one person has 20",
    );
    waiting[0]?.hangUp();
    const next = raw(server, greet);
    await next.say(hello);
    assert.equal(next.closed(), undefined);
    server.close();
    assert.equal(next.closed(), 1001);

    const crowded = createWireServer({ ...webLimits, all: 3 });
    const { host, store } = hosted();
    const anybody: Greet = () => ({ host, version: "test", journal: store.journalId(), me: lin, may: [] });
    const four = Array.from({ length: 4 }, () => raw(crowded, anybody));
    assert.deepEqual(
      four.map(({ closed }) => closed()),
      [undefined, undefined, undefined, 4429],
    );
    crowded.close();
  });

  test("ends when its key is revoked, also while it is greeted; a refusal says why", async () => {
    const { greet } = hosted();
    const server = createWireServer();
    const key = new AbortController();
    const client = raw(server, async (...given) => ({ ...(await greet(...given)), revoked: key.signal }));
    await client.say(hello);
    assert.equal(client.closed(), undefined);
    key.abort();
    assert.equal(client.closed(), 4401);
    const second = raw(server, async (...given) => ({ ...(await greet(...given)), revoked: key.signal }));
    await second.say(hello);
    assert.equal(second.closed(), 4401);
    assert.deepEqual(second.heard, []);
    const refused = raw(server, () => ({ close: 4403, why: "not on the list" }));
    await refused.say(hello);
    assert.equal(refused.closed(), 4403);
    const broken = raw(server, () => Promise.reject(new Error("the disk is full")));
    await broken.say(hello);
    assert.equal(broken.closed(), 1001, "the client may come back");
    server.close();
  });

  test("watches 32 things, and 30 commands a second of one person are taken, over all connections", async () => {
    const { greet, host } = hosted();
    await host.send({ type: "open", session: "s", cwd: "/" });
    const server = createWireServer();
    const [client, other] = [raw(server, greet), raw(server, greet)];
    await client.say(hello);
    await other.say(hello);
    for (let id = 0; id < 33; id++) await client.say({ do: "watch", id, session: "s" });
    const ended = client.heard.filter((frame) => "ended" in frame);
    assert.deepEqual(
      ended.map(({ id, ended: why }) => [id, (why as { code: string }).code]),
      [[32, "queue-full"]],
    );
    await client.say({ do: "unwatch", id: 0 }, { do: "unwatch", id: 99 });
    await client.say({ do: "watch", id: 33, session: "s", last: 1 });
    assert.ok(client.heard.some(({ id, event }) => id === 33 && (event as { type: string }).type === "ready"));

    for (let id = 100; id < 140; id++)
      await (id % 2 ? client : other).say({ do: "send", id, command: { type: "pending" } });
    const replies = [...client.heard, ...other.heard].flatMap(({ reply }) => (reply ? [reply as { ok: boolean }] : []));
    assert.equal(replies.length, 40);
    const taken = replies.filter(({ ok }) => ok).length;
    assert.ok(taken >= 30 && taken < 40, `${taken} were taken`);
    await client.say({ do: "watch", id: 33, session: "s" });
    assert.equal(client.closed(), 4400, "an id is used twice");
    server.close();
  });

  test("an answer that was pressed too long ago is refused by the host, too", async () => {
    const { greet, store } = hosted();
    const server = createWireServer();
    const client = raw(server, greet);
    const draft = { type: "chooseMode", session: "s", mode: "ask" };
    await client.say(hello);
    await client.say({ do: "send", id: 1, command: draft, until: Date.now() - 1 });
    const [, late] = client.heard;
    assert.equal((late as { reply: { reason: { code: string } } }).reply.reason.code, "sent-too-late");
    assert.deepEqual(store.sessions(), []);
    server.close();
  });

  test("a thousand malformed frames: each is refused or ends its connection, and nothing is recorded", async () => {
    const { greet, store, host } = hosted();
    await host.send({ type: "open", session: "s", cwd: "/" });
    const before = JSON.stringify(store.load("s"));
    const server = createWireServer();
    const junk = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.record({ do: fc.constantFrom("send", "watch", "inbox", "unwatch", "__proto__"), id: fc.jsonValue() }),
      fc.record({
        do: fc.constant("send"),
        id: fc.nat(),
        command: fc.record({
          type: fc.constantFrom("say", "respond", "interrupt", "ask", "open", "constructor", "chooseMode", "toString"),
          session: fc.oneof(fc.constant("s"), fc.jsonValue({ maxDepth: 1 })),
          text: fc.jsonValue({ maxDepth: 1 }),
          response: fc.jsonValue({ maxDepth: 1 }),
          extra: fc.jsonValue({ maxDepth: 1 }),
        }),
      }),
      fc.record({ do: fc.constant("watch"), id: fc.nat(), session: fc.jsonValue(), after: fc.jsonValue() }),
    );
    let client = raw(server, greet);
    await client.say(hello);
    for (const frame of fc.sample(junk, 1_000)) {
      if (client.closed() !== undefined) {
        assert.equal(client.closed(), 4400);
        client = raw(server, greet);
        await client.say(hello);
      }
      await client.say(frame);
    }
    const replies = client.heard.flatMap(({ reply }) => (reply ? [reply as { ok: boolean }] : []));
    assert.ok(replies.every(({ ok }) => !ok));
    assert.equal(JSON.stringify(store.load("s")), before);
    server.close();
  });
});

async function listening(greet: Greet, options: WebWireOptions, limits: Limits = webLimits) {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false, maxPayload: 1024 * 1024 });
  const server = createWireServer(limits);
  const wires: Wire[] = [];
  sockets.on("connection", (socket) =>
    server.serve((hear) => {
      const wire = webWire(socket, hear, options);
      wires.push(wire);
      return wire;
    }, greet),
  );
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    ...{ port, wires },
    async [Symbol.asyncDispose]() {
      server.close();
      sockets.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

suite("over a WebSocket", () => {
  test("a reader that stalls holds up nobody, costs a page of facts, and is let go in the end", async () => {
    const { greet, store, host } = hosted();
    await host.send({ type: "open", session: "s", cwd: "/" });
    let read = 0;
    const { since } = store;
    store.since = (...given) => {
      const page = since(...given);
      read += page.length;
      return page;
    };
    for (let n = 0; n < 4_000; n++)
      store.append("s", {
        key: `title/${n}`,
        type: "session.titled",
        at: n,
        data: { title: "长".repeat(1_000), ...lin },
      });
    await using web = await listening(greet, { mostWaiting: 200_000, stalledMs: 2_000 });
    // A WebSocket by hand: it asks for everything, and reads nothing but the welcome.
    const stalled = connect(web.port, "127.0.0.1");
    const key = Buffer.alloc(16).toString("base64");
    const upgrade = [
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${key}`,
    ];
    stalled.write(["GET / HTTP/1.1", "Host: 127.0.0.1", ...upgrade, "", ""].join("\r\n"));
    await once(stalled, "data");
    stalled.write(masked(hello));
    await once(stalled, "data");
    stalled.pause();
    stalled.write(masked({ do: "watch", id: 1, session: "s" }));
    await until(() => read > 0);
    const quick = new WebSocket(`ws://127.0.0.1:${web.port}`, { perMessageDeflate: false });
    let facts = 0;
    quick.on("message", (data: Buffer) => {
      if (data.toString("utf8").includes('"fact"')) facts++;
    });
    await once(quick, "open");
    quick.send(JSON.stringify(hello));
    quick.send(JSON.stringify({ do: "watch", id: 1, session: "s" }));
    await until(() => facts === 4_001);
    await until(() => web.wires[0]?.over.aborted);
    assert.equal(web.wires[0] && closedBy(web.wires[0].over).code, 1013);
    assert.ok(read < 4_001 + 3_000, `the stalled reader was read ${read - 4_001} facts`);
    quick.close();
    stalled.destroy();
  });

  test("a frame above 1 MB, a binary one and one that is no JSON end the connection", async () => {
    const { greet } = hosted();
    await using web = await listening(greet, {});
    const codes: number[] = [];
    for (const frame of ["x".repeat(1024 * 1024 + 1), Buffer.from(JSON.stringify(hello)), "{"]) {
      const socket = new WebSocket(`ws://127.0.0.1:${web.port}`, { perMessageDeflate: false });
      socket.on("error", () => {});
      await once(socket, "open");
      socket.send(frame);
      const [code] = (await once(socket, "close")) as [number];
      codes.push(code);
    }
    assert.deepEqual(codes, [1009, 4400, 4400]);
  });

  test("a beat comes when nothing else does, and a peer that answers no ping is gone", async () => {
    const { greet } = hosted();
    await using web = await listening(greet, { pingMs: 50 }, { ...webLimits, beatMs: 30 });
    const socket = new WebSocket(`ws://127.0.0.1:${web.port}`, { perMessageDeflate: false, autoPong: false });
    const frames: string[] = [];
    socket.on("message", (data: Buffer) => frames.push(data.toString("utf8")));
    await once(socket, "open");
    socket.send(JSON.stringify(hello));
    await once(socket, "close");
    assert.match(frames[0] ?? "", /"hello":1/);
    assert.equal(frames[1], '{"beat":1}');
    await until(() => web.wires[0]?.over.aborted);
  });
});

/** A text frame as a browser sends it. */
function masked(frame: object): Buffer {
  const text = Buffer.from(JSON.stringify(frame));
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]);
}
