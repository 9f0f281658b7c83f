// Two hosts on one journal, as two processes have them: what one streams reaches whoever watches in the other.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { Model } from "../../src/models/model.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { WatchEvent } from "../../src/protocol/host/host.ts";
import { createHost } from "../../src/host/host.ts";
import { reachHost } from "../../src/host/socket/process-door.ts";
import { allow, bash, config, workspace } from "../support/sage.ts";
import { spoken } from "../support/spoken.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };

function hostOn(store: Store, dir: string, model: Model) {
  const made = { ...config({ script: [], dir, store, rules: [allow("Bash")] }), model };
  return createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: dir }),
  });
}

function watching(host: ReturnType<typeof hostOn>, session = "s") {
  const leaving = new AbortController();
  const events: WatchEvent[] = [];
  const done = (async () => {
    for await (const event of host.watch(session, { signal: leaving.signal })) events.push(event);
  })();
  return {
    events,
    text: () => events.map((event) => (event.type === "delta" ? event.delta.text : "")).join(""),
    ready: () => events.find((event) => event.type === "ready"),
    owner: () => events.findLast((event) => event.type === "owner"),
    has: (type: Fact["type"]) => events.some((event) => event.type === "fact" && event.fact.type === type),
    async stop() {
      leaving.abort();
      await done;
    },
  };
}

function twoProcesses(dir: string) {
  const journal = join(dir, "journal.db");
  const stores = [sqliteStore(journal), sqliteStore(journal)] as const;
  const [mine, theirs] = [spoken(), spoken()];
  const a = hostOn(stores[0], dir, mine.model);
  const b = hostOn(stores[1], dir, theirs.model);
  /** Begins a turn in the first process. */
  const begin = async (session = "s") => {
    await a.send({ type: "open", session, cwd: dir });
    await a.send({ type: "say", session, text: "go", ...lin });
  };
  return { a, b, begin, mine, theirs, stores, run: `${journal}-run` };
}

test("a process that comes in the middle of a reply gets the text so far, the rest as it comes, and the fact", async () => {
  using here = workspace();
  const { a, b, begin, mine } = twoProcesses(here.dir);
  await begin();
  mine.speak("天下");
  mine.speak("大势");
  const first = watching(a);
  await until(() => first.text() === "天下大势");

  const second = watching(b);
  await until(() => second.text() === "天下大势");
  const ready = second.ready();
  assert.equal(ready?.type === "ready" && ready.live, true);
  mine.speak("，分久必合");
  await until(() => second.text() === "天下大势，分久必合");
  assert.equal(second.has("model.replied"), false);
  mine.finish();
  await until(() => second.has("turn.ended") && first.has("turn.ended"));

  const facts = (seen: typeof first) => seen.events.flatMap((event) => (event.type === "fact" ? [event.fact.seq] : []));
  assert.deepEqual(facts(second), facts(first), "every fact once and in order");
  const lastDelta = second.events.findLastIndex((event) => event.type === "delta");
  const replied = second.events.findIndex((event) => event.type === "fact" && event.fact.type === "model.replied");
  assert.ok(lastDelta < replied, "no word comes after the reply it belongs to");
  await second.stop();
  await first.stop();
  await b.close();
  await a.close();
});

test("whoever speaks next runs the turn, and the other one follows: the roles change without anybody noticing", async () => {
  using here = workspace();
  const { a, b, mine, theirs } = twoProcesses(here.dir);
  await a.send({ type: "open", session: "s", cwd: here.dir });
  const [first, second] = [watching(a), watching(b)];
  await until(() => first.ready() !== undefined && second.ready() !== undefined);
  for (const [speaker, model, words] of [
    [a, mine, "one "],
    [b, theirs, "two "],
    [a, mine, "three "],
  ] as const) {
    await speaker.send({ type: "say", session: "s", text: words, ...lin });
    model.speak(words);
    await until(() => first.text().endsWith(words) && second.text().endsWith(words));
    model.finish();
    await speaker.run("s");
    await until(() =>
      [first, second].every(({ events }) => ended(events) === ended(first.events) && ended(events) > 0),
    );
  }
  assert.deepEqual([first.text(), second.text()], ["one two three ", "one two three "]);
  assert.deepEqual([first.owner(), second.owner()], [undefined, undefined]);
  await Promise.all([first.stop(), second.stop()]);
  await b.close();
  await a.close();
});

