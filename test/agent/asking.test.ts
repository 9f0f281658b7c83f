import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fold } from "../../src/agent/turn/projection.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { allow, askUser, bash, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };

test("a question blocks the turn, and the answer is the result of that very call", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("Which colour?"))] }, { text: "fine" }],
  });
  await sage.say("paint it");
  const [request] = await sage.open();
  assert.equal(request?.kind, "question");
  await sage.answer({
    type: "answers",
    requestId: request?.id ?? "",
    answers: { "Which colour?": { selected: ["Blue"] } },
    remark: "a dark one",
  });
  const outcome = await sage.outcome();
  assert.equal(outcome.status, "success");
  assert.match(sage.result(0, 0), /^User answered:/);
  assert.match(sage.result(0, 0), /Blue[\s\S]*a dark one/);
  // History shows the call and its result, no item of its own for question and answer.
  assert.deepEqual(
    outcome.messages.map(({ role }) => role),
    ["user", "assistant", "tool", "assistant"],
  );
});

test("an empty or foreign answer is refused, and the request stays open", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("Which colour?"))] }, { text: "fine" }],
  });
  await sage.say("paint it");
  const requestId = (await sage.open())[0]?.id ?? "";
  for (const answers of [
    {},
    { "Which colour?": { selected: [] } },
    { "Which colour?": { selected: ["Green"] } },
    { "Which colour?": { selected: ["Red", "Blue"] } },
    { Other: { selected: ["Red"] } },
  ]) {
    const reply = await sage.answer({ type: "answers", requestId, answers });
    assert.deepEqual([reply.ok, !reply.ok && reply.code], [false, "request-invalid"]);
  }
  const granted = await sage.answer({ type: "granted", requestId });
  assert.equal(granted.ok, false, "a question is not a permission");
  assert.deepEqual(
    (await sage.open()).map(({ id }) => id),
    [requestId],
  );
  await sage.answer({ type: "answers", requestId, answers: { "Which colour?": { selected: [], other: "绿色" } } });
  assert.equal((await sage.outcome()).status, "success");
  assert.match(sage.result(0, 0), /绿色/);
});

test("B5: two surfaces answer in the same tick: the first is kept, the second is told who won", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("echo x >> ran")] }, { text: "ok" }] });
  await sage.say("go");
  const requestId = (await sage.open())[0]?.id ?? "";
  const replies = await Promise.all([
    sage.answer({ type: "granted", requestId }, "Ann"),
    sage.answer({ type: "denied", requestId, reason: "no" }, "Bo"),
  ]);
  assert.deepEqual(
    replies.map(({ ok }) => ok),
    [true, false],
  );
  const [, lost] = replies;
  assert.equal(!lost.ok && lost.code, "request-resolved");
  assert.equal(!lost.ok && lost.resolution?.by, "Ann");
  await sage.outcome();
  assert.equal(readFileSync(here.path("ran"), "utf8"), "x\n");
});

test("the reason of a refusal and the comment of a grant reach the model in that call's result", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("rm -r dist"), bash("env echo hello")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first, second] = await sage.open(2);
  await sage.answer({ type: "denied", requestId: first?.id ?? "", reason: "用 git clean，别用 rm" });
  await sage.answer({ type: "granted", requestId: second?.id ?? "", comment: "but only this once" });
  assert.equal((await sage.outcome()).status, "success", "refusing one call affects that call only");
  assert.match(sage.result(0, 0), /refused it.*"用 git clean，别用 rm"/);
  assert.match(sage.result(0, 1), /hello[\s\S]*"but only this once"/);
});

test("stopping the turn is a choice of its own: siblings do not run, the turn is cancelled, nothing stays open", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("echo a >> ran"), bash("echo b >> ran")] }, { text: "never" }],
  });
  await sage.say("go");
  const [first] = await sage.open(2);
  await sage.answer({ type: "cancelled", requestId: first?.id ?? "" });
  assert.equal((await sage.outcome()).status, "cancelled");
  assert.equal(existsSync(here.path("ran")), false);
  assert.deepEqual(sage.store.pending(), []);
  assert.deepEqual(sage.facts().filter((f) => f.type === "call.finished").length, 2, "both calls have a result");
});

