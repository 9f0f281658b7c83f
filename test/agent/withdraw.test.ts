// A message that nothing has read can be taken back. What the owner wrote with its prompt decides whether it was in time.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { fold } from "../../src/agent/turn/projection.ts";
import { forkOf } from "../../src/archive/sessions.ts";
import { createHost } from "../../src/host/host.ts";
import { respond } from "../../src/input/respond.ts";
import { renumbered } from "../../src/journal/store/housekeeping.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { Model, ModelRequest } from "../../src/models/model.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { Message } from "../../src/protocol/facts/message.ts";
import { rewindPoints } from "../../src/protocol/facts/rewound.ts";
import { unseenMessages } from "../../src/protocol/facts/unseen.ts";
import { saidKey, withdrawnKey } from "../../src/protocol/key.ts";
import { said, SageError } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { createProgress } from "../../src/view/transcript/progress.ts";
import { transcriptOf } from "../../src/view/transcript/transcript.ts";
import { thorough } from "../faults/rounds.ts";
import { killAtCommit } from "../support/kill.ts";
import { startRunner } from "../support/process.ts";
import { askUser, config, question, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { wordsOf } from "../support/worded.ts";

const lin = { by: "Lin", surface: "test" };
const red = { selected: ["Red"] };

const told = (messages: readonly Message[]) => messages.flatMap((one) => (one.role === "user" ? [one.text] : []));
const say = ({ host, session }: TestSage, text: string) => host.send({ type: "say", session, text, id: text, ...lin });
const withdraw = ({ host, session }: TestSage, text: string) =>
  host.send({ type: "withdraw", session, message: saidKey(text), ...lin });
const seqOf = (facts: readonly Fact[], text: string) => facts.find(({ key }) => key === saidKey(text))?.seq;
const replies = (facts: readonly Fact[]) => facts.filter((fact) => fact.type === "model.replied");

/** Requests to the model as they are made; `before` may hold one back. */
function listening(before: (n: number) => Promise<void> | void = () => {}) {
  const asked: string[][] = [];
  const wrap = (model: Model): Model => ({
    ...model,
    async reply(request: ModelRequest, scope) {
      const n = asked.push(told(request.messages));
      await before(n);
      return model.reply(request, scope);
    },
  });
  return { asked, wrap };
}

for (const kind of ["memory", "sqlite"] as const)
  test(`a message taken back before the next step is never sent, and the others are, in ${kind}`, async () => {
    using here = workspace();
    const store: Store = kind === "memory" ? memoryStore() : sqliteStore(here.path("journal.db"));
    const { asked, wrap } = listening();
    const script = [{ calls: [askUser(question("Sure?"))] }, { text: "first" }, { text: "second" }];
    await using sage = await sageWith({ dir: here.dir, script, store, wrap });
    await sage.say("go");
    const [request] = await sage.open();
    for (const text of ["一", "二", "三"]) assert.ok((await say(sage, text)).ok);
    assert.ok((await withdraw(sage, "二")).ok);
    assert.deepEqual(
      unseenMessages(sage.facts()).map(({ data }) => data.text),
      ["一", "三"],
    );
    await sage.answer({ type: "answers", requestId: request!.id, answers: { "Sure?": red } });
    assert.equal((await sage.outcome()).text, "first");
    assert.deepEqual(asked, [["go"], ["go", "一", "三"]]);
    const facts = sage.facts();
    assert.deepEqual(replies(facts).at(-1)?.data.without, [seqOf(facts, "二")]);
    await sage.say("next");
    await sage.outcome();
    assert.deepEqual(asked.at(-1), ["go", "一", "三", "next"], "folded as it was sent");
    assert.deepEqual(
      rewindPoints(sage.facts()).map(({ text }) => text),
      ["go", "next"],
    );
    const forked = renumbered(forkOf(sage.facts(), Infinity), "fork", 1);
    assert.deepEqual(told(fold(forked).messages), ["go", "一", "三", "next"]);
    assert.equal(store.session(sage.session)?.unheard, false);
  });

test("a message that the model is being asked with has been read: the withdrawal came too late, and everybody is told", async () => {
  using here = workspace();
  const gate = Promise.withResolvers<void>();
  const { asked, wrap } = listening((n) => (n === 2 ? gate.promise : undefined));
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "first" }, { text: "second" }];
  await using sage = await sageWith({ dir: here.dir, script, wrap });
  await sage.say("go");
  const [request] = await sage.open();
  await say(sage, "late");
  await sage.answer({ type: "answers", requestId: request!.id, answers: { "Sure?": red } });
  await until(() => asked.length === 2, "the second request to the model");
  assert.ok((await withdraw(sage, "late")).ok, "nobody but the owner knows by now");
  gate.resolve();
  assert.equal((await sage.outcome()).text, "first");
  assert.equal("without" in replies(sage.facts()).at(-1)!.data, false);
  await sage.say("next");
  await sage.outcome();
  assert.deepEqual(asked.at(-1), ["go", "late", "next"]);
  const items = transcriptOf(sage.facts());
  const taken = items.flatMap((item) => (item.type === "withdrawn" ? [item.late] : []));
  assert.deepEqual(taken, [false, true], "taken back, and then too late");
  assert.ok(items.every((item) => item.type !== "said" || (item.read && !item.withdrawn)));
});