const ended = (events: readonly WatchEvent[]) =>
  events.filter((event) => event.type === "fact" && event.fact.type === "turn.ended").length;

test("an interrupt from the process that follows pauses the turn where it runs", async () => {
  using here = workspace();
  const { a, b, begin, mine, stores } = twoProcesses(here.dir);
  await begin();
  const outcome = a.run("s");
  const second = watching(b);
  mine.speak("well");
  await until(() => second.text() === "well");
  assert.deepEqual(await b.send({ type: "interrupt", session: "s", ...lin }), { ok: true, to: "pause" });
  assert.equal((await outcome).status, "paused");
  await until(() => stores[0].session("s")?.owned === false);
  await new Promise((resolve) => setTimeout(resolve, 1_200)); // longer than the follower takes to look again
  assert.equal(second.owner(), undefined, "a person's pause is no reason to go on");
  await second.stop();
  await b.close();
  await a.close();
});

test("without the socket there are facts only, and that is said", async () => {
  using here = workspace();
  const { a, b, begin, mine, run } = twoProcesses(here.dir);
  await begin();
  await until(() => mine.asked() === 1 && existsSync(run) && readdirSync(run).length === 1);
  rmSync(run, { recursive: true });
  const second = watching(b);
  await until(() => second.ready() !== undefined);
  const ready = second.ready();
  assert.equal(ready?.type === "ready" && ready.live, false);
  mine.speak("unheard");
  mine.finish();
  await until(() => second.has("turn.ended"));
  assert.equal(second.text(), "");
  await second.stop();
  await b.close();
  await a.close();
});

test("an owner that leaves with its turn open is noticed, and whoever resumes goes on with it", async () => {
  using here = workspace();
  const { a, b, begin, mine, theirs } = twoProcesses(here.dir);
  await begin();
  const second = watching(b);
  mine.speak("half a");
  await until(() => second.text() === "half a");
  await a.close();
  await until(() => second.owner() !== undefined);
  assert.deepEqual(second.owner(), { type: "owner", live: true, stopped: true });
  assert.deepEqual(await b.send({ type: "resume", session: "s" }), { ok: true });
  theirs.speak("a whole answer");
  theirs.finish();
  assert.equal((await b.run("s")).text, "a whole answer");
  await until(() => second.has("turn.ended"));
  const attempts = second.events.flatMap((event) => (event.type === "delta" ? [event.delta.attempt] : []));
  assert.ok((attempts.at(-1) ?? 0) > (attempts[0] ?? 0), "what the first one said is void");
  await second.stop();
  await b.close();
});

test("the socket is for this user alone, is one for all sessions, and goes with its process; dead ones are swept", async () => {
  using here = workspace();
  const { a, b, begin, mine, run } = twoProcesses(here.dir);
  mkdirSync(run, { mode: 0o755 });
  await dead(join(run, "0123456789ab"));
  for (const session of ["s", "t"]) await begin(session);
  await until(() => mine.asked() === 2 && readdirSync(run).length === 1);
  const [name = ""] = readdirSync(run);
  assert.notEqual(name, "0123456789ab");
  assert.equal(statSync(run).mode & 0o777, 0o700);
  await until(() => (statSync(join(run, name)).mode & 0o777) === 0o600);
  await a.close();
  assert.equal(existsSync(run), false);
  await b.close();
});

/** Leaves a socket behind as a killed process does. */
async function dead(path: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const listen = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  await new Promise((resolve) => spawn(process.execPath, ["-e", listen]).on("exit", resolve));
  const long = new Date(Date.now() - 60_000);
  utimesSync(path, long, long);
}

