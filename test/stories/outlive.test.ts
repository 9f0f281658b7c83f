// A command goes on when its worker is killed or leaves, and whoever has the session next brings its result. Nobody is asked.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { startOf } from "../../src/processes/identity.ts";
import { listProcesses } from "../../src/processes/registry.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { CommandRunner } from "../../src/tools/process/command-runner.ts";
import { thorough } from "../faults/rounds.ts";
import { runnerIn } from "../support/command-runner.ts";
import { killAtCommit } from "../support/kill.ts";
import { startRunner } from "../support/process.ts";
import { allow, bash, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

const options = { skip: process.platform !== "linux", timeout: 110_000 };
const line = "echo ran >> ran; echo 前; until [ -e go ]; do sleep 0.02; done; echo 后; exit 3";
const script = [{ calls: [bash(line)] }, { text: "all done" }];

type Here = ReturnType<typeof workspace>;

const ran = (here: Here) =>
  existsSync(here.path("ran")) ? (readFileSync(here.path("ran"), "utf8").match(/.+/g) ?? []).map(String) : [];
const results = (facts: readonly Fact[]) => facts.flatMap((fact) => (fact.type === "call.finished" ? [fact.data] : []));
const asked = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.type === "input.requested" ? [fact.data.source] : []));

/** A worker with the session, in this process; the next one is another. */
async function worker(here: Here, more: { session?: string; runner?: CommandRunner } = {}): Promise<TestSage> {
  const { runner = runnerIn(here.dir), ...rest } = more;
  const store = sqliteStore(here.path("journal.db"));
  const sage = await sageWith({
    script,
    dir: here.dir,
    store,
    rules: [allow("Bash")],
    runner,
    watched: false,
    ...rest,
  });
  return {
    ...sage,
    async [Symbol.asyncDispose]() {
      await sage[Symbol.asyncDispose]();
      store.close();
    },
  };
}

/** The session as a worker leaves it while its command runs. */
async function left(here: Here): Promise<string> {
  const first = await worker(here);
  await first.say("go");
  await until(() => ran(here).length === 1);
  await first[Symbol.asyncDispose]();
  return first.session;
}

function keepings(here: Here): { keeper: number; pid: number }[] {
  return listProcesses(here.dir, "keeper").map(({ pid, command }) => ({ keeper: pid, pid: command?.pid ?? NaN }));
}

test(
  "a worker leaves, and the next one goes on with its command: live output, code, one result, nobody is asked",
  options,
  async () => {
    using here = workspace();
    const session = await left(here);
    await using next = await worker(here, { session });
    const shown: string[] = [];
    const over = new AbortController();
    const watching = (async () => {
      for await (const event of next.host.watch(session, { signal: over.signal }))
        if (event.type === "delta" && event.delta.kind === "output") shown.push(event.delta.text);
    })();
    const outcome = next.outcome();
    await until(() => shown.length > 0);
    writeFileSync(here.path("go"), "");
    assert.equal((await outcome).text, "all done");
    over.abort();
    await watching.catch(() => {});
    assert.deepEqual(ran(here), ["ran"]);
    assert.deepEqual(
      results(next.facts()).map(({ ok, text, end }) => [ok, text, end]),
      [[false, "前\n后\nExit code 3.", "failed"]],
    );
    assert.deepEqual([asked(next.facts()), shown.join("")], [[], "前\n后\n"]);
    await until(() => keepings(here).length === 0, "the entry stays");
  },
);

test(
  "a worker is killed, its command ends while nobody is there, and the next one finds its end",
  options,
  async () => {
    using here = workspace();
    writeFileSync(here.path("script.json"), JSON.stringify(script));
    const env = { OUTLIVE: "1", ANSWER: "self" };
    const first = startRunner([here.dir, "s"], { env });
    await until(() => ran(here).length === 1);
    first.child.kill("SIGKILL");
    await first.ended;
    const [{ pid } = { pid: NaN }] = keepings(here);
    writeFileSync(here.path("go"), "");
    await until(() => startOf(pid) === "");
    await using next = await worker(here, { session: "s" });
    assert.equal((await next.outcome()).text, "all done");
    assert.deepEqual(ran(here), ["ran"]);
    assert.deepEqual(
      results(next.facts()).map(({ text }) => text),
      ["前\n后\nExit code 3."],
    );
    assert.deepEqual(
      asked(next.facts()).filter((source) => source === "recovery"),
      [],
    );
  },
);