test("a message that was read, is taken back already or does not exist is refused with a reason, in both languages", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "first" }];
  await using sage = await sageWith({ dir: here.dir, script });
  await say(sage, "go");
  await sage.open();
  await say(sage, "more");
  assert.ok((await withdraw(sage, "more")).ok);
  const refused = await Promise.all(["go", "more", "nothing"].map((text) => withdraw(sage, text)));
  const words = refused.map((reply) =>
    reply.ok || !reply.reason ? [] : [wordsOf(reply), sentence(reply.reason, "zh")],
  );
  assert.deepEqual(words, [
    ["too late: the agent has read it", "来不及了：智能体已经读过这条消息"],
    ["Lin has already taken it back", "Lin 已经撤回了这条消息"],
    ["there is no such message", "没有这条消息"],
  ]);
  assert.equal(sage.facts().filter(({ type }) => type === "message.withdrawn").length, 1);
});

test("a session whose only message was taken back is idle: no turn begins, and the next message begins one without it", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const { asked, wrap } = listening();
  const made = config({ dir: here.dir, script: [{ text: "done" }], store, wrap });
  const gate = Promise.withResolvers<void>();
  const executor = () => gate.promise.then(() => new TurnExecutor(made, { workingDirectory: here.dir }));
  const host = createHost({ store, version: "test", executor });
  await host.send({ type: "open", session: "s", cwd: here.dir });
  await host.send({ type: "say", session: "s", text: "no", id: "no", ...lin });
  const running = host.run("s");
  assert.ok((await host.send({ type: "withdraw", session: "s", message: saidKey("no"), ...lin })).ok);
  gate.resolve();
  assert.equal((await running).status, "cancelled");
  await host.send({ type: "resume", session: "s" });
  const summary = await host.send({ type: "sessions", session: "s" });
  assert.equal(summary.ok && summary.sessions[0]?.state, "idle");
  assert.equal(
    store.load("s").some(({ type }) => type === "turn.begun"),
    false,
  );
  const progress = createProgress();
  store.load("s").forEach(progress.note);
  assert.equal(progress.working, false);
  await host.send({ type: "say", session: "s", text: "yes", ...lin });
  assert.equal((await host.run("s")).text, "done");
  assert.deepEqual(asked, [["yes"]]);
  const begun = store.load("s").find((fact) => fact.type === "turn.begun");
  assert.deepEqual(begun?.data.without, [seqOf(store.load("s"), "no")]);
  const points = rewindPoints(store.load("s")).map(({ text }) => text);
  assert.deepEqual(points, ["yes"]);
  const shown = transcriptOf(store.load("s")).flatMap((item) => (item.type === "said" ? [[item.text, item.read]] : []));
  assert.deepEqual(shown, [
    ["no", false],
    ["yes", true],
  ]);
  await host.close();
});

