// A session that only waits for people is let out of memory, and nobody notices.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { fold } from "../../src/agent/turn/projection.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { ExecutionOptions } from "../../src/protocol/host/options.ts";
import { said, SageError } from "../../src/protocol/reasons/reason.ts";
import { createHost } from "../../src/host/host.ts";
import { askUser, bash, config, question, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };
const colour = askUser(question("Which colour?"));
const blue = (requestId: string) => ({
  type: "respond" as const,
  response: { type: "answers" as const, requestId, answers: { "Which colour?": { selected: ["Blue"] } } },
  ...lin,
});

/** A host that lets its sessions sleep almost at once, and somebody who sees who waits in memory. */
async function drowsy(dir: string, script: Script, options: Partial<ExecutionOptions> = {}, sleepAfterMs = 5) {
  const store = sqliteStore(`${dir}/journal.db`);
  const waiting = new Set<string>();
  const { wait } = store.hub;
  store.hub.wait = (id, wake) => {
    waiting.add(id);
    const stop = wait(id, wake);
    return () => (waiting.delete(id), stop());
  };
  let made = 0;
  const failing: Error[] = [];
  const host = createHost({
    store,
    version: "test",
    sleepAfterMs,
    supervision: { clock: { now: Date.now, sleep: async () => {} } },
    async executor() {
      made++;
      const error = failing.shift();
      if (error) throw error;
      return new TurnExecutor(config({ script, dir, store }), { ...options, workingDirectory: dir });
    },
  });
  await host.send({ type: "open", session: "s", cwd: dir });
  await host.send({ type: "say", session: "s", text: "go", ...lin });
  const outcome = host.run("s");
  const asleep = () => until(() => store.pending("s").length > 0 && waiting.size === 0);
  return { store, host, outcome, asleep, waiting, made: () => made, failNext: (error: Error) => failing.push(error) };
}

test("it sleeps while it waits, keeps its lease, and goes on with each answer as if it had not slept", async () => {
  using here = workspace();
  const script = [{ calls: [colour] }, { calls: [bash("echo once >> ran")] }, { text: "done" }];
  const { store, host, outcome, asleep, made } = await drowsy(here.dir, script);
  await asleep();
  assert.equal(store.session("s")?.owned, true);
  const facts = store.load("s").length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(store.load("s").length, facts, "sleeping writes nothing");
  const answered = await host.send(blue("s/t0/0/0/ask0"));
  assert.equal(answered.ok && answered.running, true);
  await until(() => store.pending("s").some(({ kind }) => kind === "permission"));
  await asleep();
  await host.send({ type: "respond", response: { type: "granted", requestId: "s/t0/1/0/permit0" }, ...lin });
  assert.equal((await outcome).text, "done");
  assert.equal(readFileSync(here.path("ran"), "utf8"), "once\n");
  assert.ok(made() >= 3, "what it was made of was let go");
  await host.close();
});

test("asleep it can be spoken to, interrupted and left, and its deadline passes", async () => {
  for (const what of ["say", "interrupt", "leave", "deadline"] as const) {
    using here = workspace();
    const options = what === "deadline" ? { promptTimeout: 150 } : {};
    const { store, host, outcome, asleep } = await drowsy(here.dir, [{ calls: [colour] }, { text: "done" }], options);
    await asleep();
    if (what === "say") {
      await host.send({ type: "say", session: "s", text: "by the way", ...lin });
      await asleep();
      await host.send(blue("s/t0/0/0/ask0"));
      const { status, messages } = await outcome;
      assert.equal(status, "success");
      assert.ok(JSON.stringify(messages).includes("by the way"));
    } else if (what === "interrupt") {
      const stopped = await host.send({ type: "interrupt", session: "s", ...lin });
      assert.deepEqual(stopped, { ok: true, to: "cancel" });
      assert.equal((await outcome).status, "cancelled");
      assert.deepEqual(store.pending(), []);
    } else if (what === "leave") {
      host.leave("s");
      assert.equal((await outcome).status, "paused");
      assert.equal(store.session("s")?.owned, false);
      assert.equal(store.pending("s").length, 1);
    } else {
      const ended = await outcome;
      assert.equal(ended.status === "error" && ended.error.code, "timeout");
    }
    await host.close();
  }
});

