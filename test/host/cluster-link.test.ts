// A person at the gateway sees what a worker streams, and what it keeps.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { joinCluster } from "../../src/host/cluster/cluster.ts";
import { openStreamServer, type StreamServer } from "../../src/host/cluster/stream/stream-server.ts";
import { createGatewayHost } from "../../src/host/cluster/stream/gateway.ts";
import { createStreamClient } from "../../src/host/cluster/stream/stream-client.ts";
import { startWorker } from "../../src/host/cluster/worker/worker.ts";
import { createHost, type LocalHost } from "../../src/host/host.ts";
import { cutOf } from "../../src/host/commands/past.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { WatchEvent } from "../../src/protocol/host/host.ts";
import { callOfKey } from "../../src/protocol/key.ts";
import { createDatabase, hasPostgres } from "../support/postgres.ts";
import { config, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { lin, redaction, puppet } from "./puppet.ts";

/** A gateway and workers on a database of their own, as processes have them. */
async function cluster({ notified = true } = {}) {
  const here = workspace();
  const { url, drop } = await createDatabase();
  const ends: (() => Promise<void>)[] = [];
  const said: string[] = [];
  const { model, next, always } = puppet();
  const enter = async (roster: boolean) => {
    const { noteChild, children, callOf, place } = memoryStore();
    const local = { noteChild, children, callOf, place };
    return joinCluster({ url, as: roster ? "gateway" : "worker", local, place: () => "here", notified, roster });
  };
  const own = await enter(true);
  const meeting = createStreamClient({ cluster: own, unreachable: ({ address }) => said.push(address), retryMs: 200 });
  const refuse = async (): Promise<never> => assert.fail("a gateway runs nothing");
  const wake = (session: string) => void own.wake(session);
  const elsewhere = { wake, peers: meeting.peers, kept: meeting.kept };
  const made = createHost({ store: own.replica.store, version: "test", executor: refuse, elsewhere });
  const host = createGatewayHost(made, { ...own.replica, staffed: own.ledger.staffed }, meeting);
  ends.push(async () => {
    await host.close();
    meeting.close();
    await own.close();
  });
  return {
    ...{ host, next, always, said, pool: own.pool, replica: own.replica, dir: here.dir },
    async worker(name: string, { listens = true } = {}) {
      const joined = await enter(false);
      const { store } = joined.replica;
      const runs = createHost({
        ...{ store, version: "test", letsGo: true, sleepAfterMs: 50, keepDir: () => here.dir },
        executor: async () =>
          new TurnExecutor(config({ ...{ script: [], dir: here.dir, store }, wrap: () => model(name) }), {
            workingDirectory: here.dir,
          }),
      });
      const { process, ledger } = joined;
      const listen = { host: "127.0.0.1", port: 0 };
      const parts = { ...joined, host: runs, journal: ledger.journal, listen, redaction, handshakeMs: 300 };
      const door = listens ? await openStreamServer(parts) : undefined;
      const working = await startWorker({ cluster: joined, place: "here", host: runs, streamServer: door });
      let stopped: Promise<void> | undefined;
      const stop = () =>
        (stopped ??= (async () => {
          await working.stop();
          await door?.close();
          await joined.close();
        })());
      ends.unshift(stop);
      return { process, door: door as StreamServer, stop };
    },
    async begin(text = "go") {
      const opened = await host.send({ type: "open", cwd: here.dir });
      assert.ok(opened.ok);
      assert.ok((await host.send({ type: "say", session: opened.session, text, ...lin })).ok);
      return opened.session;
    },
    async [Symbol.asyncDispose]() {
      for (const end of ends) await end();
      await drop();
      here[Symbol.dispose]();
    },
  };
}

const isText = (event: WatchEvent) => event.type === "delta" && event.delta.kind === "text";

/** Everything that one watcher is told, and the text as their screen has it. */
function watching(host: LocalHost, session: string) {
  const over = new AbortController();
  const events: WatchEvent[] = [];
  const done = (async () => {
    for await (const event of host.watch(session, { signal: over.signal })) events.push(event);
  })();
  return {
    events,
    text() {
      let shown = { attempt: 0, text: "" };
      for (const event of events) {
        if (event.type !== "delta" || event.delta.kind !== "text") continue;
        const { attempt, text, whole } = event.delta;
        if (attempt >= shown.attempt)
          shown = { attempt, text: (whole || attempt > shown.attempt ? "" : shown.text) + text };
      }
      return shown.text;
    },
    types: () => events.flatMap((event) => (event.type === "fact" ? [event.fact.type] : [])),
    live: () =>
      events.flatMap((event) => (event.type === "owner" || event.type === "ready" ? [event.live] : [])).at(-1),
    async stop() {
      over.abort();
      await done;
    },
  };
}

suite("a gateway follows its workers", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("words stream to everybody who watches, one stream for all; a worker that is gone is followed by the next, and no word comes twice", async () => {
    await using team = await cluster();
    const first = await team.worker("first");
    const session = await team.begin();
    const one = watching(team.host, session);
    const reply = await team.next(0);
    reply.say("你好，");
    await until(() => one.text() === "你好，", "no word comes");
    const late = watching(team.host, session);
    await until(() => late.text() === "你好，", "who comes later sees no word");
    reply.say("世界 ");
    await until(() => one.text() === "你好，世界 " && late.text() === "你好，世界 ", "no more words come");
    assert.equal(late.events.filter(isText).length, 2, "the text so far, then what is new");
    const place = (is: (event: WatchEvent) => boolean) => one.events.findIndex(is);
    const begun = place((event) => event.type === "fact" && event.fact.type === "turn.begun");
    assert.ok(begun > 0 && begun < place(isText), "a word comes behind the facts that came before it");
    await late.stop();

    // The connection breaks in the middle of a word, its row goes, another one takes the session.
    await team.worker("second");
    await first.door.close();
    await first.stop();
    const again = await team.next(1);
    assert.equal(again.by, "second");
    again.say("Hello ");
    await until(
      () => one.text() === "Hello ",
      () => `the next one's words do not come, only ${one.text()}`,
    );
    again.say("again ");
    again.end("Hello again and goodbye");
    await until(() => one.types().includes("turn.ended"), "the turn does not end");
    const numbers = one.events.flatMap((event) => (event.type === "fact" ? [event.fact.seq] : []));
    assert.deepEqual(
      numbers,
      numbers.map((_, n) => n + 1),
      "each fact once, in order",
    );
    const replied = place((event) => event.type === "fact" && event.fact.type === "model.replied");
    assert.ok(!one.events.slice(replied).some(isText), "no word comes behind the reply that it is part of");
    assert.equal(one.live(), true);
    assert.ok(!one.events.some((event) => event.type === "owner" && event.stopped), "nobody has to go on with it");
    await one.stop();
  });

  test("a line that breaks comes back by itself, and the text so far comes once, without notifications too", async () => {
    await using team = await cluster({ notified: false });
    const { door } = await team.worker("one");
    // The network between the two, which can be cut.
    const passing = new Set<Socket>();
    const network = createServer((near) => {
      const far = connect(Number(door.address.split(":")[1]));
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        passing.add(from);
        from.on("error", () => from.destroy()).on("close", () => to.destroy());
        from.pipe(to);
      }
    });
    await once(network.listen(0, "127.0.0.1"), "listening");
    const { port } = network.address() as AddressInfo;
    await team.pool.query("UPDATE sage.process SET address=$1", [`127.0.0.1:${port}`]);
    const session = await team.begin();
    const seen = watching(team.host, session);
    const reply = await team.next(0);
    reply.say("one ");
    await until(() => seen.text() === "one ", "no word comes");
    for (let cut = 0; cut < 2; cut++) {
      for (const socket of passing) socket.destroy();
      passing.clear();
      reply.say(`and ${cut} `);
      await until(
        () => seen.text() === "one and 0 and 1 ".slice(0, 10 + 6 * cut),
        () => `there is ${seen.text()}`,
      );
    }
    reply.run("cat nothing.txt");
    const next = await team.next(1);
    next.say("two ");
    await until(() => seen.text().endsWith("two "), "no word of the next step comes");
    const finished = seen.types().indexOf("call.finished");
    assert.ok(finished > 0, "a word waits for the facts before it");
    assert.ok(!seen.events.some((event) => event.type === "owner"), "nobody is told of a line that comes back at once");
    next.end("two and all");
    await until(() => seen.types().includes("turn.ended"), "the turn does not end");
    await seen.stop();
    network.close();
  });

  test("a worker that does not listen, or cannot be reached, is followed by its facts, which is said once", async () => {
    await using team = await cluster();
    await team.worker("quiet", { listens: false });
    const session = await team.begin();
    const seen = watching(team.host, session);
    (await team.next(0)).say("nobody hears ");
    await until(() => seen.live() === false, "nobody is told that there are facts only");
    assert.deepEqual(team.said, [], "nobody was to reach it");
    const closed = await openStreamServer({
      ...{ host: team.host, replica: team.replica, process: "p", journal: "j", redaction },
      listen: { host: "127.0.0.1", port: 0 },
    });
    await closed.close();
    await team.pool.query("UPDATE sage.process SET address=$1", [closed.address]);
    await team.pool.query("INSERT INTO sage.door SELECT id, $1 FROM sage.process", [closed.key]);
    await until(() => team.said.length > 0, "nothing is said");
    (await team.next(0)).end("done");
    await until(() => seen.types().includes("turn.ended"), "the turn does not end");
    assert.equal(seen.text(), "");
    assert.deepEqual(team.said, [closed.address]);
    await seen.stop();
  });

  test("whoever speaks where nobody works is told, whoever looks while it waits too, and nobody once a worker is there", async () => {
    await using team = await cluster();
    const session = await team.begin();
    const notices = ({ events }: ReturnType<typeof watching>) =>
      events.flatMap((event) => (event.type === "delta" && event.delta.kind === "notice" ? [event.delta.reason] : []));
    const nobody = { code: "no-worker", args: { place: "here" } };
    const seen = watching(team.host, session);
    await until(() => notices(seen).length === 1, "whoever looks is not told");
    assert.ok((await team.host.send({ type: "say", session, text: "and this", ...lin })).ok);
    await until(() => notices(seen).length === 2, "whoever speaks is not told");
    await team.worker("late");
    team.always("done");
    const ended = async () => (await team.pool.query("SELECT 1 FROM sage.fact WHERE type='turn.ended'")).rowCount ?? 0;
    await until(async () => (await ended()) > 0, "the turn does not end");
    const before = await ended();
    assert.ok((await team.host.send({ type: "say", session, text: "more", ...lin })).ok);
    await until(async () => (await ended()) > before, "the next turn does not end");
    await until(() => seen.types().filter((type) => type === "user.said").length === 3, "the message is not seen");
    assert.deepEqual(notices(seen), [nobody, nobody]);
    await seen.stop();
  });
});

