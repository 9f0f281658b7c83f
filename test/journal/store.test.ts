// Promises of every store, whatever it keeps its facts in.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Store } from "../../src/journal/store/store.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { said as inWords, SageError } from "../../src/protocol/reasons/reason.ts";
import { until } from "../support/until.ts";
import { answer, asked, engines, fact, keys, opened, plain, requestFor, resolved, said } from "./journals.ts";
import { wordsOf } from "../support/worded.ts";

const ended = {
  status: "success",
  text: "",
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  stats: { steps: 1, toolCalls: 0, modelCalls: 1, durationMs: 1 },
} as const;
const begun = { loop: 1, maxSteps: 100, sawUpTo: 0 };
const unknown = (key: string, why = "") => fact(key, "call.unknown", { reason: inWords(why) });
const hasCode = (code: string) => (error: unknown) => error instanceof SageError && error.code === code;

for (const { name, local, open } of engines)
  suite(`a ${name} store`, () => {
    test("creates a session once, with its first fact", async () => {
      await using journal = await open();
      const { store } = journal;
      assert.equal(await store.create("new", opened), true);
      assert.equal(await store.create("new", { cwd: "/elsewhere", version: "other" }), false);
      const [first, ...more] = plain(store.load("new"));
      assert.deepEqual([first?.key, first?.type, first?.data, more], ["session", "session.opened", opened, []]);
      assert.equal(store.session("new")?.cwd, "/w");
    });

    test("has an id of its own, which another process and the next one find again", async () => {
      await using journal = await open();
      const id = journal.store.journalId();
      assert.match(id, /^[0-9a-f-]{36}$/);
      assert.equal(journal.other.journalId(), id);
      assert.equal((await journal.restart()).journalId(), id);
      await using another = await open();
      assert.notEqual(another.other.journalId(), id);
    });

    test("gives facts and sessions in pages, and a fact by its key", async () => {
      await using journal = await open();
      const { store } = journal;
      for (let n = 0; n < 5; n++) await store.append("s", said(`said/${n}`, `${n}`));
      const pages: string[][] = [];
      for (let after = 0; ;) {
        const page = store.since("s", after, 2);
        if (page.length === 0) break;
        after = page.at(-1)?.seq ?? 0;
        pages.push(keys(page));
      }
      assert.deepEqual(pages, [
        ["session", "said/0"],
        ["said/1", "said/2"],
        ["said/3", "said/4"],
      ]);
      assert.deepEqual(
        plain([store.fact("s", "said/3")!]),
        plain(store.load("s").filter(({ key }) => key === "said/3")),
      );
      assert.equal(store.fact("s", "said/9"), undefined);
      assert.equal(store.fact("nobody", "said/1"), undefined);

      for (const id of ["a", "b", "c"]) await store.create(id, opened);
      const all = store.sessions().map(({ id }) => id);
      const listed: string[] = [];
      for (let after: string | undefined; ; after = listed.at(-1)) {
        const page = store.sessions({ limit: 3, ...(after !== undefined && { after }) });
        if (page.length === 0) break;
        listed.push(...page.map(({ id }) => id));
      }
      assert.deepEqual(listed, all);
      assert.equal(all.length, 4);
    });

    test(
      "tells facts of some types over all sessions, those of other processes too",
      { skip: !local && "a process there hears of the sessions that it has open" },
      async () => {
        await using journal = await open();
        const { store, other } = journal;
        const heard: string[] = [];
        const stop = store.hub.overhear(new Set(["session.opened", "user.said"]), ({ session, key }) =>
          heard.push(`${session} ${key}`),
        );
        await store.create("mine", opened);
        await other.create("theirs", opened);
        await other.append("theirs", said("said/1", "hello"));
        await other.append("s", {
          ...said("draft", "no"),
          type: "session.titled",
          data: { title: "x", by: "", surface: "" },
        });
        await store.append("s", said("said/2", "hello"));
        await until(() => heard.length === 4);
        assert.deepEqual(heard, ["mine session", "theirs session", "theirs said/1", "s said/2"]);
        stop();
        assert.equal(store.hub.cares("s", "", "user.said"), false);
        await store.append("s", said("said/3", "hello"));
        assert.equal(heard.length, 4);
      },
    );

    test("refuses an unknown session by name where one is needed, and finds nothing where one is only looked for", async () => {
      await using journal = await open();
      const { store } = journal;
      const refused = (error: unknown) => hasCode("session-unknown")(error) && /nobody/.test(wordsOf(error));
      await assert.rejects(async () => journal.claim("nobody"), refused);
      await assert.rejects(async () => store.load("nobody"), refused);
      await assert.rejects(
        async () => store.commit("nobody", 1, [fact("a", "call.unknown", { reason: inWords("") }, "nobody")]),
        refused,
      );
      await assert.rejects(async () => store.append("nobody", said("said/1", "hello")), refused);
      assert.deepEqual(store.since("nobody", 0), []);
      assert.deepEqual(store.pending("nobody"), []);
      assert.equal(store.session("nobody"), undefined);
      for (const id of ["nobody/t0/0/0/ask0", "nobody", "", "s/session", "s/t0/0/0/ask0"]) {
        assert.equal(store.find(id), undefined);
        assert.equal(store.resolution(id), undefined);
        assert.equal(store.draft(id), undefined);
      }
    });

    test("writes a key once: a commit that repeats one is refused whole", async () => {
      await using journal = await open();
      const { store } = journal;
      const epoch = await journal.claim("s");
      await store.commit("s", epoch, [unknown("a", "first")]);
      await assert.rejects(async () => store.commit("s", epoch, [unknown("b"), asked("c"), unknown("a", "second")]));
      await assert.rejects(async () => store.commit("s", epoch, [unknown("d"), unknown("d")]));
      assert.deepEqual(keys(store.load("s")), ["session", "a"]);
      assert.deepEqual(store.pending(), []);
      await store.commit("s", epoch, [unknown("b")]);
      assert.deepEqual(keys(store.load("s")), ["session", "a", "b"]);
      assert.equal(await store.verify("s"), undefined);
    });

    test("has the same key in two sessions", async () => {
      await using journal = await open();
      const { store } = journal;
      await store.create("z", opened);
      await store.commit("s", await journal.claim("s"), [unknown("t0", "in s")]);
      await store.commit("z", await journal.claim("z"), [fact("t0", "call.unknown", { reason: inWords("in z") }, "z")]);
      assert.deepEqual(plain(store.load("s")).at(-1)?.data, { reason: inWords("in s") });
      assert.deepEqual(plain(store.load("z")).at(-1)?.data, { reason: inWords("in z") });
    });

    test("fences commits by the epoch: whoever claimed last may write, nobody before", async () => {
      await using journal = await open();
      const { store } = journal;
      const first = await journal.claim("s");
      const second = await journal.claim("s");
      assert.ok(second > first);
      await assert.rejects(async () => store.commit("s", first, [unknown("a")]), hasCode("lease-lost"));
      await assert.rejects(async () => store.commit("s", second + 1, [unknown("a")]), hasCode("lease-lost"));
      await store.commit("s", second, [unknown("a")]);
      assert.deepEqual(keys(store.load("s")), ["session", "a"]);
      await store.release("s", first); // too late to matter
      await store.commit("s", second, [unknown("b")]);
    });

    test("takes inbound facts from anyone, under any epoch, and the first under a key wins", async () => {
      await using journal = await open();
      const { store, other } = journal;
      await journal.claim("s");
      const first = await other.append("s", said("said/1", "hello"));
      const again = await store.append("s", said("said/1", "something else"));
      assert.deepEqual([first.won, again.won], [true, false]);
      assert.deepEqual(plain(again.fact), plain(first.fact));
      assert.deepEqual(plain(store.since("s", 1)), [{ session: "s", seq: 2, ...said("said/1", "hello") }]);
    });

    test(
      "numbers facts upwards over all sessions and writers, and tells the writer",
      { skip: !local && "numbers are of a session there" },
      async () => {
        await using journal = await open();
        const { store, other } = journal;
        await store.create("z", opened);
        const facts = [unknown("a"), unknown("b")];
        await store.commit("s", await journal.claim("s"), facts);
        const appended = (await other.append("z", said("said/1", "hello"))).fact;
        const inZ = [fact("c", "call.unknown", { reason: inWords("") }, "z")];
        await store.commit("z", await journal.claim("z"), inZ);
        const seqs = [...facts, appended, ...inZ].map(({ seq }) => seq);
        assert.deepEqual(
          seqs,
          [...seqs].sort((a, b) => a - b),
        );
        assert.equal(new Set(seqs).size, 4);
        assert.deepEqual(
          plain(store.load("s")).map(({ seq }) => seq),
          [1, ...seqs.slice(0, 2)],
        );
      },
    );

    test("gives the facts after a seq, of one session", async () => {
      await using journal = await open();
      const { store } = journal;
      await store.create("z", opened);
      await store.append("s", said("said/1", "one"));
      const { seq } = (await store.append("s", said("said/2", "two"))).fact;
      await store.append("z", said("said/3", "elsewhere"));
      await store.append("s", said("said/4", "three"));
      assert.deepEqual(keys(store.since("s", 0)), ["session", "said/1", "said/2", "said/4"]);
      assert.deepEqual(keys(store.since("s", seq)), ["said/4"]);
      assert.deepEqual(store.since("s", seq + 100), []);
    });

    test(
      "lists open requests oldest first, of one session or of all",
      { skip: !local && "of one instant there, they go by session" },
      async () => {
        await using journal = await open();
        const { store } = journal;
        await store.create("a", opened);
        const [s, a] = [await journal.claim("s"), await journal.claim("a")];
        await store.commit("a", a, [asked("t0/0/1/ask0", "a")]);
        await store.commit("s", s, [asked("t0/0/1/ask0"), asked("t0/0/0/ask0")]);
        await store.commit("a", a, [asked("t0/0/0/ask0", "a")]);
        const ids = (session?: string) => store.pending(session).map(({ id }) => id);
        assert.deepEqual(ids(), ["a/t0/0/1/ask0", "s/t0/0/1/ask0", "s/t0/0/0/ask0", "a/t0/0/0/ask0"]);
        assert.deepEqual(ids("s"), ["s/t0/0/1/ask0", "s/t0/0/0/ask0"]);
        assert.deepEqual(plain(store.pending("s")[0]), requestFor("t0/0/1/ask0"));
        await store.append("s", resolved("t0/0/1/ask0", answer("s/t0/0/1/ask0")));
        assert.deepEqual(ids("s"), ["s/t0/0/0/ask0"]);
        assert.equal(store.session("s")?.pending, 1);
      },
    );

    test("ends a request once: later answers are given the first one", async () => {
      await using journal = await open();
      const { store, other } = journal;
      const id = "s/t0/0/0/ask0";
      await store.commit("s", await journal.claim("s"), [asked("t0/0/0/ask0")]);
      assert.deepEqual(plain(store.find(id)), { request: plain(requestFor("t0/0/0/ask0")) });
      assert.equal(store.resolution(id), undefined);
      assert.equal((await other.append("s", resolved("t0/0/0/ask0", answer(id, "Red", "Lin")))).won, true);
      const late = await store.append("s", resolved("t0/0/0/ask0", answer(id, "Blue", "Ann")));
      assert.equal(late.won, false);
      for (const found of [late.fact.data, store.resolution(id), store.find(id)?.resolution])
        assert.deepEqual(plain(found), answer(id, "Red", "Lin"));
      assert.deepEqual(store.pending(), []);
    });

    test("keeps no open request for one that was settled in the commit that opened it", async () => {
      await using journal = await open();
      const { store } = journal;
      const id = "s/t0/0/0/ask0";
      const settled = fact("t0/0/0/ask0.resolved", "input.resolved", answer(id));
      await store.commit("s", await journal.claim("s"), [asked("t0/0/0/ask0"), settled]);
      assert.deepEqual(store.pending(), []);
      assert.equal(store.session("s")?.pending, 0);
      assert.deepEqual(plain(store.find(id)?.resolution), answer(id));
    });

    test("keeps the latest draft of each request", async () => {
      await using journal = await open();
      const { store, other } = journal;
      const save = (writer: Store, key: string, n: number, text: string) =>
        writer.append("s", {
          key: `draft/${key}/${n}`,
          type: "draft.saved",
          at: n,
          data: { requestId: `s/${key}`, draft: { text }, by: "Lin", surface: "test" },
        });
      await store.commit("s", await journal.claim("s"), [asked("t0/0/0/ask1"), asked("t0/0/0/ask10")]);
      assert.equal(store.draft("s/t0/0/0/ask1"), undefined);
      await save(store, "t0/0/0/ask1", 9, "half");
      await save(other, "t0/0/0/ask1", 1, "nearly");
      await save(store, "t0/0/0/ask10", 5, "of another request");
      assert.deepEqual(store.draft("s/t0/0/0/ask1"), { text: "nearly" });
      assert.deepEqual(store.draft("s/t0/0/0/ask10"), { text: "of another request" });
      assert.deepEqual((await journal.restart()).draft("s/t0/0/0/ask1"), { text: "nearly" });
    });

    test("knows of each session: first words, open turn, open requests, owner; the latest first", async () => {
      await using journal = await open();
      const { store } = journal;
      await store.create("later", { cwd: "/later", version: "test" });
      const row = () => {
        const { title, open: isOpen, owned, pending, lastAt } = store.session("s") ?? assert.fail("no session");
        return { title, open: isOpen, owned, pending, lastAt };
      };
      const { at } = store.session("s") ?? assert.fail("no session");
      assert.deepEqual(row(), { title: "", open: false, owned: false, pending: 0, lastAt: at });

      await store.append("s", { ...said("said/1", "x".repeat(500)), at: at + 10 });
      await store.append("s", { ...said("said/2", "second words"), at: at + 20 });
      const epoch = await journal.claim("s");
      const commit = (...facts: Fact[]) =>
        store.commit(
          "s",
          epoch,
          facts.map((one) => ({ ...one, at: at + 30 })),
        );
      await commit(fact("t0", "turn.begun", begun), asked("t0/0/0/ask0"), asked("t0/0/1/ask0"));
      assert.deepEqual(row(), { title: "x".repeat(200), open: true, owned: true, pending: 2, lastAt: at + 30 });

      await store.append("s", resolved("t0/0/0/ask0", answer("s/t0/0/0/ask0")));
      assert.equal(row().pending, 1);
      await commit(fact("t0.ended", "turn.ended", ended));
      assert.equal(row().open, false);
      await commit(fact("t1", "turn.begun", begun));
      assert.equal(row().open, true);

      await store.release("s", epoch - 1);
      assert.equal(row().owned, true, "only the holder gives it up");
      await store.release("s", epoch);
      assert.equal(row().owned, false);

      await store.append("later", { ...said("said/1", "hello"), at: at + 1_000 });
      assert.deepEqual(
        store.sessions().map(({ id }) => id),
        ["later", "s"],
      );
      await store.append("s", { ...said("said/3", "again"), at: at + 2_000 });
      assert.deepEqual(
        store.sessions().map(({ id }) => id),
        ["s", "later"],
      );
      assert.deepEqual(store.sessions()[0], store.session("s"));
    });

    test(
      "tells of a commit when all of it is durable, in order, and only those who listen to the session",
      { skip: !local && "others hear of it later there" },
      async () => {
        await using journal = await open();
        const { store, other } = journal;
        await store.create("z", opened);
        const heard: { key: string; seq: number; durable: string[] }[] = [];
        const strange: string[] = [];
        const stop = store.hub.subscribe("s", {
          fact: ({ key, seq }) => heard.push({ key, seq, durable: keys(other.since("s", 2)) }),
        });
        store.hub.subscribe("z", { fact: ({ key }) => strange.push(key) });
        await store.commit("s", await journal.claim("s"), [asked("a"), unknown("b")]);
        await store.append("s", resolved("a", answer("s/a")));
        assert.equal((await store.append("s", resolved("a", answer("s/a", "Blue")))).won, false);
        stop();
        await store.append("s", said("said/1", "unheard"));
        assert.deepEqual(heard, [
          { key: "a", seq: 3, durable: ["a", "b"] },
          { key: "b", seq: 4, durable: ["a", "b"] },
          { key: "a.resolved", seq: 5, durable: ["a", "b", "a.resolved"] },
        ]);
        assert.deepEqual(strange, []);
      },
    );

    test(
      "wakes everyone who waits for a request, once, with the answer that won and is durable",
      { skip: !local && "others hear of it later there" },
      async () => {
        await using journal = await open();
        const { store, other } = journal;
        await store.commit("s", await journal.claim("s"), [asked("a"), asked("b")]);
        const woken: string[] = [];
        const wait = (id: string, who: string) =>
          store.hub.wait(id, (resolution) =>
            woken.push(`${who}: ${resolution.by}, ${other.resolution(id)?.by} on disk`),
          );
        wait("s/a", "first");
        const leave = wait("s/a", "gone");
        wait("s/a", "second");
        wait("s/b", "elsewhere");
        leave();
        await store.append("s", resolved("a", answer("s/a", "Red", "Lin")));
        await store.append("s", resolved("a", answer("s/a", "Blue", "Ann")));
        assert.deepEqual(woken, ["first: Lin, Lin on disk", "second: Lin, Lin on disk"]);
      },
    );

    test("a listener that fails undoes nothing and hides nothing from the others", async (t) => {
      await using journal = await open();
      const { store } = journal;
      const reported: unknown[] = [];
      t.mock.method(process, "emitWarning", (error: unknown) => void reported.push(error));
      const heard: string[] = [];
      const broken = new Error("a listener's own mistake");
      store.hub.subscribe("s", {
        fact: () => {
          throw broken;
        },
        delta: () => {
          throw broken;
        },
      });
      store.hub.subscribe("s", { fact: ({ key }) => heard.push(key), delta: ({ text }) => heard.push(text) });
      const epoch = await journal.claim("s");
      await store.commit("s", epoch, [asked("a"), unknown("b")]);
      assert.equal((await store.append("s", resolved("a", answer("s/a")))).won, true);
      store.hub.delta({ session: "s", key: "c", attempt: 1, n: 0, kind: "text", text: "a word" });
      assert.deepEqual(heard, ["a", "b", "a.resolved", "a word"]);
      assert.deepEqual(reported, [broken, broken, broken, broken]);
      assert.deepEqual(keys(store.load("s")), ["session", "a", "b", "a.resolved"]);
    });

    test("keeps every word as it was written", async () => {
      await using journal = await open();
      const { store } = journal;
      const text = '“quotes” \\ \n\t\0 你好 👩‍👩‍👧 {"json": true} \'; DROP TABLE fact; --';
      const long = `\0${text}`.repeat(20_000); // more than a megabyte
      const odd = "said/ 你'\"%_\\\n{}";
      await store.append("s", said("said/1", text));
      await store.append("s", said("said/2", long));
      await store.append("s", said(odd, text));
      const [, read, much, other] = plain((await journal.restart()).load("s"));
      assert.deepEqual(read?.data, { text, by: "Lin", surface: "test" });
      assert.ok(much?.type === "user.said" && much.data.text === long, "as long as it was");
      assert.deepEqual([other?.key, other?.data], [odd, read?.data]);
      assert.equal(await journal.store.verify("s"), undefined);
    });
  });
