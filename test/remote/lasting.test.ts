// A client that comes back by itself, against a real host and a line that breaks at every frame.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "../support/properties.ts";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { createHost } from "../../src/host/host.ts";
import { createWireServer, type Greeting } from "../../src/host/socket/serve.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { Command, Host, InboxEvent, WatchEvent } from "../../src/protocol/host/host.ts";
import { lastingHost, LATE_MS, type LinkState } from "../../src/remote/lasting.ts";
import { createTranscript } from "../../src/view/transcript/transcript.ts";
import { config, workspace } from "../support/sage.ts";
import { spoken } from "../support/spoken.ts";
import { manualClock, network, settled } from "../support/wires.ts";

const lin = { by: "Lin", surface: "web" };

/** A host with a model that speaks when it is told to, and a client of it at the other end of a network. */
async function world(dir: string) {
  const store = memoryStore();
  const model = spoken();
  const made = { ...config({ script: [], dir, store }), model: model.model };
  const host = createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: dir }),
  });
  await host.send({ type: "open", session: "s", cwd: dir });
  const clock = manualClock();
  const received: { command: Command; at: number }[] = [];
  const recording: Host = {
    ...host,
    send(command) {
      received.push({ command, at: clock.now() });
      return host.send(command);
    },
  };
  const server = createWireServer();
  let journal = store.journalId();
  let refuse: Greeting | undefined;
  const net = network(
    server,
    () => refuse ?? { host: recording, version: "test", journal, me: lin, may: ["talk", "approve"] },
  );
  const states: LinkState["name"][] = [];
  const far = lastingHost({
    open: net.open,
    hello: { surface: "web", client: "test" },
    clock,
    random: () => 0.5,
    changed: ({ name }) => states.push(name),
  });
  /** Until the client is back, or for this long. */
  const back = async (mostMs = 120_000) => {
    await settled(3);
    for (let passed = 0; passed < mostMs && far.state().name !== "open"; passed += 250) {
      await settled(3);
      if (far.state().name !== "open") clock.advance(250);
    }
    await settled();
  };
  return {
    ...{ store, host, far, net, clock, model, received, states, back, server },
    changeJournal: () => void (journal = "another"),
    refuse: (greeting: Greeting) => void (refuse = greeting),
    async close() {
      far.close();
      server.close();
      await host.close();
      await settled();
    },
  };
}

function follow(far: Host, session = "s", options: { last?: number } = {}) {
  const leaving = new AbortController();
  const events: WatchEvent[] = [];
  const transcript = createTranscript();
  const texts = new Map<string, string>();
  const shown = new Set<string>();
  let failed: unknown;
  const done = (async () => {
    for await (const event of far.watch(session, { ...options, signal: leaving.signal })) {
      events.push(event);
      const items =
        event.type === "fact"
          ? transcript.fact(event.fact)
          : event.type === "delta"
            ? transcript.delta(event.delta)
            : [];
      for (const item of items) {
        if (item.type !== "text") continue;
        texts.set(item.key, item.text);
        shown.add(`${item.key} ${item.text}`).add(`${item.key} `);
      }
    }
  })().catch((error: unknown) => (failed = error));
  return {
    events,
    ...{ texts, shown },
    facts: () => events.flatMap((event) => (event.type === "fact" ? [event.fact] : [])),
    failed: () => failed,
    stop: async () => (leaving.abort(), await done),
  };
}

const plain = (facts: readonly Fact[]) => JSON.parse(JSON.stringify(facts)) as Fact[];