test("a journal whose path is too long for a socket is met elsewhere, in a private folder", async () => {
  using here = workspace();
  const deep = join(here.dir, ...Array.from({ length: 6 }, () => "a-folder-with-a-rather-long-name"));
  mkdirSync(deep, { recursive: true });
  const { a, b, begin, mine, run } = twoProcesses(deep);
  await begin();
  mine.speak("heard");
  const second = watching(b);
  await until(() => second.text() === "heard");
  assert.equal(existsSync(run), false);
  await second.stop();
  await b.close();
  await a.close();
});

test("the socket tells what a Host tells, and checks what it is told", async () => {
  using here = workspace();
  const { a, b, begin, mine, run } = twoProcesses(here.dir);
  await begin();
  await until(() => mine.asked() === 1 && existsSync(run) && readdirSync(run).length === 1);
  const address = join(run, readdirSync(run)[0] ?? "");
  const remote = await reachHost(address, AbortSignal.timeout(20_000));

  const wrong = await remote.send({ type: "pending", limit: "many" } as never);
  assert.equal(!wrong.ok && wrong.code, "request-invalid");
  const listed = await remote.send({ type: "sessions" });
  assert.deepEqual(listed.ok && listed.sessions.map(({ id, state }) => [id, state]), [["s", "running"]]);
  await assert.rejects(
    async () => {
      for await (const _ of remote.watch("nobody", { signal: AbortSignal.timeout(20_000) }));
    },
    { code: "session-unknown", reason: { code: "session-missing", args: { session: "nobody" } } },
  );

  for (const bad of ["not json\n", '{"do":"explode","id":1}\n', '{"do":"send","id":1,"command":{"type":"rm"}}\n'])
    await refused(address, bad);
  await refused(address, "x".repeat(17 * 1024 * 1024));

  const events: WatchEvent[] = [];
  const stop = new AbortController();
  const seen = (async () => {
    for await (const event of remote.watch("s", { signal: stop.signal })) events.push(event);
  })();
  mine.speak("still here");
  await until(() => events.some((event) => event.type === "delta"));
  stop.abort();
  await seen;
  remote.close();
  await until(() => remote.over.aborted);
  const late = await remote.send({ type: "sessions" });
  assert.equal(!late.ok && late.code, "host-gone");
  await b.close();
  await a.close();
});

/** Ends when the other side hangs up. */
function refused(address: string, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(address, () => socket.write(text));
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.resume();
  });
}

test("somebody who listens and says nothing holds nobody up", async () => {
  using here = workspace();
  const { a, b, begin, mine, run } = twoProcesses(here.dir);
  await begin();
  await until(() => mine.asked() === 1 && existsSync(run) && readdirSync(run).length === 1);
  const address = join(run, readdirSync(run)[0] ?? "");
  rmSync(address);
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(address, resolve));
  const second = watching(b);
  await until(() => second.ready() !== undefined);
  const ready = second.ready();
  assert.equal(ready?.type === "ready" && ready.live, false);
  await second.stop();
  silent.close();
  await b.close();
  await a.close();
  rmSync(dirname(address), { recursive: true, force: true });
});

test("output without end does not grow in anybody's memory: a late watcher gets the end of it", async () => {
  using here = workspace();
  const journal = here.path("journal.db");
  const store = sqliteStore(journal);
  const script = [{ calls: [bash("yes 0123456789 | head -c 2000000; echo; echo last; sleep 60")] }];
  const made = config({ script, dir: here.dir, store, rules: [allow("Bash")] });
  const a = createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: here.dir }),
  });
  await a.send({ type: "open", session: "s", cwd: here.dir });
  const first = watching(a);
  await a.send({ type: "say", session: "s", text: "go", ...lin });
  await until(() => first.text().includes("last"));
  const other = sqliteStore(journal);
  const b = hostOn(other, here.dir, spoken().model);
  const second = watching(b);
  await until(() => second.text().includes("last"));
  assert.ok(second.text().length < 100_000, `${second.text().length} characters`);
  await second.stop();
  await first.stop();
  await b.close();
  await a.close();
});