test("whoever may not talk takes nothing back", async () => {
  using here = workspace();
  const store = memoryStore();
  const made = config({ dir: here.dir, script: [{ text: "done" }], store });
  const host = createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: here.dir }),
    guard: ({ by }) => by === "Lin",
  });
  await host.send({ type: "open", session: "s", cwd: here.dir });
  store.append("s", { key: saidKey("one"), type: "user.said", at: 1, data: { text: "one", ...lin } });
  const message = { type: "withdraw", session: "s", message: saidKey("one"), surface: "test" } as const;
  const refused = await host.send({ ...message, by: "somebody" });
  assert.deepEqual([refused.ok, !refused.ok && refused.code], [false, "not-permitted"]);
  assert.equal(store.session("s")?.unheard, true);
  assert.ok((await host.send({ ...message, by: "Lin" })).ok);
  assert.equal(store.session("s")?.unheard, false);
  await host.close();
});

test("a turn that fails does not read what was taken back before the request that failed", async () => {
  using here = workspace();
  const { asked, wrap } = listening((n) => {
    if (n === 2) throw new SageError("model-unavailable", said("no"));
  });
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "again" }];
  await using sage = await sageWith({ dir: here.dir, script, wrap });
  await sage.say("go");
  const [request] = await sage.open();
  await say(sage, "kept");
  await say(sage, "gone");
  await withdraw(sage, "gone");
  await sage.answer({ type: "answers", requestId: request!.id, answers: { "Sure?": red } });
  assert.equal((await sage.outcome()).status, "error");
  await sage.say("next");
  await sage.outcome();
  assert.deepEqual(asked.at(-1), ["go", "kept", "next"]);
});

/** Every commit with `npm run test:faults`, a few of them otherwise: each before and after in turn. */
const EVERY = thorough ? 1 : 5;

test("killed at any commit, a message taken back stays out and one that was not is heard once", async () => {
  for (let nth = 1; ; nth += EVERY) {
    using here = workspace();
    const script = [
      { calls: [askUser(question("Sure?"))] },
      { calls: [askUser(question("Really?"))] },
      { text: "end" },
    ];
    writeFileSync(here.path("script.json"), JSON.stringify(script));
    let killed = false;
    for (let attempt = 0; attempt < 4; attempt++) {
      const env = killed ? {} : killAtCommit(Math.ceil(nth / 2), nth % 2 === 0 ? "after" : "before");
      const { ended } = startRunner([here.dir, "s"], { env });
      const answered = answerAll(here.path("journal.db"), ended);
      const { signal } = await ended;
      await answered;
      if (signal === null) break;
      killed = true;
    }
    const store = sqliteStore(here.path("journal.db"));
    const facts = store.load("s");
    assert.deepEqual(told(fold(facts).messages), ["go", "stay"], `killed at ${nth}`);
    assert.equal(facts.filter(({ type }) => type === "turn.ended").length, 1);
    assert.equal(store.session("s")?.unheard, false);
    store.close();
    if (!killed) return;
  }
});

/** Once it waits, says two things and takes one back; then answers, until the process has ended. */
async function answerAll(journal: string, ended: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  void ended.then(() => over.abort());
  const store = sqliteStore(journal);
  const message = (id: string) =>
    store.append("s", { key: saidKey(id), type: "user.said", at: 1, data: { text: id, ...lin } }).fact.seq;
  while (!over.signal.aborted) {
    for (const request of store.pending("s")) {
      const data = { message: (message("stay"), message("gone")), ...lin };
      store.append("s", { key: withdrawnKey(saidKey("gone")), type: "message.withdrawn", at: 1, data });
      const name = request.kind === "question" ? request.questions[0]!.question : "";
      await respond(store, { type: "answers", requestId: request.id, answers: { [name]: red } }, lin).catch(() => {});
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  store.close();
}
