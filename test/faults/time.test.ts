// T7: a machine that slept, and a clock that somebody sets. (Single jumps: the scene "clock", test/input/asking.test.ts; at random: the simulation.)
import assert from "node:assert/strict";
import { test } from "node:test";
import { arm } from "../../src/input/deadlines.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { fact, opened, requestFor } from "../journal/journals.ts";
import { virtualTime } from "./clock.ts";
import { dice, seed } from "./rounds.ts";

const MINUTE = 60_000;

test("no deadline passes while the machine sleeps: all moments move by that time, and each ends its request once, in their order", async () => {
  using time = virtualTime();
  const store = memoryStore();
  const roll = dice(seed);
  store.create("s", opened);
  const epoch = store.claim("s");
  const requests = Array.from({ length: 120 }, (_, n): InputRequest => {
    const timeoutMs = n < 100 ? MINUTE + roll.below(400 * MINUTE) : 1_000 * MINUTE;
    return {
      ...requestFor(`t0/0/${n}/ask0`),
      deadline: { at: time.now().wall + timeoutMs, timeoutMs, policy: "fail" },
    };
  });
  store.commit(
    "s",
    epoch,
    requests.map((request, n) => fact(`t0/0/${n}/ask0`, "input.requested", request)),
  );
  for (const request of requests) arm(store, request);
  time.jump(-3_600_000);
  await time.pass(MINUTE / 2);
  time.jump(7_200_000);
  assert.deepEqual(ended(store), [], "a clock that is set ends nothing");
  await time.sleep(480 * MINUTE);
  assert.deepEqual(ended(store), [], "nobody has looked yet");
  await time.pass(MINUTE);
  assert.deepEqual(ended(store), [], "nobody could be asked");
  const moves = store.load("s").flatMap((one) => (one.type === "time.moved" ? [one.data.to - one.data.from] : []));
  assert.ok(moves.length === 1 && Math.abs(moves[0]! - 480 * MINUTE) <= MINUTE);
  const now = store.find(requests[0]!.id)!.request.deadline!.at;
  assert.equal(now - requests[0]!.deadline!.at, moves[0], "and people see that");
  await time.pass(400 * MINUTE);
  const due = requests.slice(0, 100).toSorted((a, b) => a.deadline!.timeoutMs - b.deadline!.timeoutMs);
  assert.deepEqual(
    ended(store),
    due.map(({ id }) => id),
  );
  assert.equal(store.pending().length, 20);
  await time.pass(1_000 * MINUTE);
  assert.deepEqual(store.pending(), []);
  assert.equal(new Set(ended(store)).size, ended(store).length);
});

function ended(store: ReturnType<typeof memoryStore>): string[] {
  return store.load("s").flatMap((one) => (one.type === "input.resolved" ? [one.data.requestId] : []));
}
