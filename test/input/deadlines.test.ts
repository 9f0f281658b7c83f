// Deadlines of requests: what they end, when, and that silence grants nothing.
import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { suite, test, type TestContext } from "node:test";
import { arm } from "../../src/input/deadlines.ts";
import { prepare, respond } from "../../src/input/respond.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { LocalStore, Store } from "../../src/journal/store/store.ts";
import type { InputRequest, Resolution } from "../../src/protocol/facts/request.ts";
import type { Deadline, DeadlinePolicy } from "../../src/protocol/facts/silence.ts";
import { said, SageError } from "../../src/protocol/reasons/reason.ts";
import { fact, keys, opened, requestFor, state } from "../journal/journals.ts";
import { colour, bash, lin, red, asker } from "./askers.ts";

const LOOK_MS = 30_000;
const MAX_STEPS = 10_000;

/** Wall and monotonic time in the test's hands. */
function clock(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let monotonic = 5_000;
  let wall = 1_000_000_000;
  let uptime = 50_000;
  t.mock.method(performance, "now", () => monotonic);
  t.mock.method(Date, "now", () => wall);
  const real = os.uptime;
  os.uptime = () => uptime / 1_000;
  syncBuiltinESMExports();
  t.after(() => {
    os.uptime = real;
    syncBuiltinESMExports();
  });
  return {
    /** Time passes. */
    async pass(ms: number) {
      // Whoever enforces deadlines looks twice a minute.
      for (let left = ms; left > 0;) {
        const step = ms > MAX_STEPS * LOOK_MS ? left : Math.min(left, LOOK_MS);
        left -= step;
        monotonic += step;
        wall += step;
        uptime += step;
        t.mock.timers.tick(step);
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
    /** Somebody sets the wall clock. */
    set: (by: number) => void (wall += by),
    /** The process is gone for a while. */
    away: (ms: number) => void ([wall, uptime] = [wall + ms, uptime + ms]),
  };
}

const timedOut = (store: LocalStore, id = "s/t0/ask0") => store.resolution(id)?.outcome === "timed_out";

suite("a deadline", () => {
  test("is part of the request from the start, and the asker's own comes before the run's", () => {
    const { ask: request, log } = asker(memoryStore(), { promptTimeout: 60_000, timeoutPolicy: "cancel" });
    const own: Deadline = { at: Date.now() + 5, timeoutMs: 5, policy: "fail" };
    const before = Date.now();
    const { deadline } = request("ask0").request;
    assert.deepEqual([deadline?.timeoutMs, deadline?.policy], [60_000, "cancel"]);
    assert.ok(deadline && deadline.at >= before + 60_000 && deadline.at <= Date.now() + 60_000);
    assert.deepEqual(request("ask1", { ...colour, deadline: own }).request.deadline, own);
    log.release();
  });

  test("is not there by default: waiting is", async (t) => {
    const time = clock(t);
    const { ask: request, log } = asker();
    const asked = request("ask0");
    assert.equal(asked.request.deadline, undefined);
    const waiting = asked.wait();
    await time.pass(1e12);
    assert.equal(await state(waiting), "waits");
    log.release();
    await assert.rejects(waiting);
  });

  test("ends a request when it has passed, not a moment earlier, and a late answer is told so", async (t) => {
    const time = clock(t);
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 60_000 });
    const waiting = request("ask0").wait();
    await time.pass(59_999);
    assert.equal(await state(waiting), "waits");
    await time.pass(1);
    const { at, ...resolution } = await waiting;
    assert.deepEqual(resolution, {
      requestId: "s/t0/ask0",
      by: "deadline",
      surface: "deadline",
      outcome: "timed_out",
      reason: { code: "no-answer-within", args: { timeoutMs: 60_000 } },
    });
    assert.equal(at, 1_000_060_000);
    const late = await respond(store, red, lin);
    assert.deepEqual([late.won, late.resolution.outcome], [false, "timed_out"]);
    log.release();
  });

  test("leaves an answer that came in time alone", async (t) => {
    const time = clock(t);
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 60_000 });
    const waiting = request("ask0").wait();
    await time.pass(59_999);
    await respond(store, red, lin);
    assert.equal((await waiting).by, "Lin");
    await time.pass(1_000_000);
    assert.equal(store.since("s", 0).filter(({ type }) => type === "input.resolved").length, 1);
    log.release();
  });

  test("does not run on when its turn was stopped: leaving resolves nothing", async (t) => {
    const time = clock(t);
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 60_000 });
    const waiting = request("ask0").wait();
    log.close();
    await assert.rejects(waiting, { name: "Stopped", why: "leaving" });
    await time.pass(1_000_000);
    assert.deepEqual(
      store.pending().map(({ id }) => id),
      ["s/t0/ask0"],
    );
  });

  test("of several, the nearest comes first, whatever the order they were set in; and each ends once, by its own time", async (t) => {
    const time = clock(t);
    const { store, log, ask: request } = asker();
    const heard: string[] = [];
    store.hub.subscribe("s", { fact: ({ type, key }) => type === "input.resolved" && heard.push(key) });
    const waiting = [300, 100, 400, 200].map((timeoutMs) =>
      request(`ask${timeoutMs}`, {
        ...colour,
        deadline: { at: Date.now() + timeoutMs, timeoutMs, policy: "fail" },
      }).wait(),
    );
    await time.pass(100);
    assert.deepEqual(heard, ["t0/ask100.resolved"]);
    await time.pass(250); // a busy process comes late to two of them
    assert.deepEqual(heard, ["t0/ask100.resolved", "t0/ask200.resolved", "t0/ask300.resolved"]);
    await time.pass(50);
    assert.equal(heard.length, 4);
    await Promise.all(waiting);
    log.release();
  });

  test("that passes before its request is on disk ends nothing: another process may ask the same anew", async (t) => {
    const time = clock(t);
    const real = memoryStore();
    const { promise: written, resolve } = Promise.withResolvers<void>();
    const commit: Store["commit"] = async (...all) => {
      await written;
      real.commit(...all);
    };
    const store = { ...real, commit } as LocalStore;
    const { ask: request } = asker(store, { promptTimeout: 1_000 });
    const waiting = request("ask0").wait();
    await time.pass(5_000);
    assert.equal(timedOut(real), false);
    resolve();
    for (let n = 0; n < 4; n++) await time.pass(1_000);
    assert.equal((await waiting).outcome, "timed_out");
    assert.deepEqual(
      keys(real.load("s")).filter((key) => key.includes("ask0")),
      ["t0/ask0", "t0/ask0.resolved"],
    );
  });

  test("that is longer than a timer can be is counted in pieces", async (t) => {
    const time = clock(t);
    const day = 86_400_000;
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 60 * day });
    const waiting = request("ask0").wait();
    for (let gone = 0; gone < 60; gone++) {
      assert.equal(timedOut(store), false, `after ${gone} days`);
      await time.pass(day);
    }
    assert.equal((await waiting).outcome, "timed_out");
    log.release();
  });

  test("never asks for a timer that would fire at once", (t) => {
    const delays: number[] = [];
    t.mock.method(globalThis, "setTimeout", ((_: unknown, delay: number) =>
      delays.push(delay)) as unknown as typeof setTimeout);
    t.mock.method(globalThis, "clearTimeout", () => {});
    const store = memoryStore();
    for (const timeoutMs of [2 ** 31, 1e15, Infinity]) {
      const disarm = arm(store, {
        ...requestFor("ask0"),
        deadline: { at: Date.now() + timeoutMs, timeoutMs, policy: "fail" },
      });
      disarm();
    }
    assert.deepEqual(
      delays.filter((delay) => !(delay > 1 && delay <= 2 ** 31 - 1)),
      [],
    );
  });

  test("goes on after a restart with what was left, and one that passed meanwhile ends at once", async (t) => {
    const time = clock(t);
    const store = memoryStore();
    const first = asker(store, { promptTimeout: 10_000 });
    const waiting = [
      first.ask("ask0").wait(),
      first.ask("ask1", { ...colour, deadline: { at: Date.now() + 6_000, timeoutMs: 6_000, policy: "fail" } }).wait(),
    ];
    const left = Promise.allSettled(waiting);
    await time.pass(4_000);
    first.log.close();
    await left;
    time.away(3_000);
    assert.deepEqual([timedOut(store), timedOut(store, "s/t0/ask1")], [false, false], "nobody was there to end it");

    const second = asker(anotherProcess(store), { promptTimeout: 10_000 });
    const again = [second.ask("ask0").wait(), second.ask("ask1").wait()];
    await time.pass(1);
    assert.deepEqual([timedOut(store), timedOut(store, "s/t0/ask1")], [false, true]);
    await time.pass(2_998);
    assert.equal(timedOut(store), false);
    await time.pass(1);
    assert.equal(timedOut(store), true);
    await Promise.all(again);
    second.log.release();
  });

  test("is not moved by a wall clock that is set while the process lives", async (t) => {
    const time = clock(t);
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 60_000 });
    const waiting = request("ask0").wait();
    time.set(3_600_000);
    await time.pass(59_999);
    assert.equal(timedOut(store), false, "an hour forward ends nothing early");
    time.set(-7_200_000);
    await time.pass(1);
    assert.equal((await waiting).outcome, "timed_out", "an hour back keeps nobody waiting");
    log.release();
  });

  test("is not moved either while a turn that was stopped begins again in the same process", async (t) => {
    const time = clock(t);
    const first = asker(memoryStore(), { promptTimeout: 60_000 });
    const left = Promise.allSettled([first.ask("ask0").wait()]);
    await time.pass(20_000);
    first.log.close();
    await left;
    time.set(3_600_000);
    const second = asker(first.store, { promptTimeout: 60_000 });
    const waiting = second.ask("ask0").wait();
    await time.pass(39_999);
    assert.equal(timedOut(first.store), false);
    await time.pass(1);
    assert.equal((await waiting).outcome, "timed_out");
    second.log.release();
  });

  test("makes nobody wait longer than was said when the wall clock was set back before a restart", async (t) => {
    const time = clock(t);
    const store = memoryStore();
    const first = asker(store, { promptTimeout: 60_000 });
    const left = Promise.allSettled([first.ask("ask0").wait()]);
    first.log.close();
    await left;
    time.set(-10 * 365 * 86_400_000);
    const second = asker(anotherProcess(store));
    const waiting = second.ask("ask0").wait();
    await time.pass(60_000);
    assert.equal((await waiting).outcome, "timed_out");
    second.log.release();
  });

  test("that passed while nobody ran the session comes before an answer: the answer is told so", async (t) => {
    const time = clock(t);
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 10_000 });
    const left = Promise.allSettled([request("ask0").wait()]);
    log.release();
    await left;
    time.away(9_999);
    const early = await prepare(anotherProcess(store), red, lin);
    assert.ok(!("won" in early) && "resolution" in early && early.resolution.outcome === "answered");
    time.away(2);
    const late = await respond(anotherProcess(store), red, lin);
    assert.deepEqual([late.won, late.resolution.outcome, timedOut(store)], [false, "timed_out", true]);
  });

  test("is measured by whoever runs the session: an answer from elsewhere counts, whatever the wall clock says there", async (t) => {
    const time = clock(t);
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 60_000 });
    const waiting = request("ask0").wait();
    time.set(3_600_000);
    await time.pass(59_900);
    time.away(200); // its timer is a little late
    assert.equal((await respond(anotherProcess(store), red, lin)).won, true);
    assert.equal((await waiting).outcome, "answered");
    log.release();
  });

  test("is measured on while its turn is paused: an answer in the same process counts, whatever the wall clock says", async (t) => {
    const time = clock(t);
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 60_000 });
    const left = Promise.allSettled([request("ask0").wait()]);
    log.release();
    await left;
    time.set(3_600_000);
    assert.equal((await respond(store, red, lin)).won, true);
  });

  test("that cannot be recorded is tried again until it can, and disturbs no other", async (t) => {
    const time = clock(t);
    const { ask: request, store, log } = asker(memoryStore(), { promptTimeout: 1_000 });
    const waiting = request("ask0").wait();
    const other = request("ask1").wait();
    const append = store.append;
    let refusals = 0;
    const broken = t.mock.method(store, "append", ((session, given) => {
      if (given.key === "t0/ask1.resolved") return append(session, given);
      refusals++;
      throw new SageError("disk-full", said("not recorded"));
    }) as LocalStore["append"]);
    await time.pass(1_000);
    assert.equal((await other).outcome, "timed_out");
    for (let second = 0; second < 3; second++) await time.pass(1_000);
    assert.equal(await state(waiting), "waits");
    assert.equal(refusals, 4, "once a second, not more");
    broken.mock.restore();
    await time.pass(1_000);
    assert.equal((await waiting).outcome, "timed_out");
    log.release();
  });

  test("of one journal does not push aside another journal's under the same name", async (t) => {
    const time = clock(t);
    const askers = [asker(memoryStore(), { promptTimeout: 100 }), asker(memoryStore(), { promptTimeout: 200 })];
    const waiting = askers.map(({ ask: request }) => request("ask0").wait());
    await time.pass(100);
    assert.equal((await waiting[0])?.outcome, "timed_out");
    await time.pass(100);
    assert.equal((await waiting[1])?.outcome, "timed_out");
    for (const { log } of askers) log.release();
  });

  test("may have a default answer, which is used under the request's id and marked as late", async (t) => {
    const time = clock(t);
    const fallback = { ...red, requestId: "" };
    const { ask: request, log } = asker(memoryStore(), { promptTimeout: 1_000, timeoutPolicy: { default: fallback } });
    const waiting = request("ask0").wait();
    await time.pass(1_000);
    const resolution = await waiting;
    assert.equal(resolution.outcome, "timed_out");
    assert.deepEqual("response" in resolution && resolution.response, red);
    log.release();
  });

  test("may refuse a permission by default", async (t) => {
    const time = clock(t);
    const timeoutPolicy: DeadlinePolicy = { default: { type: "denied", requestId: "", reason: "nobody was there" } };
    const { ask: request, log } = asker(memoryStore(), { promptTimeout: 1_000, timeoutPolicy });
    const waiting: Promise<Resolution> = request("permit0", bash).wait();
    await time.pass(1_000);
    const resolution = await waiting;
    assert.deepEqual("response" in resolution && resolution.response, {
      type: "denied",
      requestId: "s/t0/permit0",
      reason: "nobody was there",
    });
    log.release();
  });

  for (const type of ["granted", "cancelled"] as const)
    test(`may not let a permission end as "${type}" by silence: it is not even opened`, () => {
      const policy: DeadlinePolicy = { default: { type, requestId: "" } };
      const byRun = asker(memoryStore(), { promptTimeout: 1_000, timeoutPolicy: policy });
      const byAsker = asker();
      const own = { ...bash, deadline: { at: Date.now() + 1_000, timeoutMs: 1_000, policy } };
      for (const [{ store, log, ask: request }, given] of [
        [byRun, bash],
        [byAsker, own],
      ] as const) {
        assert.throws(() => request("permit0", given), {
          name: "SageError",
          code: "config-invalid",
          message: new RegExp(`may only be "denied"; got "${type}"`),
        });
        log.release();
        assert.deepEqual(keys(store.since("s", 1)), []);
      }
    });

  test("works for a request that is armed by hand, once", async (t) => {
    const time = clock(t);
    const store = memoryStore();
    store.create("s", opened);
    const request: InputRequest = {
      ...requestFor("t0/ask0"),
      deadline: { at: Date.now() + 50, timeoutMs: 50, policy: "cancel" },
    };
    store.commit("s", store.claim("s"), [fact("t0/ask0", "input.requested", request)]);
    const disarm = arm(store, request);
    await time.pass(50);
    disarm();
    disarm();
    assert.equal(timedOut(store), true);
  });
});

/** The same journal as another process has it: what this one keeps beside its store is not there. */
function anotherProcess(store: LocalStore): LocalStore {
  return { ...store, member: memoryStore().member };
}