test("called off asleep, it ends as it would have awake: with its steps, its results and what it took", async () => {
  const ends = [];
  for (const sleepAfterMs of [5, 60_000]) {
    using here = workspace();
    writeFileSync(here.path("a"), "one");
    const script = [
      { text: "First I look.", calls: [{ tool: "Read", input: { file_path: "a" } }, colour] },
      { calls: [bash("echo never >> ran"), colour] },
      { text: "done" },
    ];
    const { store, host, outcome, asleep } = await drowsy(here.dir, script, {}, sleepAfterMs);
    const isAsked = (count: number) => until(() => store.pending("s").length === count);
    await isAsked(1);
    if (sleepAfterMs === 5) await asleep();
    await host.send(blue("s/t0/0/1/ask0"));
    await isAsked(2);
    if (sleepAfterMs === 5) await asleep();
    assert.deepEqual(await host.send({ type: "interrupt", session: "s", ...lin }), { ok: true, to: "cancel" });
    const { stats, ...ended } = await outcome;
    const facts = store.load("s");
    assert.deepEqual(ended.messages, fold(facts).messages, "the next turn begins with the same conversation");
    assert.ok(!existsSync(here.path("ran")));
    ends.push({
      ...{ ...ended, ...stats, durationMs: 0 },
      results: facts
        .flatMap(({ type, key, data }) => (type === "call.finished" ? [JSON.stringify([key, data])] : []))
        .toSorted(),
    });
    await host.close();
  }
  const [asleep, awake] = ends.map((end) => JSON.stringify(end).replaceAll(/sage-[^/"]+/g, "here"));
  assert.deepEqual(JSON.parse(asleep ?? ""), JSON.parse(awake ?? ""));
  assert.equal(ends[0]?.steps, 2);
});

test("it does not sleep while something of it still runs", async () => {
  using here = workspace();
  const script = [
    { calls: [bash("while [ ! -e stop ]; do sleep 0.02; done; echo ran >> ran"), colour] },
    { text: "done" },
  ];
  const { store, host, outcome, waiting } = await drowsy(here.dir, script);
  await until(() => store.pending("s").length === 2);
  await host.send({ type: "respond", response: { type: "granted", requestId: "s/t0/0/0/permit0" }, ...lin });
  await until(() => store.load("s").some(({ type }) => type === "call.started"));
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.deepEqual([...waiting], ["s/t0/0/1/ask0"], "the question is waited for in memory");
  writeFileSync(here.path("stop"), "");
  await host.send(blue("s/t0/0/1/ask0"));
  assert.equal((await outcome).text, "done");
  assert.equal(existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8"), "ran\n");
  await host.close();
});

test("one that cannot be woken at the first try is not lost: it is tried again, and can be resumed", async () => {
  using here = workspace();
  const { store, host, outcome, asleep, failNext } = await drowsy(here.dir, [
    { calls: [colour] },
    { text: "done" },
    { calls: [colour] },
    { text: "done" },
  ]);
  await asleep();
  failNext(new SageError("journal-locked", said("busy"), { retryable: true }));
  await host.send(blue("s/t0/0/0/ask0"));
  assert.equal((await outcome).text, "done", "a busy journal is tried again");

  await host.send({ type: "say", session: "s", text: "once more", ...lin });
  const second = host.run("s");
  await asleep();
  failNext(new Error("the folder is gone"));
  await host.send(blue("s/t1/0/0/ask0"));
  await assert.rejects(second, /the folder is gone/);
  assert.equal(store.session("s")?.owned, false, "whoever gave up has let go");
  await host.send({ type: "resume", session: "s" });
  assert.equal((await host.run("s")).text, "done");
  await host.close();
});

test("who speaks while a turn is being left is heard after it", async () => {
  using here = workspace();
  const { store, host, outcome } = await drowsy(here.dir, [{ text: "here again", delayMs: 200 }]);
  await until(() => store.load("s").some(({ type }) => type === "turn.begun"));
  host.leave("s");
  await host.send({ type: "say", session: "s", text: "still there?", ...lin });
  const next = host.run("s");
  assert.equal((await outcome).status, "paused");
  const { text, messages } = await next;
  assert.equal(text, "here again");
  assert.match(JSON.stringify(messages), /still there\?/);
  await host.close();
});

test("a question about its request wakes it, and it sleeps again once the agent has replied", async () => {
  using here = workspace();
  const script: Script = { "": [{ calls: [colour] }, { text: "done" }], inquiry: [{ text: "because" }] };
  const { store, host, outcome, asleep } = await drowsy(here.dir, script);
  await asleep();
  const [request] = store.pending("s");
  const asked = await host.send({ type: "inquire", requestId: request!.id, text: "why?", ...lin });
  assert.equal(asked.ok && asked.running, true);
  await until(() => store.inquiries(request!.id).length === 2);
  await asleep();
  assert.equal(store.resolution(request!.id), undefined);
  await host.send(blue(request!.id));
  assert.equal((await outcome).text, "done");
  await host.close();
});
