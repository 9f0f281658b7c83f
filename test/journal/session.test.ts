// One process's hold on a session: what replays, what is refused, and that nobody is left waiting.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Durable } from "../../src/journal/durable.ts";
import { openSession, SessionLog, Stopped } from "../../src/journal/session.ts";
import { memoryStore } from "../../src/journal/memory.ts";
import type { LocalStore, Store } from "../../src/journal/store.ts";
import {
  SageError,
  said as inWords,
  type Delta,
  type FactData,
  type NewRequest,
  type Reason,
  type Resolution,
} from "../../src/protocol/index.ts";
import { until } from "../support/until.ts";
import { answer, journals, keys, opened, plain, question, resolved, said, state } from "./journals.ts";

const colour: NewRequest = {
  kind: "question",
  questions: [question("Which colour?")],
  source: "tool",
  agent: [],
  why: inWords(""),
  digest: "",
};
const begun = { loop: 1, maxSteps: 100, sawUpTo: 0 };
const started: FactData["call.started"] = { tool: "Bash", effect: "writes", digest: "d", before: "hash" };
const result = (text: string) => ({ ok: true, text });
const never = (): never => assert.fail("must not be called");
const reason = (text: string) => async () => ({ reason: inWords(text) });
const nextTick = () => new Promise((resolve) => setImmediate(resolve));
const lost = { reason: { code: "end-unknown", args: {} } } as const;

