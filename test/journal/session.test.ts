// One process's hold on a session: what is decided, run and streamed once, and what replays.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Durable } from "../../src/journal/session/durable.ts";
import { openSession, SessionLog } from "../../src/journal/session/session.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import type { Delta, FactData } from "../../src/protocol/facts/fact.ts";
import { said as inWords, type Reason } from "../../src/protocol/reasons/reason.ts";
import { journals, keys, plain, said } from "./journals.ts";
import { colour, begun, started, result, never, reason, nextTick, lost, written } from "./sessions.ts";

/** As a crash inside the effect: started is on disk, an end is not. */
async function interrupt(log: SessionLog, key: string): Promise<void> {
  const dying = log
    .branch("")
    .once(key, async () => (log.close(), result("never recorded")), { started: () => started });
  await assert.rejects(dying, { name: "Stopped", why: "leaving" });
}

for (const { name, open } of journals)
  suite(`a session in a ${name} store`, () => {
    test("a decision is made once and replayed ever after", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      assert.deepEqual(
        first.branch("").decide("t0", "turn.begun", () => begun),
        begun,
      );
      first.release();
      const second = openSession(journal.restart(), "s");
      assert.deepEqual(second.branch("").decide("t0", "turn.begun", never), begun);
      second.release();
      assert.deepEqual(keys(journal.store.since("s", 0)), ["session", "t0"]);
    });

    test("a step that ended is not run again; one that failed or was cut off is", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      const line = first.branch("t0");
      assert.deepEqual(await line.step("0/a", "call.unknown", reason("done")), { reason: inWords("done") });
      const failing = line.step("0/b", "call.unknown", async () => {
        throw new Error("the network broke");
      });
      await assert.rejects(failing, { message: "the network broke" });
      first.flush();
      const cutOff = line.step(
        "0/c",
        "call.unknown",
        async () => (first.close(), { reason: inWords("never recorded") }),
      );
      await assert.rejects(cutOff, { name: "Stopped" });
      first.release();

      const second = openSession(journal.restart(), "s");
      const again = second.branch("t0");
      assert.deepEqual(await again.step("0/a", "call.unknown", never), { reason: inWords("done") });
      assert.deepEqual(await again.step("0/b", "call.unknown", reason("now")), { reason: inWords("now") });
      assert.deepEqual(await again.step("0/c", "call.unknown", reason("now too")), { reason: inWords("now too") });
      second.release();
      assert.deepEqual(keys(journal.store.since("s", 0)), ["session", "t0/0/a", "t0/0/b", "t0/0/c"]);
    });

    test("an effect is on disk as started, with all that was decided before it, when it runs; and runs once", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      const line = first.branch("t0/0");
      line.decide("judged", "calls.judged", () => ({ verdicts: [] }));
      const seen: string[][] = [];
      const effect = async () => (seen.push(keys(journal.other.since("s", 1))), result("ran"));
      assert.deepEqual(await line.once("run0", effect, { started: () => started }), { ok: true, value: result("ran") });
      assert.deepEqual(seen, [["t0/0/judged", "t0/0/run0.started"]]);
      first.release();

      const second = openSession(journal.restart(), "s");
      const options = { started: never, reconcile: never };
      assert.deepEqual(await second.branch("t0/0").once("run0", never, options), { ok: true, value: result("ran") });
      second.release();
      assert.deepEqual(written(journal.store)["t0/0/run0.started"], started);
      assert.deepEqual(written(journal.store)["t0/0/run0.finished"], result("ran"));
    });

    const reconciled: Record<
      string,
      {
        found?: () => Promise<FactData["call.finished"] | "again" | undefined>;
        ran: boolean;
        ends: { ok: boolean; [more: string]: unknown };
        record: unknown;
      }
    > = {
      "its result, when the world still shows it": {
        found: async () => result("found"),
        ran: false,
        ends: { ok: true, value: result("found") },
        record: result("found"),
      },
      "another run, when it surely did not happen": {
        found: async () => "again",
        ran: true,
        ends: { ok: true, value: result("ran") },
        record: result("ran"),
      },
      "unknown, when nothing can be told": {
        found: async () => undefined,
        ran: false,
        ends: { ok: false, running: [] },
        record: lost,
      },
      "unknown, when nobody can look": { ran: false, ends: { ok: false, running: [] }, record: lost },
    };
    for (const [how, expected] of Object.entries(reconciled))
      test(`an effect that was cut off is not run silently again; it ends as ${how}`, async () => {
        using journal = open();
        await interrupt(openSession(journal.store, "s"), "run0");
        assert.deepEqual(keys(journal.other.since("s", 1)), ["run0.started"]);

        const looked: unknown[] = [];
        let ran = false;
        const { found } = expected;
        const reconcile = found && { reconcile: (before: unknown) => (looked.push(plain(before)), found()) };
        const second = openSession(journal.restart(), "s");
        const options = { started: never, ...reconcile };
        const ended = await second.branch("").once("run0", async () => ((ran = true), result("ran")), options);
        const since = journal.store.since("s", 1)[0]?.at ?? 0;
        const ends = expected.ends.ok ? expected.ends : { ...expected.ends, since };
        assert.deepEqual(ended, ends);
        assert.deepEqual([ran, looked], [expected.ran, found ? [started] : []]);
        second.release();
        assert.deepEqual(keys(journal.store.since("s", 1)), ["run0.started", "run0.finished"]);
        assert.deepEqual(written(journal.store)["run0.finished"], expected.record);

        const third = openSession(journal.restart(), "s");
        const replayed = await third.branch("").once("run0", never, { started: never, reconcile: never });
        assert.deepEqual(replayed, ends, "the next process is told the same and asks nobody");
        third.release();
        assert.deepEqual(keys(journal.store.since("s", 1)), ["run0.started", "run0.finished"]);
      });

    test("an effect that throws leaves its end unknown", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      const failing = first
        .branch("")
        .once("run0", () => Promise.reject(new Error("broken pipe")), { started: () => started });
      await assert.rejects(failing, { message: "broken pipe" });
      first.release();
      const second = openSession(journal.restart(), "s");
      const since = journal.store.since("s", 1)[0]?.at;
      assert.deepEqual(await second.branch("").once("run0", never, { started: never }), {
        ok: false,
        running: [],
        since,
      });
      second.release();
    });

    test("what is only decided is on disk one tick later, without being asked for", async () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      log.branch("").decide("t0", "turn.begun", () => begun);
      await log.branch("").step("t0/0", "call.unknown", reason(""));
      assert.deepEqual(keys(journal.other.since("s", 1)), []);
      await nextTick();
      assert.deepEqual(keys(journal.other.since("s", 1)), ["t0", "t0/0"]);
      log.release();
    });

    test("a closed branch replays what is known, and nothing new happens on it", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      const line = first.branch("t0/0");
      await line.step("model", "call.unknown", reason("known"));
      await line.branch("0").once("run0", async () => result("ran"), { started: () => started });
      line.branch("1").open("ask0", colour);
      first.release();
      await interrupt(openSession(journal.store, "s"), "t0/0/2/run0");

      const second = openSession(journal.restart(), "s");
      const closed = second.branch("t0").closedBranch("0");
      const interrupted = { name: "Stopped", why: "interrupted" };
      assert.deepEqual(await closed.step("model", "call.unknown", never), { reason: inWords("known") });
      assert.deepEqual(await closed.branch("0").once("run0", never, { started: never }), {
        ok: true,
        value: result("ran"),
      });
      assert.equal(closed.branch("1").open("ask0", colour).request.id, "s/t0/0/1/ask0");
      await assert.rejects(closed.step("judged", "calls.judged", never), interrupted);
      await assert.rejects(closed.branch("0").once("run1", never, { started: never }), interrupted);
      assert.throws(() => closed.branch("1").open("ask1", colour), interrupted);
      const again = { started: never, reconcile: async () => "again" as const };
      await assert.rejects(closed.branch("2").once("run0", never, again), interrupted, "not even what may run again");
      assert.match(String(closed.stopped), /Stopped/);
      assert.equal(second.stopped, undefined, "elsewhere work goes on");
      await second.branch("t0").branch("1").step("model", "call.unknown", reason("goes on"));
      assert.deepEqual(
        closed.branch("3").decide("done", "call.finished", () => result("not run")),
        result("not run"),
        "how a call ended without running is recorded",
      );
      second.release();
    });

    test("knows which attempt was interrupted, also by what it wrote before it heard", () => {
      using journal = open();
      const attempt = (n: number) => ({
        from: { state: "initializing" as const },
        to: { state: "executing" as const, phase: "preparingContext" as const },
        at: n,
      });
      const write = (log: SessionLog, key: string) => log.commits.add(key, "call.unknown", { reason: inWords("") });
      const first = openSession(journal.store, "s");
      first.commits.add("state/1.0", "state.changed", attempt(1));
      write(first, "t0/0/model");
      first.release();
      const second = openSession(journal.store, "s");
      second.commits.add("state/2.0", "state.changed", attempt(2));
      write(second, "t0/1/model");
      second.flush();
      const data = { to: "pause" as const, by: "Lin", surface: "test" };
      journal.store.append("s", { key: "interrupt/1", type: "turn.interrupted", at: 1, data });
      write(second, "t0/2/model");
      second.release();
      const third = openSession(journal.store, "s");
      third.commits.add("state/3.0", "state.changed", attempt(3));
      write(third, "t0/3/model");
      third.release();
      const last = openSession(journal.restart(), "s").branch("t0");
      assert.deepEqual(
        ["0/model", "1/model", "2/model", "3/model"].map((key) => last.interruptedSince(key)),
        [true, true, true, false],
        "calls of a reply are those of every attempt until they have ended",
      );
    });

    test("a finished turn is not replayed: its keys are not met again", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      first.branch("t0").decide("0/model", "call.unknown", () => ({ reason: inWords("") }));
      const end = {
        status: "success",
        text: "",
        usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
        stats: { steps: 0, toolCalls: 0, modelCalls: 0, durationMs: 0 },
      } as const;
      first.branch("").decide("t0.ended", "turn.ended", () => end);
      first.branch("").decide("t1", "turn.begun", () => begun);
      first.release();
      const second = openSession(journal.restart(), "s");
      assert.equal(second.peek("t0/0/model"), undefined);
      assert.equal(second.peek("t1")?.type, "turn.begun");
      second.release();
    });

    for (const [to, why, code] of [
      ["pause", "interrupted", "interrupted-by"],
      ["cancel", "cancelled", "stopped-by"],
    ] as const)
      test(`whoever runs the session hears another's "${to}"`, async () => {
        using journal = open();
        const log = openSession(journal.store, "s");
        const waiting = log.branch("t0").open("ask0", colour).wait();
        const outcome = assert.rejects(waiting, { name: "Stopped", why, reason: { code, args: { by: "Ann" } } });
        journal.other.append("s", {
          key: "interrupt/1",
          type: "turn.interrupted",
          at: 1,
          data: { to, by: "Ann", surface: "other" },
        });
        await outcome;
        log.release();
      });

    test("what people say is known from before and heard as it comes, in order", async () => {
      using journal = open();
      journal.store.append("s", said("said/1", "one"));
      const log = openSession(journal.store, "s");
      journal.store.append("s", said("said/2", "two"));
      assert.deepEqual(keys(log.said), ["said/1", "said/2"]);
      assert.equal(log.lastSeq, 3);
      log.release();
    });

    test("what is streamed is numbered upwards; a restart and a new owner outrank what came before", async () => {
      using journal = open();
      const shown: Delta[] = [];
      const watch = (store: LocalStore) =>
        store.hub.subscribe("s", { fact: () => {}, delta: (delta) => shown.push(delta) });
      const speak = (log: SessionLog) =>
        log.branch("t0/0").step("model", "call.unknown", async (scope) => {
          scope.delta("text", "a");
          scope.delta("reasoning", "b");
          scope.restart();
          scope.delta("text", "c");
          scope.delta("text", "d");
          throw new Error("the connection broke");
        });
      watch(journal.store);
      const first = openSession(journal.store, "s");
      await assert.rejects(speak(first));
      first.release();
      const store = journal.restart();
      if (store !== first.store) watch(store);
      const second = openSession(store, "s");
      await assert.rejects(speak(second));
      second.release();

      assert.deepEqual(
        shown.map(({ session, key, kind, text, n }) => [session, key, kind, text, n]),
        [0, 1].flatMap(() => [
          ["s", "t0/0/model", "text", "a", 0],
          ["s", "t0/0/model", "reasoning", "b", 1],
          ["s", "t0/0/model", "text", "c", 0],
          ["s", "t0/0/model", "text", "d", 1],
        ]),
      );
      const attempts = shown.map(({ attempt }) => attempt);
      assert.deepEqual(
        attempts.map((attempt) => [...new Set(attempts)].sort((a, b) => a - b).indexOf(attempt)),
        [0, 0, 1, 1, 2, 2, 3, 3],
      );
      assert.deepEqual(keys(store.since("s", 1)), [], "nothing of it is kept");
    });

    test("branches of one session interleave: a key is a path, not an order", async () => {
      using journal = open();
      const work = async (log: SessionLog, order: number[]) => {
        const lines: Durable[] = [0, 1, 2].map((n) => log.branch("t0").branch(`${n}`));
        const values: Record<number, Reason> = {};
        for (const n of order) {
          const line = lines[n] ?? assert.fail();
          values[n] = (await line.step("a", "call.unknown", reason(`made in place ${order.indexOf(n)}`))).reason;
        }
        log.release();
        return values;
      };
      const first = await work(openSession(journal.store, "s"), [2, 0, 1]);
      const second = await work(openSession(journal.restart(), "s"), [0, 1, 2]);
      assert.deepEqual(second, first);
    });
  });