test("an edited grant runs the edited input; an edit that a rule denies is refused", async () => {
  using here = workspace();
  const rules = [{ behavior: "deny", text: "Bash(rm:*)", source: "user" } as const];
  await using sage = await sageWith({
    dir: here.dir,
    rules,
    script: [{ calls: [bash("echo one >> ran"), bash("env echo two")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first, second] = await sage.open(2);
  await sage.answer({ type: "granted", requestId: first?.id ?? "", input: { command: "echo edited >> ran" } });
  await sage.answer({ type: "granted", requestId: second?.id ?? "", input: { command: "rm -rf x" } });
  await sage.outcome();
  assert.equal(readFileSync(here.path("ran"), "utf8"), "edited\n");
  assert.match(sage.result(0, 1), /Not run: .*rm/);
});

test("'always' answers its twins: what a new rule decides is superseded and goes on", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("env echo hi"), bash("env echo hi"), bash("env echo other")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first, , third] = await sage.open(3);
  const suggestion = first?.kind === "permission" ? first.suggestions[0] : undefined;
  assert.equal(suggestion?.rule, "Bash(env echo hi)");
  const broken = await sage.answer({
    type: "granted",
    requestId: first?.id ?? "",
    rules: [{ rule: "Bash(", behavior: "allow", destination: "session" }],
  });
  assert.equal(broken.ok, false);
  await sage.answer({
    type: "granted",
    requestId: first?.id ?? "",
    rules: [{ rule: "Bash(env echo hi)", behavior: "allow", destination: "session" }],
  });
  await sage.answer({ type: "granted", requestId: third?.id ?? "" });
  assert.equal((await sage.outcome()).status, "success");
  assert.match(sage.result(0, 1), /hi/);
  const outcomes = sage.facts().flatMap((fact) => (fact.type === "input.resolved" ? [fact.data.outcome] : []));
  assert.deepEqual(outcomes.toSorted(), ["answered", "answered", "superseded"]);
});

test("A5: a file that changed after its edit was approved is not edited, and nobody is asked for what cannot work", async () => {
  using here = workspace();
  writeFileSync(here.path("a.txt"), "one\n");
  const edit = { tool: "Edit", input: { file_path: here.path("a.txt"), old_string: "one", new_string: "two" } };
  await using sage = await sageWith({
    dir: here.dir,
    script: [
      { calls: [{ tool: "Read", input: { file_path: here.path("a.txt") } }] },
      { calls: [edit] },
      { text: "ok" },
    ],
  });
  await sage.say("go");
  const [first] = await sage.open();
  writeFileSync(here.path("a.txt"), "one\nand more\n");
  await sage.answer({ type: "granted", requestId: first?.id ?? "" });
  await sage.outcome();
  assert.match(sage.result(1, 0), /has changed since you read it/);
  assert.equal(sage.facts().filter(({ type }) => type === "input.requested").length, 1);
  assert.equal(readFileSync(here.path("a.txt"), "utf8"), "one\nand more\n");
});

test("readers start at once, writers keep the model's order: one that waits holds the later ones", async () => {
  using here = workspace();
  writeFileSync(here.path("a.txt"), "content");
  const script = [
    {
      calls: [
        bash("echo first >> order"),
        { tool: "Read", input: { file_path: here.path("a.txt") } },
        bash("echo second >> order"),
      ],
    },
    { text: "ok" },
  ];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  const [first, second] = await sage.open(2);
  await sage.answer({ type: "granted", requestId: second?.id ?? "" });
  await until(() => sage.result(0, 1));
  assert.equal(existsSync(here.path("order")), false);
  await sage.answer({ type: "granted", requestId: first?.id ?? "" });
  await sage.outcome();
  assert.equal(readFileSync(here.path("order"), "utf8"), "first\nsecond\n");
});

test("what an earlier turn said is folded for the next exactly as it was lived", async () => {
  using here = workspace();
  const script = [
    { text: "thinking", calls: [askUser(question("Which?")), bash("env echo one")] },
    { text: "first done" },
    { calls: [bash("env echo two")] },
    { text: "second done" },
  ];
  await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")] });
  await sage.say("first");
  await sage.answer({
    type: "answers",
    requestId: (await sage.open())[0]?.id ?? "",
    answers: { "Which?": { selected: ["Red"] } },
  });
  const first = await sage.outcome();
  assert.deepEqual(fold(sage.facts()).messages, first.messages);
  await sage.say("second");
  const second = await sage.outcome();
  assert.deepEqual(second.messages.slice(0, first.messages.length), first.messages);
  assert.deepEqual(fold(sage.facts()).messages, second.messages);
  assert.equal(second.text, "second done");
});

test("half-filled answers are kept as a draft for whichever surface comes next", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("One?"), question("Two?"))] }, { text: "ok" }],
  });
  await sage.say("go");
  const requestId = (await sage.open())[0]?.id ?? "";
  const draft = { answers: { "One?": { selected: ["Red"] } } };
  assert.equal((await sage.host.send({ type: "saveDraft", requestId, draft, ...lin })).ok, true);
  const listed = await sage.host.send({ type: "pending" });
  assert.deepEqual(listed.ok && listed.requests.map((one) => one.draft), [draft]);
  const incomplete = await sage.answer({ type: "answers", requestId, ...draft });
  assert.equal(incomplete.ok, false);
  await sage.answer({ type: "answers", requestId, ...draft, partial: true });
  await sage.outcome();
  assert.match(sage.result(0, 0), /Two\?/);
  assert.equal((await sage.host.send({ type: "saveDraft", requestId, draft, ...lin })).ok, false, "it is answered");
});

