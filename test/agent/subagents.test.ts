import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { drain } from "../../src/agent/turn/strategy.ts";
import { createSubagentRegistry } from "../../src/agent/state/subagents.ts";
import { respond } from "../../src/input/respond.ts";
import { openSession, type SessionLog } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { SubagentDefinition } from "../../src/protocol/subagent.ts";
import { startRunner } from "../support/process.ts";
import { allow, askUser, bash, config, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { worded } from "../support/worded.ts";

const task = (agent: string, prompt = "do it") => ({ tool: "Task", input: { agent, description: "a task", prompt } });
const lin = { by: "Lin", surface: "test" };
const asker: SubagentDefinition = {
  name: "Asker",
  type: "custom",
  description: "asks",
  prompt: "ask",
  toolAccess: "inherited",
  workingDirectory: "inherited",
  ask: "root",
};

test("several subagents work at the same time, each with a context of its own, and report in the order of the calls", async () => {
  using here = workspace();
  writeFileSync(here.path("a.txt"), "alpha");
  const seen: string[] = [];
  const script = {
    "": [{ calls: [task("Explore", "look at a"), task("GeneralPurpose", "say hello")] }, { text: "both are back" }],
    Explore: [
      { calls: [{ tool: "Read", input: { file_path: here.path("a.txt") } }] },
      (request: { messages: readonly unknown[] }) => (
        seen.push(JSON.stringify(request.messages)),
        { text: "a says alpha", usage: { inputTokens: 7 } }
      ),
    ],
    GeneralPurpose: [{ text: "hello", usage: { outputTokens: 5 } }],
  };
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  const outcome = await sage.outcome();
  assert.equal(outcome.text, "both are back");
  assert.deepEqual([sage.result(0, 0), sage.result(0, 1)], ["a says alpha", "hello"]);
  assert.doesNotMatch(seen[0] ?? "", /"go"/, "it sees its own task and nothing else of the conversation");
  assert.deepEqual([outcome.usage.inputTokens, outcome.usage.outputTokens], [7, 5], "the tree's usage is the turn's");
  assert.deepEqual([outcome.stats.modelCalls, outcome.stats.toolCalls], [5, 3]);
  assert.equal(outcome.messages.length, 4, "a subagent's conversation is its own");
});

test("a subagent has never more than its parent: tools are cut, questions refused, unknown types named", async () => {
  using here = workspace();
  const script = {
    "": [{ calls: [task("Explore"), task("Nobody")] }, { text: "ok" }],
    Explore: [{ calls: [bash("echo x >> ran"), askUser(question("Sure?")), task("Explore")] }, { text: "I may not" }],
  };
  await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")] });
  await sage.say("go");
  await sage.outcome();
  assert.equal(existsSync(here.path("ran")), false);
  assert.equal(sage.result(0, 0), "I may not");
  assert.match(sage.result(0, 1), /agent/);
  const refusals = sage
    .facts()
    .flatMap((fact) => (fact.type === "call.finished" && fact.key.includes("/sub/") ? [fact.data.text] : []));
  assert.deepEqual(
    refusals.map((text) => /there is no tool|only the main agent may ask the person/.exec(text)?.[0]),
    ["there is no tool", "only the main agent may ask the person", "there is no tool"],
  );
});

test("permission requests of any depth reach the root's surfaces with their ancestry; `ask: root` may ask too", async () => {
  using here = workspace();
  const script = {
    "": [{ calls: [task("Asker")] }, { text: "ok" }],
    Asker: [{ calls: [askUser(question("Which?")), task("GeneralPurpose")] }, { text: "asker done" }],
    "Asker/GeneralPurpose": [{ calls: [bash("echo deep >> ran")] }, { text: "deep done" }],
  };
  await using sage = await sageWith({ dir: here.dir, script, agents: [asker] });
  await sage.say("go");
  const open = await sage.open(2);
  assert.deepEqual(
    open.map(({ kind, agent }) => [kind, agent]),
    [
      ["question", ["Asker"]],
      ["permission", ["Asker", "GeneralPurpose"]],
    ],
  );
  await sage.answer({ type: "answers", requestId: open[0]?.id ?? "", answers: { "Which?": { selected: ["Red"] } } });
  await sage.answer({ type: "granted", requestId: open[1]?.id ?? "" });
  assert.equal((await sage.outcome()).status, "success");
  assert.equal(readFileSync(here.path("ran"), "utf8"), "deep\n");
});

test("an interrupt reaches every depth, and auto-responses and batch apply to the whole tree", async () => {
  using here = workspace();
  const script = {
    "": [{ calls: [task("GeneralPurpose")] }, { text: "root" }],
    GeneralPurpose: [{ calls: [task("Execute")] }, { text: "middle" }],
    "GeneralPurpose/Execute": [{ calls: [bash("echo begun >> ran; sleep 60")] }, { text: "deep" }],
  };
  await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")] });
  await sage.say("go");
  await until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
  await sage.host.send({ type: "interrupt", session: sage.session, ...lin });
  const paused = await sage.outcome();
  assert.equal(paused.status, "paused");
  for (const key of ["t0/0/0/sub/0/0/done", "t0/0/0/done"]) {
    const fact = sage.facts().find((one) => one.key === key);
    const text = fact?.type === "call.finished" ? fact.data.text : "";
    assert.match(text, /^Interrupted before it had finished; what it did by then stays done/, key);
  }

  await using alone = await sageWith({
    dir: here.dir,
    script,
    options: { mode: { type: "nonInteractive", autoResponse: "default" } },
  });
  await alone.say("go");
  assert.equal((await alone.outcome()).status, "success");
  await using batch = await sageWith({ dir: here.dir, script, options: { mode: { type: "batch" } } });
  await batch.say("go");
  const outcome = await batch.outcome();
  assert.deepEqual(outcome.status === "needs-input" && outcome.requests, [
    `${batch.session}/t0/0/0/sub/0/0/sub/0/0/permit0`,
  ]);
});

test("'always' given to one agent answers its twin in another", async () => {
  using here = workspace();
  const script = {
    "": [{ calls: [task("Execute"), task("GeneralPurpose")] }, { text: "ok" }],
    Execute: [{ calls: [bash("env echo hi")] }, { text: "one" }],
    GeneralPurpose: [{ calls: [bash("env echo hi")] }, { text: "two" }],
  };
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  const [first] = await sage.open(2);
  await sage.answer({
    type: "granted",
    requestId: first?.id ?? "",
    rules: [{ rule: "Bash(env echo hi)", behavior: "allow", destination: "session" }],
  });
  assert.equal((await sage.outcome()).status, "success");
});

test("a crash at depth 2 recovers under the same ids, and nothing runs twice", async () => {
  using here = workspace();
  const script = {
    "": [{ calls: [task("GeneralPurpose"), bash("echo root >> ran")] }, { text: "all done" }],
    GeneralPurpose: [{ calls: [task("Execute")] }, { text: "middle" }],
    "GeneralPurpose/Execute": [{ calls: [bash("echo deep >> ran")] }, { text: "deep" }],
  };
  writeFileSync(here.path("script.json"), JSON.stringify(script));
  const first = startRunner([here.dir, "s"]);
  await first.until(/input.requested t0\/0\/0\/sub\/0\/0\/sub\/0\/0\/permit0/);
  first.child.kill("SIGKILL");
  await first.ended;
  const store = sqliteStore(here.path("journal.db"));
  const ids = store.pending("s").map(({ id }) => id);
  assert.deepEqual(ids, ["s/t0/0/1/permit0", "s/t0/0/0/sub/0/0/sub/0/0/permit0"]);
  store.close();
  const second = await startRunner([here.dir, "s"], { env: { ANSWER: "self" } }).ended;
  assert.match(second.out, /all done/, second.err);
  assert.deepEqual(readFileSync(here.path("ran"), "utf8").trim().split("\n").toSorted(), ["deep", "root"]);
});

test("a subagent that fails or runs out of steps is a result, and nesting ends at three", async () => {
  using here = workspace();
  const limited: SubagentDefinition = { ...asker, name: "Limited", maxSteps: 2 };
  const again = { calls: [bash("true")] };
  const script = {
    "": [{ calls: [task("Limited"), task("Plan")] }, { text: "ok" }],
    Limited: [again, again, again],
  };
  await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")], agents: [limited] });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  assert.match(sage.result(0, 0), /stopped after 2 steps/);
  assert.match(sage.result(0, 1), /could not go on: the script has no turn/);

  const deep = { calls: [task("GeneralPurpose")] };
  const nested = {
    "": [deep, { text: "ok" }],
    GeneralPurpose: [deep, { text: "1" }],
    "GeneralPurpose/GeneralPurpose": [deep, { text: "2" }],
    "GeneralPurpose/GeneralPurpose/GeneralPurpose": [deep, { text: "3" }],
  };
  await using nest = await sageWith({ dir: here.dir, script: nested });
  await nest.say("go");
  await nest.outcome();
  const deepest = nest.facts().find(({ key }) => key === "t0/0/0/sub/0/0/sub/0/0/sub/0/0/done");
  assert.match(deepest?.type === "call.finished" ? deepest.data.text : "", /no tool "Task"/);
});

test("a type of one's own is registered like the built-in ones, and a name that cannot be shown is refused", () => {
  const registry = createSubagentRegistry();
  assert.deepEqual(
    registry.list().map(({ name }) => name),
    ["Explore", "Plan", "Execute", "GeneralPurpose", "CodeReview"],
  );
  registry.register({ ...asker, name: "审查" });
  assert.equal(registry.get("审查")?.ask, "root");
  assert.throws(() => registry.register({ ...asker, name: "a\u202eb" }), worded(/letters, digits/));
});

test("`ask: root` is enough to ask, also where the tools are named; below one that may not ask it is nothing", async () => {
  using here = workspace();
  const reader: SubagentDefinition = { ...asker, name: "Reader", toolAccess: { restricted: ["Read"] } };
  const script = {
    "": [{ calls: [task("Reader"), task("GeneralPurpose")] }, { text: "ok" }],
    Reader: [{ calls: [askUser(question("Which?"))] }, { text: "heard" }],
    GeneralPurpose: [{ calls: [task("Reader")] }, { text: "middle" }],
    "GeneralPurpose/Reader": [{ calls: [askUser(question("May I?"))] }, { text: "not heard" }],
  };
  await using sage = await sageWith({ dir: here.dir, script, agents: [reader] });
  await sage.say("go");
  const [request, ...others] = await sage.open();
  assert.deepEqual([request?.agent, others], [["Reader"], []]);
  await sage.answer({
    type: "answers",
    requestId: request?.id ?? "",
    answers: { "Which?": { selected: ["Red"] } },
  });
  assert.equal((await sage.outcome()).text, "ok");
  const refused = sage.facts().find(({ key }) => key === "t0/0/1/sub/0/0/sub/0/0/done");
  assert.match(refused?.type === "call.finished" ? refused.data.text : "", /only the main agent may ask the person/);
});

test("a turn whose subagent is gone waits for its definition, with its request, instead of being destroyed", async () => {
  using here = workspace();
  const script = {
    "": [{ calls: [task("Asker")] }, { text: "ok" }],
    Asker: [{ calls: [bash("echo once >> ran")] }, { text: "done" }],
  };
  const store = sqliteStore(here.path("journal.db"));
  const as = (agents: SubagentDefinition[]) => {
    const made = config({ dir: here.dir, script, store, agents });
    return new TurnExecutor(made, { workingDirectory: here.dir });
  };
  store.create("s", { cwd: here.dir, version: "test" });
  store.append("s", { key: "said/0", type: "user.said", at: 1, data: { text: "go", ...lin } });
  const attempt = async (agents: SubagentDefinition[], meanwhile: (log: SessionLog) => Promise<void>) => {
    const log = openSession(store, "s");
    const [outcome] = await Promise.all([drain(as(agents).execute({ log }), () => {}), meanwhile(log)]);
    log.release();
    return outcome;
  };
  const asked = async () => {
    await until(() => store.pending("s").length !== 0);
    return store.pending("s")[0]?.id ?? "";
  };
  assert.equal((await attempt([asker], async (log) => void (await asked(), log.close()))).status, "paused");
  const id = await asked();
  const without = await attempt([], async () => {});
  assert.match(without.status === "paused" ? sentence(without.reason, "en") : "", /needs Task as it was[^]*should be/);
  assert.equal(await asked(), id);
  const again = await attempt([asker], async () => void respond(store, { type: "granted", requestId: id }, lin));
  assert.equal(again.status, "success");
  assert.equal(readFileSync(here.path("ran"), "utf8"), "once\n");
  assert.equal(again.stats.modelCalls, 4, "replies of earlier attempts count");
  store.close();
});

test("a subagent that is refused five times gives its task back, to the one who hears the person", async () => {
  using here = workspace();
  const script = {
    "": [{ calls: [task("Execute")] }, { text: "How would you like it?" }],
    Execute: [{ calls: [1, 2, 3, 4, 5].map((n) => bash(`env echo ${n}`)) }, { text: "never said" }],
  };
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  for (const { id } of await sage.open(5)) await sage.answer({ type: "denied", requestId: id });
  assert.equal((await sage.outcome()).text, "How would you like it?");
  assert.match(sage.result(0, 0), /refused 5 of its calls in a row; ask them how to continue/);
});
