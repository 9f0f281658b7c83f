// The end of a process's hold on a session: what is refused then, and that nobody is left waiting.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openSession, Stopped } from "../../src/journal/session/session.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Store } from "../../src/journal/store/store.ts";
import { said as inWords, SageError } from "../../src/protocol/reasons/reason.ts";
import { until } from "../support/until.ts";
import { answer, journals, keys, opened, resolved, said } from "./journals.ts";
import { colour, begun, started, result, never, reason, nextTick } from "./sessions.ts";

for (const { name, open } of journals)
  suite(`a session in a ${name} store`, () => {
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

  test("a state is shown with the facts before it, in its order, and text that comes after them does not overtake it", async () => {
    const { store, letThrough } = slow();
    const log = openSession(store, "s");
    const heard: string[] = [];
    store.hub.subscribe("s", {
      fact: ({ key }) => heard.push(key),
      delta: ({ kind, n, text }) => heard.push(kind === "state" ? `state ${n}` : text),
    });
    const line = log.branch("t0");
    const show = (n: number) =>
      line.showState({ agent: [], state: { state: "executing", phase: "preparingContext" }, n });
    line.decide("before", "call.unknown", nothing);
    for (const n of [0, 1]) show(n);
    const written = log.flush();
    await line.step("model", "call.unknown", async (scope) => {
      for (const text of ["one", "two"]) scope.delta("text", text);
      show(2);
      await nextTick();
      assert.deepEqual(heard, []);
      letThrough();
      await written;
      await nextTick();
      return nothing();
    });
    assert.deepEqual(heard, ["t0/before", "state 0", "state 1", "one", "two", "state 2"]);
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