test(
  "a worker that dies before its command began leaves it to the next one, which runs it without a question",
  options,
  async () => {
    using here = workspace();
    const dies = Promise.withResolvers<never>();
    const first = await worker(here, { runner: { ...runnerIn(here.dir), start: () => () => dies.promise } });
    await first.say("go");
    await until(() => first.facts().some(({ type }) => type === "call.started"));
    const { session } = first;
    const closing = first[Symbol.asyncDispose]();
    dies.reject(new Error("killed"));
    await closing;
    writeFileSync(here.path("go"), "");
    await using next = await worker(here, { session });
    assert.equal((await next.outcome()).text, "all done");
    assert.deepEqual([ran(here), asked(next.facts())], [["ran"], []]);
  },
);

test("a person cancels while nobody runs the session: its command is ended", options, async () => {
  using here = workspace();
  const session = await left(here);
  const [{ pid } = { pid: NaN }] = keepings(here);
  assert.notEqual(startOf(pid), "");
  await using next = await worker(here, { session });
  await next.host.send({ type: "interrupt", session, by: "Lin", surface: "test" });
  await next.outcome();
  assert.equal(startOf(pid), "");
  assert.deepEqual([asked(next.facts()), next.facts().at(-1)?.type], [[], "turn.ended"]);
});

for (const [name, lose] of [
  ["its keeper is killed too", (here: Here) => keepings(here).forEach(({ keeper }) => process.kill(keeper, "SIGKILL"))],
  ["its entry is gone", (here: Here) => rmSync(here.path("runner"), { recursive: true })],
] as const)
  test(`nobody can say how a command ended when ${name}: a person is asked`, options, async () => {
    using here = workspace();
    const session = await left(here);
    const [{ pid } = { pid: NaN }] = keepings(here);
    lose(here);
    process.kill(-pid, "SIGKILL");
    await until(() => startOf(pid) === "");
    await using next = await worker(here, { session });
    void next.outcome();
    const [request] = await next.open();
    assert.deepEqual([request?.source, ran(here)], ["recovery", ["ran"]]);
  });

test(
  "kill -9 before and after every commit: every command runs once, and nobody is asked what became of it",
  { skip: options.skip || (!thorough && "for npm run test:faults"), timeout: 900_000 },
  async (t) => {
    let kills = 0;
    const killAt = async (nth: number, side: "before" | "after"): Promise<boolean> => {
      using here = workspace();
      writeFileSync(here.path("go"), "");
      writeFileSync(
        here.path("script.json"),
        JSON.stringify([{ calls: [bash(line), bash("echo ran >> again")] }, { text: "all done" }]),
      );
      const env = { OUTLIVE: "1", ANSWER: "self" };
      const first = await startRunner([here.dir, "s"], { env: { ...env, ...killAtCommit(nth, side) } }).ended;
      if (first.signal !== "SIGKILL") return false;
      kills++;
      const second = await startRunner([here.dir, "s"], { env }).ended;
      assert.match(second.out, /all done/, `${nth} ${side}: ${second.err}`);
      const store = sqliteStore(here.path("journal.db"));
      assert.deepEqual(
        [ran(here), asked(store.load("s")).filter((source) => source === "recovery")],
        [["ran"], []],
        `${nth} ${side}`,
      );
      store.close();
      return true;
    };
    for (let nth = 1; (await Promise.all([killAt(nth, "before"), killAt(nth, "after")])).includes(true); nth++);
    t.diagnostic(`${kills} kills`);
  },
);
