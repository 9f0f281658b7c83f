// The time limit of a turn counts the time that it has worked, also in a process that was killed since.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { workedMs } from "../../src/agent/state/activity.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Script } from "../../src/models/scripted.ts";
import { startRunner } from "../support/process.ts";
import { bash, workspace } from "../support/sage.ts";

test("killed after its time was worked up, a turn has none left when it goes on, however long it lay", async () => {
  using here = workspace();
  const script = (...turns: Script & unknown[]) => writeFileSync(here.path("script.json"), JSON.stringify(turns));
  const work = { calls: [bash("sleep 1")] };
  script(work, { text: "never", delayMs: 600_000 });
  const first = startRunner([here.dir, "s"], { env: { ANSWER: "self" } });
  await first.until(/call.finished/);
  first.child.kill("SIGKILL");
  await first.ended;
  const store = sqliteStore(here.path("journal.db"));
  const worked = workedMs(store.load("s"));
  store.close();
  assert.ok(worked >= 900, `${worked} ms are known`);
  script(work, { text: "too late", delayMs: 50 });
  const env = { ANSWER: "self", OPTIONS: JSON.stringify({ executionTimeout: worked }) };
  assert.match((await startRunner([here.dir, "s"], { env }).ended).out, /"status":"error"/);
});

const states = ["initializing", "executing", "waitingForConfirmation", "executing", "paused"];
const change = (n: number, at: number) =>
  ({ type: "state.changed", at, data: { from: { state: states[n] }, to: { state: states[n + 1] } } }) as never;
const fact = (type: string, at: number, data = {}) => ({ type, at, data }) as never;
const asked = (at: number, id: string) => fact("input.requested", at, { id });
const answered = (at: number, requestId: string) => fact("input.resolved", at, { requestId });

test("waiting for a person, a pause and the time in which nobody ran the turn are no work", () => {
  const begun = [change(0, 0), fact("model.replied", 10), asked(20, "a")];
  const first = [...begun, answered(5_000, "a"), fact("call.started", 5_005)];
  assert.equal(workedMs(first), 25);
  const said = fact("user.said", 90_000); // while it was dead
  assert.equal(workedMs([...first, said, change(0, 100_000), fact("model.replied", 100_007)]), 32);
  for (const type of ["message.withdrawn", "mode.chosen", "rule.added", "rule.removed"])
    assert.equal(workedMs([...first, fact(type, 90_000), change(0, 100_000)]), 25, type);
  assert.equal(workedMs([change(0, 0), change(3, 4), change(0, 800), fact("model.replied", 801)]), 5);
  const resumed = [...begun, change(0, 3_000), answered(5_000, "a"), fact("call.started", 5_005)];
  assert.equal(workedMs(resumed), 25, "another process waits on");
  const dead = [...begun, answered(5_000, "a"), change(0, 9_000), fact("call.started", 9_005)];
  assert.equal(workedMs(dead), 25, "answered while nobody ran it");
});

test("a turn waits while any of its requests is open", () => {
  const both = [change(0, 0), asked(10, "a"), asked(10, "b"), answered(2_000, "a"), fact("call.started", 2_003)];
  assert.equal(workedMs(both), 10);
  assert.equal(workedMs([...both, answered(6_000, "b"), fact("call.started", 6_004)]), 14);
});

test("a turn that carries requests on from the one before waits for them, too", () => {
  const begun = [fact("turn.begun", 0, { carries: ["a", "b"] }), change(0, 0)];
  const answers = [answered(4_000, "a"), answered(5_000, "b"), fact("model.replied", 5_010)];
  assert.equal(workedMs([...begun, ...answers]), 10);
});

test("earlier versions wrote a change of state for each wait: the time is the same", () => {
  const first = [change(0, 0), fact("model.replied", 10), asked(20, "a"), change(1, 20)];
  assert.equal(workedMs([...first, answered(4_990, "a"), change(2, 5_000), fact("call.started", 5_005)]), 25);
});