suite("output that a worker keeps", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("the gateway fetches it in parts, whole characters in each and no secret cut in two; nobody there is said so", async () => {
    await using team = await cluster();
    const { stop } = await team.worker("keeper");
    const secret = "AKIAIOSFODNN7EXAMPLE";
    const lines = Array.from({ length: 9_000 }, (_, n) => `line ${n} of many`).join("\n");
    const first = `${lines.slice(0, 128 * 1024 - 10)} ${secret} `;
    const all = `${first}${"汉字没有空格".repeat(20_000)}\n${lines}\n`;
    writeFileSync(join(team.dir, "big.txt"), all);
    const session = await team.begin();
    (await team.next(0)).run("cat big.txt");
    (await team.next(1)).end("read");
    const seen = watching(team.host, session);
    await until(() => seen.types().includes("turn.ended"), "the turn does not end");
    await seen.stop();
    const finished = seen.events.flatMap((event) =>
      event.type === "fact" && event.fact.type === "call.finished" ? [event.fact] : [],
    )[0];
    const call = callOfKey(finished?.key ?? "") ?? "";
    const fetch = (page: number, of = call) => team.host.send({ type: "output", session, call: of, page });
    let [text, pages] = ["", 1];
    for (let page = 0; page < pages; page++) {
      const reply = await fetch(page);
      assert.ok(reply.ok, JSON.stringify(reply));
      assert.doesNotMatch(reply.text, /\uFFFD/);
      assert.ok(reply.text.length < 200_000);
      assert.equal(reply.bytes, Buffer.byteLength(all));
      [text, pages] = [text + reply.text, reply.pages];
    }
    assert.ok(pages > 4);
    assert.doesNotMatch(text, /AKIA/);
    assert.ok(text.replace(/\[secret #\w+\]/, secret) === all, "the parts are the whole");
    const beyond = await fetch(pages);
    assert.ok(beyond.ok && beyond.text === "");

    for (const other of ["t0/0/7", "../../etc/passwd", finished?.data.output?.file ?? ""]) {
      const reply = await fetch(0, other);
      assert.ok(!reply.ok && reply.reason?.code === "output-missing", other);
    }
    const kept = finished?.data.output?.file ?? "";
    rmSync(kept);
    symlinkSync("/etc/passwd", kept);
    const led = await fetch(0);
    assert.ok(!led.ok && led.reason?.code === "output-missing", "a link is not followed");

    await stop();
    const away = await fetch(0);
    assert.ok(!away.ok);
    assert.deepEqual([away.code, away.reason], ["host-gone", { code: "output-away", args: { place: "here" } }]);
  });

  test("a part ends after a line, before a key, between words, and never in a character", () => {
    const cut = (text: string) => {
      const bytes = Buffer.from(text);
      return bytes.subarray(0, cutOf(bytes)).toString("utf8");
    };
    assert.equal(cut("one\ntwo\nthr"), "one\ntwo\n");
    assert.equal(cut("one\n-----BEGIN KEY-----\nMIIE\nabc"), "one\n");
    assert.equal(cut("-----BEGIN KEY-----\nM\n-----END KEY-----\nabc"), "-----BEGIN KEY-----\nM\n-----END KEY-----\n");
    assert.equal(cut("one two thr"), "one two ");
    assert.equal(cut("汉字汉字"), "汉字汉");
    assert.equal(cut("x".repeat(10)), "x".repeat(9));
  });
});