test("A5: a record that was changed between the answer and the run stops the session: it can be looked at, and not gone on with", async () => {
  using here = workspace();
  const journal = here.path("journal.db");
  const script = [{ calls: [bash("echo harmless >> ran")] }, { text: "ok" }];
  let session: string;
  {
    await using sage = await sageWith({
      dir: here.dir,
      script,
      store: sqliteStore(journal),
      options: { mode: { type: "batch" } },
    });
    await sage.say("go");
    await sage.outcome();
    session = sage.session;
    await sage.answer({ type: "granted", requestId: `${session}/t0/0/0/permit0` });
  }
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(journal);
  db.exec("UPDATE fact SET data=replace(data, 'harmless', 'harmful') WHERE type='model.replied'");
  db.close();
  const store = sqliteStore(journal);
  assert.match(store.verify(session)?.key ?? "", /model/, "the hash chain names it too");
  await using later = await sageWith({ dir: here.dir, script, store });
  await assert.rejects(later.host.run(session), { code: "journal-damaged" });
  assert.equal(existsSync(here.path("ran")), false);
  assert.ok(store.load(session).length > 0);
});

test("two edits of one file in one reply are asked about once each", async () => {
  using here = workspace();
  writeFileSync(here.path("a.txt"), "one two\n");
  const edit = (from: string, to: string) => ({
    tool: "Edit",
    input: { file_path: here.path("a.txt"), old_string: from, new_string: to },
  });
  const script = [
    { calls: [{ tool: "Read", input: { file_path: here.path("a.txt") } }] },
    { calls: [edit("one", "1"), edit("two", "2")] },
    { text: "ok" },
  ];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  for (const { id } of await sage.open(2)) await sage.answer({ type: "granted", requestId: id });
  assert.equal((await sage.outcome()).status, "success");
  assert.equal(readFileSync(here.path("a.txt"), "utf8"), "1 2\n");
});

test("an allow rule for a folder does not follow a link out of it", async () => {
  using here = workspace();
  using outside = workspace();
  const { mkdirSync, symlinkSync } = await import("node:fs");
  mkdirSync(here.path("lib"));
  symlinkSync(outside.dir, here.path("lib/link"));
  const write = (path: string) => ({ tool: "Write", input: { file_path: path, content: "x" } });
  await using sage = await sageWith({
    dir: here.dir,
    rules: [allow("Edit(./lib/**)")],
    script: [{ calls: [write(here.path("lib/a")), write(here.path("lib/link/b"))] }, { text: "ok" }],
  });
  await sage.say("go");
  const [request, more] = await sage.open();
  assert.match(request?.kind === "permission" ? String(request.input["file_path"]) : "", /link\/b$/);
  assert.equal(more, undefined);
  await sage.answer({ type: "denied", requestId: request?.id ?? "" });
  await sage.outcome();
  assert.equal(readFileSync(here.path("lib/a"), "utf8"), "x");
  assert.equal(existsSync(outside.path("b")), false);
});
