import type { Receipt } from "../../src/protocol/host/receipt.ts";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { Script } from "../../src/models/scripted.ts";
import { deleteSession, forkSession, renameSession, retain } from "../../src/archive/sessions.ts";
import { askUser, bash, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const me = { by: "Lin", surface: "test" };

for (const [kind, open] of Object.entries({
  memory: () => memoryStore(),
  sqlite: (dir: string) => sqliteStore(`${dir}/journal.db`),
}) as [string, (dir: string) => Store][]) {
  test(`${kind}: a fork of an open turn asks nothing again, grants nothing, and its calls without a result read "not run"`, async () => {
    using here = workspace();
    const seen: ModelRequest[] = [];
    const script: Script = [
      { text: "first", calls: [bash("echo a >> ran")] },
      { calls: [bash("echo b >> ran"), askUser(question("Which?")), { tool: "Glob", input: { pattern: "*" } }] },
      (request) => {
        seen.push({ ...request, messages: [...request.messages] });
        return { text: "went on" };
      },
    ];
    const store = open(here.dir);
    await using sage = await sageWith({ script, dir: here.dir, store });
    await sage.say("begin 开始");
    const [first] = await sage.open();
    const rules = [{ rule: "Bash(echo b:*)", behavior: "ask", destination: "session" }] as const;
    await sage.answer({ type: "granted", requestId: first?.id ?? "", rules: [...rules] });
    const waiting = await sage.open(2);
    await sage.host.send({ type: "say", session: sage.session, text: "not read yet", ...me });

    await until(() => sage.result(1, 2) !== "");

    const fork = await forkSession(store, sage.session, undefined, me);
    assert.deepEqual(store.pending(fork), []);
    assert.deepEqual(store.pending(sage.session), waiting, "the other is left as it is");
    const row = store.session(fork);
    assert.deepEqual([row?.open, row?.pending, row?.title], [false, 0, "begin 开始 (fork)"]);
    const facts = store.load(fork);
    assert.deepEqual(
      facts.filter(({ type }) => /input|rule|judged|started|state/.test(type)),
      [],
    );
    assert.equal(await store.verify(fork), undefined);
    const [opened] = facts;
    assert.deepEqual(opened?.type === "session.opened" && opened.data.forkedFrom?.session, sage.session);

    await sage.host.send({ type: "say", session: fork, text: "and now", ...me });
    const outcome = await sage.host.run(fork);
    assert.equal(outcome.text, "went on");
    assert.deepEqual(
      seen[0]?.messages.map((message) =>
        message.role === "tool" ? message.results.map(({ result }) => result.text) : message.role,
      ),
      [
        "user",
        "assistant",
        [sage.result(0, 0)],
        "assistant",
        ["Not run in this fork.", "Not run in this fork.", sage.result(1, 2)],
        "user",
      ],
    );
    assert.doesNotMatch(JSON.stringify(seen[0]?.messages), /not read yet/);
    await sage.host.send({ type: "interrupt", session: sage.session, cancel: true, ...me });
    await sage.outcome();
  });

  test(`${kind}: a fork begins at the end of a turn, of a step, or at a fact`, async () => {
    using here = workspace();
    const script: Script = [{ text: "one" }, { calls: [bash("ls")] }, { text: "two" }, { text: "three" }];
    const store = open(here.dir);
    await using sage = await sageWith({ script, dir: here.dir, store });
    for (const text of ["1", "2", "3"]) {
      await sage.say(text);
      await sage.outcome();
    }
    const said = (fork: string) =>
      store.load(fork).flatMap((fact) => (fact.type === "user.said" ? [fact.data.text] : []));
    assert.deepEqual(said(await forkSession(store, sage.session, "t0", me)), ["1"]);
    assert.deepEqual(said(await forkSession(store, sage.session, "t1/0", me)), ["1", "2"]);
    assert.deepEqual(said(await forkSession(store, sage.session, undefined, me)), ["1", "2", "3"]);
    const begun = store.load(sage.session).find(({ key }) => key === "t2");
    assert.deepEqual(
      said(await forkSession(store, sage.session, `${begun?.seq}`, me)),
      ["1", "2"],
      "nobody had replied yet",
    );
    for (const at of ["t9", "0", "t0/0/0", "soon"])
      await assert.rejects(forkSession(store, sage.session, at, me), { code: "usage" }, at);
    // A fork of a fork goes on too, and its numbers fit.
    const again = await forkSession(store, await forkSession(store, sage.session, "t1", me), undefined, me);
    await sage.host.send({ type: "say", session: again, text: "3", ...me });
    assert.equal((await sage.host.run(again)).text, "three");
  });

  test(`${kind}: deleting ends the requests first and leaves the receipts`, async () => {
    using here = workspace();
    const store = open(here.dir);
    const home = { settings: here.path("settings.json"), output: here.path("output") };
    const script: Script = [{ calls: [bash("echo a >> ran")] }, { calls: [bash("echo b >> ran")] }, { text: "ok" }];
    const heard: string[] = [];
    const options = { script, dir: here.dir, store, options: { mode: { type: "batch" } } } as const;
    await using sage = await sageWith({ ...options, watched: false });
    await sage.say("go");
    assert.equal((await sage.outcome()).status, "needs-input");
    const [first] = store.pending(sage.session);
    await sage.answer({ type: "granted", requestId: first?.id ?? "" });
    await sage.host.run(sage.session);
    const [second] = store.pending(sage.session);
    store.hub.wait(second?.id ?? "", ({ outcome, by }) => heard.push(`${outcome} by ${by}`));
    await renameSession(store, sage.session, " a\u001b[31m  name\n", me);
    assert.equal(store.session(sage.session)?.title, "a [31m name");
    await assert.rejects(renameSession(store, sage.session, "\u200b ", me), { code: "input-invalid" });

    await deleteSession(store, home, sage.session, me);
    assert.deepEqual(heard, ["cancelled by Lin"]);
    assert.equal(store.session(sage.session), undefined);
    assert.deepEqual([store.sessions(), store.pending()], [[], []]);
    const [left] = await store.housekeeping.removed();
    const receipts = left?.data.receipts as Receipt[];
    assert.deepEqual(
      receipts.map(({ decision, input, asked }) => [decision, input["command"], asked[0]?.resolution?.by]),
      [
        ["allowed", "echo a >> ran", "Lin"],
        ["refused", "echo b >> ran", "Lin"],
      ],
    );
    assert.equal(await store.housekeeping.verifyRemoved(), undefined);
    assert.equal(existsSync(here.path("ran")), true);
    const next = await sage.host.send({ type: "open", cwd: here.dir });
    const numbers = next.ok ? store.load(next.session).map(({ seq }) => seq) : [];
    assert.ok((numbers[0] ?? 0) > (left?.seq ?? Infinity), "a number that was used is never used again");
  });

  test(`${kind}: retention deletes what is old, never what is open, and forgets receipts later`, async () => {
    using here = workspace();
    const store = open(here.dir);
    const home = { settings: here.path("settings.json"), output: here.path("output") };
    const script: Script = [{ text: "hi" }];
    await using sage = await sageWith({ script, dir: here.dir, store, watched: false });
    await sage.say("hi");
    await sage.outcome();
    store.create("waits", { cwd: here.dir, version: "test" });
    store.append("waits", { key: "said/0", type: "user.said", at: 1, data: { text: "x", ...me } });
    const epoch = store.claim("waits");
    store.commit("waits", epoch, [
      { session: "waits", seq: 0, key: "t0", type: "turn.begun", at: 1, data: { loop: 1, maxSteps: 1, sawUpTo: 1 } },
    ]);
    store.release("waits", epoch);
    const later = Date.now() + 10 * 86_400_000;
    assert.deepEqual(
      await retain(store, home, {}, later),
      { removed: [], open: [], forgotten: 0 },
      "nothing said: for ever",
    );
    const { removed, open: kept } = await retain(store, home, { sessions: 86_400_000 }, later);
    assert.deepEqual([removed.map(({ id }) => id), kept.map(({ id }) => id)], [[sage.session], ["waits"]]);
    assert.equal((await store.housekeeping.removed())[0]?.data.by, "retention");
    store.create("newer", { cwd: here.dir, version: "test" }); // the newest record of all is never taken out
    assert.equal((await retain(store, home, { receipts: 86_400_000 }, later)).forgotten, 1);
    assert.deepEqual(await store.housekeeping.removed(), []);
    assert.equal(await store.housekeeping.verifyRemoved(), undefined);
  });
}

test("a session that runs is not deleted, and neither is one that was written to meanwhile", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const home = { settings: here.path("settings.json"), output: here.path("output") };
  store.create("s", { cwd: here.dir, version: "test" });
  const epoch = store.claim("s");
  const other = sqliteStore(here.path("journal.db"));
  await assert.rejects(deleteSession(other, home, "s", me), { code: "session-owned" });
  store.release("s", epoch);
  const last = { session: "s", cwd: "", title: "", ...me, receipts: [] };
  assert.throws(() => other.housekeeping.remove("s", 0, last), { code: "journal-locked" });
  await deleteSession(other, home, "s", me);
  assert.throws(() => store.claim("s"), { code: "session-unknown" });
  assert.throws(() => store.append("s", { key: "said/1", type: "user.said", at: 1, data: { text: "x", ...me } }), {
    code: "session-unknown",
  });
  store.close();
  other.close();
});

test("a copy or a removal that fails before its commit leaves everything as it was", async () => {
  using here = workspace();
  let failing = false;
  const onCommit = (side: string) => {
    if (failing && side === "before") throw new Error("the disk is full");
  };
  const store = sqliteStore(here.path("journal.db"), { onCommit });
  const home = { settings: here.path("settings.json"), output: here.path("output") };
  await using sage = await sageWith({ script: [{ text: "hi" }], dir: here.dir, store, watched: false });
  await sage.say("hi");
  await sage.outcome();
  const before = JSON.stringify([store.sessions(), sage.facts()]);
  failing = true;
  await assert.rejects(forkSession(store, sage.session, undefined, me), /disk is full/);
  await assert.rejects(deleteSession(store, home, sage.session, me), /disk is full/);
  failing = false;
  assert.equal(JSON.stringify([store.sessions(), sage.facts()]), before);
  assert.deepEqual([store.verify(sage.session), store.housekeeping.removed()], [undefined, []]);
});
