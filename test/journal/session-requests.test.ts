// Requests of a session: opened once, answered once, over every restart.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openSession, Stopped } from "../../src/journal/session/session.ts";
import type { NewRequest, Resolution } from "../../src/protocol/facts/request.ts";
import { said as inWords } from "../../src/protocol/reasons/reason.ts";
import { answer, journals, keys, plain, resolved, state } from "./journals.ts";
import { colour, never, nextTick, written } from "./sessions.ts";

for (const { name, open } of journals)
  suite(`a session in a ${name} store`, () => {
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

    test("a call that is over takes back its own requests, and those of no other", () => {
      using journal = open();
      const log = openSession(journal.store, "s");
      const [call, ...others] = ["t0/0/1", "t0/0/1/sub/0/0", "t0/0/10", "t0/0/0", "t0/1/0", "t1/0/1"].map((key) => ({
        line: log.branch(key),
        request: log.branch(key).open("ask0", colour).request,
      }));
      log.flush();
      call!.line.withdraw(inWords("over"));
      log.flush();
      const outcomes = [call!, ...others].map(({ request }) => journal.other.resolution(request.id)?.outcome);
      assert.deepEqual(outcomes, ["cancelled", "cancelled", undefined, undefined, undefined, undefined]);
      log.release();
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
