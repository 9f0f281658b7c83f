// The door of a worker: TCP, encrypted by a key that stands in the worker's row; it tells, and takes nothing.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, suite, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { openStreamServer } from "../../src/host/cluster/stream/stream-server.ts";
import { secureConnect } from "../../src/host/cluster/stream/secure-wire.ts";
import { createHost } from "../../src/host/host.ts";
import { lineWire } from "../../src/host/socket/line-wire.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { connectHost } from "../../src/remote/client.ts";
import { config, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { lin, redaction, puppet } from "./puppet.ts";

suite("the door of a worker", () => {
  const sockets: Socket[] = [];
  after(() => sockets.forEach((socket) => socket.destroy()));

  /** A door before a host that runs one session for ever. */
  async function open() {
    const here = workspace();
    const store = memoryStore();
    const { model, next } = puppet();
    const executor = async () =>
      new TurnExecutor(config({ script: [], dir: here.dir, store, wrap: () => model("it") }), {
        workingDirectory: here.dir,
      });
    const host = createHost({ store, version: "test", executor });
    await host.send({ type: "open", session: "s", cwd: here.dir });
    await host.send({ type: "say", session: "s", text: "go", ...lin });
    const listen = { host: "127.0.0.1", port: 0 };
    const replica = { look: async () => () => {} };
    const door = await openStreamServer({
      host,
      replica,
      process: "p",
      journal: "j",
      listen,
      redaction,
      handshakeMs: 300,
    });
    const port = Number(door.address.split(":")[1]);
    const dial = () => {
      const key = Buffer.from(door.key, "base64url");
      const socket = secureConnect({ host: "127.0.0.1", port }, key, { silenceMs: 60_000 });
      sockets.push(socket);
      return socket;
    };
    const enter = (socket = dial()) =>
      connectHost((hear) => lineWire(socket, hear), {
        hello: { surface: "process", client: "test" },
        signal: AbortSignal.timeout(20_000),
      });
    return {
      ...{ host, store, port, dial, enter, next },
      async [Symbol.asyncDispose]() {
        await door.close();
        await host.close();
        here[Symbol.dispose]();
      },
    };
  }

  test("whoever has not the key is refused, whatever they say; the worker lives on, and who has it is let in", async () => {
    await using door = await open();
    const { port } = door;
    const psk = { ciphers: "ECDHE-PSK-CHACHA20-POLY1305", maxVersion: "TLSv1.2" } as const;
    const at = { host: "127.0.0.1", port };
    const strangers: [string, () => Socket, string?][] = [
      ["wrong key", () => secureConnect(at, Buffer.alloc(32, 1), { silenceMs: 60_000 })],
      ["no key", () => connectTls({ ...at, ...psk, pskCallback: () => null, checkServerIdentity: () => undefined })],
      [
        "another name",
        () =>
          connectTls({
            ...{ ...at, ...psk, checkServerIdentity: () => undefined },
            pskCallback: () => ({ psk: Buffer.alloc(32, 1), identity: "sage" }),
          }),
      ],
      ["certificates", () => connectTls({ ...at, rejectUnauthorized: false })],
      ["plain text", () => connect(port), `${JSON.stringify({ hello: { protocols: [1], surface: "process" } })}\n`],
      ["a browser", () => connect(port), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
      ["noise", () => connect(port), "\x16\x03\x01\xff\xff".repeat(10_000)],
      ["silence", () => connect(port)],
    ];
    for (const [name, come, says] of strangers) {
      const socket = come();
      sockets.push(socket);
      let heard = "";
      socket.on("error", () => {}).on("data", (bytes) => (heard += bytes.toString("latin1")));
      if (says !== undefined) socket.on("connect", () => socket.write(says, "latin1"));
      await new Promise((resolve) => socket.once("close", resolve));
      assert.doesNotMatch(heard, /protocol|journal|hello/, name);
    }
    const friend = await door.enter();
    assert.equal(friend.welcome.journal, "j");
    assert.deepEqual(friend.welcome.may, []);
    friend.close();
  });

  test("it tells, and takes nothing: no message, no answer, no list; a line too long or of nonsense ends its own connection", async () => {
    await using door = await open();
    const friend = await door.enter();
    const refused = [
      { type: "say", session: "s", text: "rm", ...lin },
      { type: "respond", response: { type: "granted", requestId: "s/t1" }, ...lin },
      { type: "interrupt", session: "s", ...lin },
      { type: "sessions" },
      { type: "pending" },
      { type: "facts", session: "s" },
      { type: "files", session: "s", query: "" },
    ] as const;
    for (const command of refused) {
      const reply = await friend.send(command);
      assert.ok(!reply.ok && reply.code === "request-invalid", command.type);
    }
    await assert.rejects(async () => {
      for await (const _event of friend.inbox({ signal: AbortSignal.timeout(20_000) })) assert.fail("it has an inbox");
    });
    for (const line of ["x".repeat(20_000), "{]\n", '{"do":"send"}\n', '{"do":"everything","id":1}\n']) {
      const socket = door.dial();
      const other = await door.enter(socket);
      socket.write(line);
      if (!other.over.aborted) await once(other.over, "abort");
    }
    assert.equal(door.store.load("s").filter(({ type }) => type === "user.said").length, 1);

    const over = new AbortController();
    let told = "";
    for await (const event of friend.watch("s", { signal: over.signal })) {
      told += JSON.stringify(event);
      if (event.type === "ready") (await door.next(0)).say("the key is AKIAIOSFODNN7EXAMPLE, and that is all\n");
      if (event.type === "delta" && event.delta.kind === "text") over.abort();
    }
    assert.match(told, /user\.said/);
    assert.doesNotMatch(told, /"go"/, "facts go without their content");
    assert.match(told, /the key is \[secret/);
    assert.doesNotMatch(told, /AKIA/);
    friend.close();
  });

  test("a gateway that does not read holds nobody up", async () => {
    await using door = await open();
    const socket = door.dial();
    const slow = await door.enter(socket);
    const leaves = new AbortController();
    const watch = slow.watch("s", { signal: leaves.signal })[Symbol.asyncIterator]();
    await watch.next();
    socket.pause();
    const reply = await door.next(0);
    for (let n = 0; n < 2_000; n++) {
      reply.say(`${"words ".repeat(2_000)}\n`);
      if (n % 100 === 0) await new Promise(setImmediate);
    }
    reply.end("done");
    await until(() => door.store.load("s").some(({ type }) => type === "turn.ended"), "the turn does not end");
    const other = await door.enter();
    other.close();
    leaves.abort();
    slow.close();
  });
});