suite("a host that is elsewhere", () => {
  test("every fact comes once and in order and no text twice, wherever the line breaks", async () => {
    using here = workspace();
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.constant("speak" as const) },
      fc.constantFrom("finish" as const, "say" as const, "pause" as const, "ask" as const, "grant" as const),
      fc.record({ cutAfter: fc.integer({ min: 1, max: 25 }) }),
      fc.record({ away: fc.integer({ min: 100, max: 8_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const { store, host, far, net, clock, model, received, back, close } = await world(here.dir);
        const remote = follow(far);
        const near = follow(host);
        const pressed = new Map<string, number>();
        const replies: Promise<unknown>[] = [];
        let words = 0;
        let asks = 0;
        const send = (command: Command) => void replies.push(far.send(command));
        await back();
        send({ type: "say", session: "s", text: "begin", ...lin });
        for (const [n, one] of steps.entries()) {
          if (one === "speak") model.speak(`词${++words} `);
          else if (one === "finish") model.finish();
          else if (one === "say") send({ type: "say", session: "s", text: `message ${n}`, ...lin });
          else if (one === "pause") {
            pressed.set(`p${n}`, clock.now());
            send({ type: "interrupt", session: "s", to: "pause", id: `p${n}`, ...lin });
          } else if (one === "ask") {
            const body = { kind: "permission", tool: "Bash", input: { command: "make" } } as const;
            await host.send({ type: "ask", agent: ["other"], cwd: here.dir, id: `a${++asks}`, body });
          } else if (one === "grant") {
            const [request] = store.pending();
            if (!request) continue;
            pressed.set(request.id, clock.now());
            send({ type: "respond", response: { type: "granted", requestId: request.id }, ...lin });
          } else if ("cutAfter" in one) net.cutAfter(one.cutAfter);
          else {
            net.setDown(true);
            await settled(3);
            clock.advance(one.away);
            net.setDown(false);
          }
          await settled(6);
          if (n % 3 === 0) clock.advance(300);
        }
        net.cutAfter(Infinity);
        await back();
        await settled();
        for (let n = 0; n < 70; n++) {
          clock.advance(1_000); // whoever still waits gives up
          await settled(2);
        }
        await back();
        await Promise.all(replies);

        assert.deepEqual(remote.facts(), plain(store.load("s")));
        // Words of a reply that was stopped while nobody listened are lost; none is there twice.
        const replied = new Set(store.load("s").flatMap(({ type, key }) => (type === "model.replied" ? [key] : [])));
        for (const [key, text] of near.texts) {
          const drawn = remote.texts.get(key) ?? "";
          assert.ok(replied.has(key) ? drawn === text : near.shown.has(`${key} ${drawn}`), `${drawn} | ${text}`);
        }
        assert.equal(remote.events.filter(({ type }) => type === "ready").length, 1);
        const said = store.load("s").filter(({ type }) => type === "user.said");
        assert.equal(new Set(said.map(({ key }) => key)).size, said.length);
        for (const { command, at } of received) {
          const id =
            command.type === "interrupt" ? command.id : command.type === "respond" && command.response.requestId;
          if (id) assert.ok(at - (pressed.get(id) ?? at) <= LATE_MS, `${command.type} was sent late`);
        }
        const keys = store.load("s").flatMap(({ type, key }) => (type === "turn.interrupted" ? [key] : []));
        assert.equal(new Set(keys).size, keys.length);
        await Promise.all([remote.stop(), near.stop()]);
        await close();
      }),
      { numRuns: 40 },
    );
  });

  test("an answer pressed while the host is away is sent within 5 s or not at all, and the person is told", async () => {
    using here = workspace();
    const { store, host, far, net, clock, back, close } = await world(here.dir);
    const body = { kind: "permission", tool: "Bash", input: { command: "make" } } as const;
    for (const id of ["a", "b"]) await host.send({ type: "ask", agent: ["other"], cwd: here.dir, id, body });
    const [first, second] = store.pending().map(({ id }) => id);
    const grant = (requestId = "") =>
      far.send({ type: "respond", response: { type: "granted", requestId }, by: "", surface: "" });
    await back();
    net.setDown(true);
    await settled();
    const soon = grant(first);
    clock.advance(2_000);
    net.setDown(false);
    await back(2_000);
    assert.equal((await soon).ok, true);

    net.setDown(true);
    await settled();
    const late = grant(second);
    clock.advance(6_000);
    net.setDown(false);
    await back();
    const refused = await late;
    assert.equal(!refused.ok && refused.reason?.code, "sent-too-late");
    assert.deepEqual(
      store.pending().map(({ id }) => id),
      [second],
    );
    await close();
  });

  test("a command whose reply was lost is repeated only where that does no harm", async () => {
    using here = workspace();
    const { store, far, net, back, received, close } = await world(here.dir);
    await back();
    net.cutAfter(2); // the command arrives, its reply does not
    const said = far.send({ type: "say", session: "s", text: "once", ...lin });
    await back();
    assert.equal((await said).ok, true);
    assert.equal(received.length, 2);
    assert.equal(store.load("s").filter(({ type }) => type === "user.said").length, 1);

    net.cutAfter(2);
    const compacted = await Promise.all([far.send({ type: "compact", session: "s" }), back()]);
    assert.equal(!compacted[0].ok && compacted[0].reason?.code, "reply-lost");
    assert.equal(received.length, 3);
    await close();
  });

  test("a command that is longer than a frame may be is not sent at all", async () => {
    using here = workspace();
    const { far, back, received, close } = await world(here.dir);
    await back();
    const reply = await far.send({ type: "say", session: "s", text: "长".repeat(400_000), ...lin });
    assert.equal(!reply.ok && reply.reason?.code, "frame-too-long");
    assert.deepEqual([received.length, far.state().name], [0, "open"]);
    await close();
  });

  test("another journal behind the same address ends what was watched; everything is read anew", async () => {
    using here = workspace();
    const { store, far, net, back, changeJournal, close } = await world(here.dir);
    const inbox: InboxEvent[] = [];
    const leaving = new AbortController();
    const listing = (async () => {
      for await (const event of far.inbox({ signal: leaving.signal })) inbox.push(event);
    })();
    const before = follow(far);
    await back();
    assert.equal(inbox.length, 1);
    net.cut();
    await back();
    assert.equal(before.failed(), undefined);
    assert.deepEqual(
      before.events.slice(-3),
      [
        { type: "link", lost: true },
        { type: "link", lost: false },
        { type: "owner", live: true, stopped: true },
      ],
      "whoever ran it may be another one now",
    );
    assert.equal(inbox.length, 2, "a list is whole with every connection");
    changeJournal();
    net.cut();
    await back();
    assert.equal((before.failed() as { reason?: { code: string } }).reason?.code, "journal-changed");
    assert.equal(inbox.length, 3);
    const anew = follow(far);
    await settled();
    assert.deepEqual(anew.facts(), plain(store.load("s")));
    leaving.abort();
    await Promise.all([listing, anew.stop(), close()]);
  });

  test("facts of a later version are left out, and not asked for again", async () => {
    using here = workspace();
    const { store, far, net, back, close } = await world(here.dir);
    const remote = follow(far);
    await back();
    store.append("s", { key: "future/1", type: "future.happened", at: 1, data: {} } as never);
    await settled();
    net.cut();
    await back();
    store.append("s", { key: "title/1", type: "session.titled", at: 1, data: { title: "标题", ...lin } });
    await settled();
    assert.deepEqual(
      remote.facts().map(({ type }) => type),
      ["session.opened", "session.titled"],
    );
    await remote.stop();
    await close();
  });

  test("a host that is gone is dialled after longer and longer pauses, and one that refuses is left alone", async () => {
    using here = workspace();
    const { far, net, clock, back, refuse, states, close } = await world(here.dir);
    await back();
    net.setDown(true);
    await settled();
    const pauses: number[] = [];
    for (let passed = 0, at = 0, seen = net.dials(); passed <= 45_000; passed += 125) {
      clock.advance(125);
      await settled(2);
      if (net.dials() > seen) {
        pauses.push(passed + 125 - at);
        [at, seen] = [passed + 125, net.dials()];
      }
    }
    assert.deepEqual(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    refuse({ close: 4401, why: "revoked" });
    net.setDown(false);
    const waiting = far.send({ type: "sessions" });
    far.hurry();
    await settled();
    assert.deepEqual(far.state(), { name: "refused", closed: { code: 4401, why: "revoked" } });
    const reply = await waiting;
    assert.equal(!reply.ok && reply.code, "key-unknown");
    const dials = net.dials();
    clock.advance(100_000);
    await settled();
    assert.equal(net.dials(), dials);
    assert.deepEqual(states, ["open", "lost", "refused"]);
    await close();
  });

  test("a host that says nothing for 45 s is hung up on", async () => {
    using here = workspace();
    const { far, net, clock, back, states, close } = await world(here.dir);
    await back();
    clock.advance(44_000);
    assert.equal(far.state().name, "open");
    clock.advance(1_000);
    await settled();
    assert.deepEqual(states, ["open", "lost"]);
    await back();
    assert.equal(net.dials(), 2);
    await close();
  });
});