/** What the store has of the session, by key. */
const written = (store: LocalStore): Record<string, unknown> =>
  Object.fromEntries(plain(store.since("s", 0)).map(({ key, data }) => [key, data]));

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

    test("a request keeps its id, its time and its words over every restart", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      const { request } = first.branch("t0/0/0").open("ask0", colour);
      assert.equal(request.id, "s/t0/0/0/ask0");
      first.release();
      const second = openSession(journal.restart(), "s");
      const other: NewRequest = { ...colour, why: inWords("the code has changed since") };
      const again = second.branch("t0/0/0").open("ask0", other);
      assert.deepEqual(plain(again.request), plain(request));
      assert.equal(again.resolution, undefined);
      const waiting = again.wait();
      assert.equal(await state(waiting), "waits");
      journal.store.append("s", resolved("t0/0/0/ask0", answer(request.id)));
      assert.deepEqual(await waiting, answer(request.id));
      second.release();
    });

    test("a request whose end is not on disk yet is open no more, and is not ended twice", () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const durable = log.branch("t0/0/0");
      const { request } = durable.open("ask0", colour);
      log.flush();
      const buffered = durable.open("ask1", colour).request; // its request is not on disk either
      const ids = () => log.pending().map(({ id }) => id);
      assert.deepEqual(ids(), [request.id, buffered.id]);
      durable.resolve(answer(request.id));
      durable.resolve(answer(buffered.id, "Blue"));
      assert.deepEqual(ids(), []);
      durable.withdraw(inWords("the turn is over"));
      log.flush();
      assert.deepEqual(
        [written(journal.store)["t0/0/0/ask0.resolved"], written(journal.store)["t0/0/0/ask1.resolved"]],
        [answer(request.id), answer(buffered.id, "Blue")],
      );
      log.release();
    });

    test("a request that was answered while nobody ran is settled when it is met again", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      first.branch("t0/0/0").open("ask0", colour);
      first.release();
      journal.store.append("s", resolved("t0/0/0/ask0", answer("s/t0/0/0/ask0")));
      const second = openSession(journal.restart(), "s");
      const settled = second.branch("t0/0/0").open("ask0", colour, never);
      assert.deepEqual(plain(settled.resolution), answer("s/t0/0/0/ask0"));
      second.stop(new Stopped("interrupted", inWords("too late to matter")));
      assert.deepEqual(plain(await settled.wait()), answer("s/t0/0/0/ask0"));
      second.release();
    });

    test("a request that is settled at once is told and committed together with its end", async () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const seen: { key: string; durable: string[]; pending: number }[] = [];
      journal.store.hub.subscribe("s", {
        fact: ({ key }) =>
          seen.push({ key, durable: keys(journal.other.since("s", 1)), pending: journal.other.pending().length }),
      });
      const settled = log.branch("t0/0/0").open("ask0", colour, ({ id }) => answer(id, "Red", "auto"));
      assert.equal(settled.resolution?.by, "auto");
      assert.equal((await settled.wait()).by, "auto");
      await nextTick();
      const both = ["t0/0/0/ask0", "t0/0/0/ask0.resolved"];
      assert.deepEqual(
        seen,
        both.map((key) => ({ key, durable: both, pending: 0 })),
      );
      log.release();
    });

    test("a request that was shown before may be settled at once now, but the first answer stays", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      first.branch("t0/0/0").open("ask0", colour);
      first.branch("t0/0/1").open("ask0", colour);
      first.release();
      const second = openSession(journal.restart(), "s");
      const auto = ({ id }: { id: string }) => answer(id, "Red", "auto");
      journal.other.append("s", resolved("t0/0/1/ask0", answer("s/t0/0/1/ask0", "Blue", "Ann")));
      const unanswered = second.branch("t0/0/0").open("ask0", colour, auto);
      const answered = second.branch("t0/0/1").open("ask0", colour, auto);
      assert.deepEqual([(await unanswered.wait()).by, (await answered.wait()).by], ["auto", "Ann"]);
      assert.deepEqual(journal.store.pending(), []);
      second.release();
    });

    test("requests are opened in order and in one commit, and are on disk before anybody waits for them", async () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const seen: string[][] = [];
      journal.store.hub.subscribe("s", { fact: () => seen.push(journal.other.pending().map(({ id }) => id)) });
      const requests = ["0", "1", "2"].map((call) => log.branch(`t0/0/${call}`).open("ask0", colour));
      assert.deepEqual(seen, [], "nothing is told yet");
      const waiting = requests.map((one) => one.wait());
      const ids = ["s/t0/0/0/ask0", "s/t0/0/1/ask0", "s/t0/0/2/ask0"];
      assert.deepEqual(seen, [ids, ids, ids]);
      for (const id of [...ids].reverse()) journal.store.append("s", resolved(id.slice(2), answer(id, "Red", id)));
      assert.deepEqual(
        (await Promise.all(waiting)).map(({ by }) => by),
        ids,
      );
      log.release();
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

    test("everyone who waits for one request is woken", async () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const request = log.branch("t0").open("ask0", colour);
      const waiting = [request.wait(), request.wait(), log.wait(request.request.id)];
      await nextTick();
      journal.store.append("s", resolved("t0/ask0", answer("s/t0/ask0")));
      assert.equal(new Set(await Promise.all(waiting)).size, 1);
      log.release();
    });

    test("stopping ends what waits and runs, starts nothing new, and still records what became of it", async () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const line = log.branch("t0");
      const request = line.open("ask0", colour);
      const waiting = [request.wait(), request.wait()];
      const working = line.step("work", "call.unknown", async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { reason: inWords(`aborted: ${(signal.reason as Error).message}`) };
      });
      const effect = line.once(
        "run0",
        async ({ signal }) => (
          await new Promise((resolve) => signal.addEventListener("abort", resolve)),
          result("half")
        ),
        { started: () => started },
      );
      await nextTick();
      const stopped = new Stopped("interrupted", inWords("Lin interrupted"));
      log.stop(stopped);
      log.stop(new Stopped("cancelled", inWords("and again")));
      assert.equal(log.stopped, stopped, "the first reason stays");
      for (const one of waiting) await assert.rejects(one, stopped);
      assert.deepEqual(await working, { reason: inWords("aborted: interrupted") });
      assert.deepEqual(await effect, { ok: true, value: result("half") });

      await assert.rejects(line.step("new", "call.unknown", never), stopped);
      await assert.rejects(line.once("new0", never, { started: never }), stopped);
      assert.throws(() => line.open("new", colour), stopped);
      await assert.rejects(request.wait(), stopped);
      line.decide("t0.ended", "call.unknown", () => ({ reason: inWords("recorded all the same") }));
      log.release();
      assert.deepEqual(keys(journal.store.since("s", 1)), [
        "t0/ask0",
        "t0/run0.started",
        "t0/work",
        "t0/run0.finished",
        "t0/t0.ended",
      ]);
      assert.equal(journal.store.pending().length, 1, "stopping resolves nothing");
    });

    test("a signal that is looked at only after the stop is aborted already", () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const stopped = new Stopped("cancelled", inWords("enough"));
      log.stop(stopped);
      assert.deepEqual([log.signal.aborted, log.signal.reason], [true, stopped]);
      log.release();
    });

    test("what is a fact already replays also after a stop", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      const line = first.branch("t0");
      await line.step("a", "call.unknown", reason("known"));
      await line.once("run0", async () => result("ran"), { started: () => started });
      line.open("ask0", colour);
      first.release();
      const second = openSession(journal.restart(), "s");
      second.stop(new Stopped("interrupted", inWords("")));
      const again = second.branch("t0");
      assert.deepEqual(await again.step("a", "call.unknown", never), { reason: inWords("known") });
      assert.deepEqual(await again.once("run0", never, { started: never }), { ok: true, value: result("ran") });
      assert.equal(again.open("ask0", colour).request.id, "s/t0/ask0");
      second.release();
    });

    test("closing ends what waits and refuses everything, and what was not written stays unwritten", async () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const line = log.branch("t0");
      const request = line.open("ask0", colour);
      const waiting = request.wait();
      const working = line.step("work", "call.unknown", async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { reason: inWords("never recorded") };
      });
      line.decide("buffered", "call.unknown", () => ({ reason: inWords("") }));
      log.close();
      log.close(new Error("once is enough"));
      const leaving = { name: "Stopped", why: "leaving" };
      await assert.rejects(waiting, leaving);
      await assert.rejects(working, leaving);
      await assert.rejects(request.wait(), leaving);
      await assert.rejects(line.step("a", "call.unknown", never), leaving);
      await assert.rejects(line.once("run0", never, { started: () => started }), leaving);
      assert.throws(() => line.decide("b", "call.unknown", () => ({ reason: inWords("") })), leaving);
      assert.throws(() => line.open("ask1", colour), leaving);
      assert.throws(() => log.flush(), leaving);
      await nextTick();
      assert.deepEqual(keys(journal.store.since("s", 1)), ["t0/ask0"]);
      assert.equal(journal.store.pending().length, 1, "leaving resolves nothing");
      journal.store.append("s", said("said/1", "nobody listens"));
      assert.deepEqual(log.said, []);
    });

    test("letting go writes what is left, and whoever is next may have the session at once", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      first.branch("").decide("t0", "turn.begun", () => begun);
      first.release();
      assert.deepEqual(keys(journal.other.since("s", 1)), ["t0"]);
      assert.equal(journal.other.session("s")?.owned, false);
      const second = openSession(journal.other, "s");
      assert.ok(second.epoch > first.epoch);
      assert.throws(() => first.branch("").decide("t1", "turn.begun", () => begun), { name: "Stopped" });
      second.release();
    });

    test("one who lost the session to another can record nothing, and all who wait or work in it are told", async () => {
      using journal = open();
      const first = openSession(journal.store, "s");
      const line = first.branch("t0");
      const requests = [line.open("ask0", colour), line.open("ask1", colour)];
      const waiting = requests.map((request) => request.wait());
      const outcomes = Promise.allSettled(waiting);
      let aborted: unknown;
      const working = line.step("work", "call.unknown", async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        aborted = signal.reason;
        return { reason: inWords("never recorded") };
      });
      const second = openSession(journal.store, "s");
      let ran = false;
      const effect = line.once("run0", async () => ((ran = true), result("")), { started: () => started });
      const lost = { name: "SageError", code: "lease-lost" };
      await assert.rejects(effect, lost);
      assert.equal(ran, false);
      for (const outcome of await outcomes)
        assert.equal(outcome.status === "rejected" && (outcome.reason as SageError).code, "lease-lost");
      await assert.rejects(working, lost);
      assert.equal((aborted as SageError).code, "lease-lost", "a running tool is told to end");
      assert.throws(() => line.decide("done", "call.unknown", () => ({ reason: inWords("") })), lost);
      await assert.rejects((requests[0] ?? assert.fail()).wait(), lost);
      first.release();

      second.branch("").decide("mine", "call.unknown", () => ({ reason: inWords("") }));
      second.release();
      assert.deepEqual(keys(journal.store.since("s", 1)), ["t0/ask0", "t0/ask1", "mine"]);
      assert.equal(journal.store.session("s")?.owned, false);
    });

    test("a commit that fails behind the loop's back leaves nobody waiting", async (t) => {
      using journal = open();
      const lost = new SageError("lease-lost", inWords("the session was taken over by another process"));
      const log = openSession(journal.store, "s");
      const line = log.branch("t0");
      const waiting = [line.open("ask0", colour).wait(), log.wait("s/elsewhere")];
      const outcomes = Promise.allSettled(waiting);
      t.mock.method(journal.store, "commit", () => {
        throw lost;
      });
      line.decide("a", "call.unknown", () => ({ reason: inWords("") }));
      await nextTick();
      assert.deepEqual(
        (await outcomes).map((one) => one.status === "rejected" && one.reason),
        [lost, lost],
      );
      assert.equal(log.signal.reason, lost);
      await assert.rejects(line.step("b", "call.unknown", never), lost);
      assert.throws(() => log.branch("").decide("c", "call.unknown", () => ({ reason: inWords("") })), lost);
      log.release();
    });

    for (const code of ["disk-full", "journal-locked"] as const)
      test(`${code}: what was to be written is kept and tried again, and no effect runs before it is on disk`, async (t) => {
        using journal = open();
        const log = openSession(journal.store, "s");
        const line = log.branch("t0/0");
        const commit = t.mock.method(journal.store, "commit", () => {
          throw new SageError(code, inWords("not recorded"), { retryable: true });
        });
        const ran: string[] = [];
        const running = line.branch("0").once("run0", async () => (ran.push("0"), result("ran")), {
          started: () => started,
        });
        const { request } = line.branch("1").open("ask0", colour);
        const waiting = line.branch("1").open("ask1", colour).wait();
        await nextTick();
        assert.deepEqual([ran, log.closed, log.idle], [[], false, false]);
        assert.deepEqual(
          log.pending().map(({ id }) => id),
          [request.id, "s/t0/0/1/ask1"],
          "open for this process, wherever they are on their way to the disk",
        );
        assert.deepEqual(journal.other.pending(), [], "nobody else has heard of them");
        commit.mock.restore();
        assert.deepEqual(await running, { ok: true, value: result("ran") });
        await log.flush();
        assert.deepEqual(keys(journal.other.since("s", 1)), [
          "t0/0/0/run0.started",
          "t0/0/1/ask0",
          "t0/0/1/ask1",
          "t0/0/0/run0.finished",
        ]);
        journal.store.append("s", resolved("t0/0/1/ask1", answer("s/t0/0/1/ask1")));
        assert.equal((await waiting).by, "Lin");
        await log.release();
      });

    test("a process that leaves while nothing can be written is not held up, and no fact of it appears later", async (t) => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const commit = t.mock.method(journal.store, "commit", () => {
        throw new SageError("disk-full", inWords("not recorded"), { retryable: true });
      });
      const running = log.branch("").once("run0", never, { started: () => started });
      await nextTick();
      log.close();
      await assert.rejects(running, { name: "Stopped", why: "leaving" });
      await log.release();
      commit.mock.restore();
      assert.deepEqual(keys(journal.other.since("s", 1)), []);
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

    test("a session that cannot be read is not held", (t) => {
      using journal = open();
      const damaged = new SageError("journal-damaged", inWords("record 7 is damaged"));
      const broken = t.mock.method(journal.store, "load", () => {
        throw damaged;
      });
      assert.throws(() => openSession(journal.store, "s"), damaged);
      assert.equal(journal.store.hub.cares("s", "", "call.started"), false, "nobody listens for it");
      assert.equal(journal.store.session("s")?.owned, false);
      broken.mock.restore();
      openSession(journal.other, "s").release();
    });

    test("knows which attempt was interrupted, also by what it wrote before it heard", () => {
      using journal = open();
      const attempt = (n: number) => ({
        from: { state: "initializing" as const },
        to: { state: "executing" as const, phase: "preparingContext" as const },
        at: n,
      });
      const write = (log: SessionLog, key: string) => log.add(key, "call.unknown", { reason: inWords("") });
      const first = openSession(journal.store, "s");
      first.add("state/1.0", "state.changed", attempt(1));
      write(first, "t0/0/model");
      first.release();
      const second = openSession(journal.store, "s");
      second.add("state/2.0", "state.changed", attempt(2));
      write(second, "t0/1/model");
      second.flush();
      const data = { to: "pause" as const, by: "Lin", surface: "test" };
      journal.store.append("s", { key: "interrupt/1", type: "turn.interrupted", at: 1, data });
      write(second, "t0/2/model");
      second.release();
      const third = openSession(journal.store, "s");
      third.add("state/3.0", "state.changed", attempt(3));
      write(third, "t0/3/model");
      third.release();
      const last = openSession(journal.restart(), "s").branch("t0");
      assert.deepEqual(
        ["0/model", "1/model", "2/model", "3/model"].map((key) => last.interruptedSince(key)),
        [false, true, true, false],
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

    test("an answer that was recorded is never lost to a stop in the same moment", async () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const waiting: Promise<Resolution> = log.branch("t0").open("ask0", colour).wait();
      await nextTick();
      journal.store.append("s", resolved("t0/ask0", answer("s/t0/ask0")));
      log.stop(new Stopped("interrupted", inWords("a moment later")));
      assert.deepEqual(plain(await waiting), answer("s/t0/ask0"));
      log.release();
    });
  });

suite("a session in a store that answers later", () => {
  /** Commits are written when they are let through, one after the other. */
  function slow() {
    const real = memoryStore();
    real.create("s", opened);
    const gates: (() => void)[] = [];
    const commits: string[][] = [];
    const store: Store = {
      ...real,
      member: (make) => make(store),
      async commit(session, epoch, facts) {
        await new Promise<void>((pass) => gates.push(pass));
        commits.push(keys(facts));
        real.commit(session, epoch, facts);
      },
      release: async (session, epoch) => real.release(session, epoch),
    };
    return { store, commits, letThrough: () => gates.shift()?.() };
  }
  const nothing = () => ({ reason: inWords("") });

  test("an effect waits for its start to be written, and facts added meanwhile share the next commit", async () => {
    const { store, commits, letThrough } = slow();
    const log = openSession(store, "s");
    const line = log.branch("t0");
    let ran = false;
    const running = line.once("run0", async () => ((ran = true), result("ran")), { started: () => started });
    const first = log.flush();
    for (const key of ["a", "b"]) line.decide(key, "call.unknown", nothing);
    const second = log.flush();
    assert.notEqual(first, second);
    assert.equal(second, log.flush(), "one barrier for all that is added meanwhile");
    letThrough();
    await first;
    await nextTick();
    assert.deepEqual([ran, commits], [true, [["t0/run0.started"]]]);
    letThrough();
    await second;
    assert.deepEqual(commits[1], ["t0/a", "t0/b"], "the result came while they were on their way");
    letThrough();
    assert.deepEqual(await running, { ok: true, value: result("ran") });
    const released = log.release();
    letThrough();
    await released;
    assert.deepEqual(commits[2], ["t0/run0.finished"]);
    assert.equal(store.session("s")?.owned, false);
  });

  test("a delta does not overtake the facts before it", async () => {
    const { store, letThrough } = slow();
    const log = openSession(store, "s");
    const heard: string[] = [];
    store.hub.subscribe("s", { fact: ({ key }) => heard.push(key), delta: ({ text }) => heard.push(text) });
    const line = log.branch("t0");
    line.decide("before", "call.unknown", nothing);
    await line.step("model", "call.unknown", async (scope) => {
      for (const text of ["one", "two"]) scope.delta("text", text);
      await nextTick();
      assert.deepEqual(heard, []);
      letThrough();
      await until(() => heard.length === 3);
      scope.delta("text", "three");
      return nothing();
    });
    assert.deepEqual(heard, ["t0/before", "one", "two", "three"]);
    log.close();
  });

  test("a commit that is refused for good closes the log for all that waits behind it", async () => {
    const { store } = slow();
    const lost = new SageError("lease-lost", inWords("taken over"));
    store.commit = () => Promise.reject(lost);
    const log = openSession(store, "s");
    const line = log.branch("t0");
    const effect = line.once("run0", never, { started: () => started });
    const behind = line.once("run1", never, { started: () => started });
    await assert.rejects(effect, lost);
    await assert.rejects(behind, lost);
    assert.throws(() => log.flush(), lost);
  });
});
