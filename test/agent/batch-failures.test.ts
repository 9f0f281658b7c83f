import assert from "node:assert/strict";
import { test } from "node:test";
import { allOf } from "../../src/agent/turn/loop.ts";
import { NeedsInput } from "../../src/input/ask.ts";

const needs = new NeedsInput("s/t0/0/0/permit0");
const first = new Error("first");
const second = new Error("second");
const done = { ok: true, text: "done" };

test("of several failures in one reply the first real one counts, and that a person is needed only where nothing else failed", async () => {
  const failing = (...outcomes: (Error | typeof done)[]) =>
    allOf(outcomes.map((one) => (one instanceof Error ? Promise.reject(one) : Promise.resolve(one))));
  assert.deepEqual(await failing(done, done), [done, done]);
  await assert.rejects(failing(done, needs), needs);
  await assert.rejects(failing(needs, first, second), first);
  await assert.rejects(failing(second, needs, first), second);
});

test("nothing of a reply goes on behind the loop's back: every call has ended before a failure is told", async () => {
  let ended = false;
  const slow = new Promise<typeof done>((resolve) => setImmediate(() => ((ended = true), resolve(done))));
  await assert.rejects(allOf([Promise.reject(first), slow]), first);
  assert.equal(ended, true);
});
