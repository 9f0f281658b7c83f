import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { respond } from "../../src/input/respond.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { modeOf } from "../../src/protocol/facts/session.ts";
import type { SessionMode } from "../../src/protocol/mode.ts";
import { thorough } from "../faults/rounds.ts";
import { killAtCommit } from "../support/kill.ts";
import { startRunner } from "../support/process.ts";
import { allow, askUser, bash, question, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

const plan = (text = "# 计划\n\n1. 改 a.txt") => ({ tool: "ExitPlanMode", input: { plan: text } });
const write = (path: string, content = "new\n") => ({ tool: "Write", input: { file_path: path, content } });

async function choose({ host, session }: TestSage, mode: SessionMode): Promise<void> {
  const chosen = await host.send({ type: "chooseMode", session, mode, by: "Lin", surface: "test" });
  assert.ok(chosen.ok);
}

const ends = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.type === "call.finished" ? [fact.data.end ?? ""] : []));

test("plan mode runs what reads, refuses the rest at once, and asks nobody about it", async () => {
  using here = workspace();
  writeFileSync(here.path("a.txt"), "one\n");
  const asked: ModelRequest[] = [];
  await using sage = await sageWith({
    dir: here.dir,
    rules: [allow("Bash(npm test)"), allow("Write")],
    permissionMode: "bypass",
    wrap: (model) => ({ ...model, reply: (request, scope) => (asked.push(request), model.reply(request, scope)) }),
    script: [
      {
        calls: [
          { tool: "Read", input: { file_path: here.path("a.txt") } },
          bash("cat a.txt | wc -l"),
          bash("npm test"),
          bash("touch b.txt"),
          write(here.path("c.txt")),
          { tool: "TodoWrite", input: { todos: [] } },
        ],
      },
      { text: "looked" },
      { text: "again" },
    ],
  });
  await choose(sage, "plan");
  await sage.say("plan it");
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(ends(sage.facts()).toSorted(), [...["done", "done", "done", "not-run", "not-run", "not-run"]]);
  assert.match(sage.result(0, 4), /^Not run: In plan mode only calls that read run/);
  assert.deepEqual([existsSync(here.path("b.txt")), existsSync(here.path("c.txt"))], [false, false]);
  assert.deepEqual(
    sage.facts().filter(({ type }) => type === "input.requested"),
    [],
  );
  const last = asked[0]?.messages.at(-1);
  assert.match(last?.role === "user" ? last.text : "", /plan mode is on/);
  assert.ok(asked[0]?.tools.some(({ name }) => name === "ExitPlanMode"));
  // Nothing of the reminder stays in the conversation.
  await choose(sage, "ask");
  await sage.say("and now");
  await sage.outcome();
  assert.doesNotMatch(JSON.stringify(asked[2]?.messages), /said by Sage/);
  assert.ok(
    asked[2]?.tools.some(({ name }) => name === "ExitPlanMode"),
    "the list of tools stays as it is cached",
  );
});

test("a session that never was in plan mode is not offered to leave it, and a call to do so is refused", async () => {
  using here = workspace();
  const asked: ModelRequest[] = [];
  await using sage = await sageWith({
    dir: here.dir,
    wrap: (model) => ({ ...model, reply: (request, scope) => (asked.push(request), model.reply(request, scope)) }),
    script: [{ calls: [plan()] }, { text: "ok" }],
  });
  await sage.say("go");
  await sage.outcome();
  assert.ok(!asked[0]?.tools.some(({ name }) => name === "ExitPlanMode"));
  assert.match(sage.result(0, 0), /not in plan mode/);
});

for (const [response, mode, ran] of [
  [{ type: "granted" }, "ask", "asked"],
  [{ type: "granted", mode: "acceptEdits" }, "acceptEdits", "done"],
  [{ type: "denied", reason: "先写测试" }, "plan", "refused"],
] as const)
  test(`a plan that is ${response.type} leaves the session in the mode ${mode}`, async () => {
    using here = workspace();
    await using sage = await sageWith({
      dir: here.dir,
      script: [{ calls: [plan()] }, { calls: [write(here.path("新.txt"))] }, { text: "ok" }],
    });
    await choose(sage, "plan");
    await sage.say("plan it");
    const [request] = await sage.open();
    assert.ok(request?.kind === "permission" && request.hard && request.tool === "ExitPlanMode");
    assert.ok((await sage.answer({ ...response, requestId: request.id })).ok);
    if (ran === "asked") {
      const edit = await until(() => sage.store.pending(sage.session)[0], "the edit does not ask");
      assert.ok((await sage.answer({ type: "denied", requestId: edit.id })).ok);
    }
    assert.equal((await sage.outcome()).status, "success");
    assert.equal(modeOf(sage.facts()), mode);
    assert.equal(existsSync(here.path("新.txt")), ran === "done");
    if (ran === "refused") assert.match(sage.result(0, 0), /先写测试/);
    const chosen = sage.facts().filter(({ type }) => type === "mode.chosen");
    assert.equal(chosen.length, response.type === "granted" ? 2 : 1);
  });

test("a plan that the person edits is the one that the agent carries out", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [plan()] }, { text: "ok" }] });
  await choose(sage, "plan");
  await sage.say("plan it");
  const [request] = await sage.open();
  await sage.answer({ type: "granted", requestId: request!.id, input: { plan: "only b.txt" }, mode: "acceptEdits" });
  await sage.outcome();
  assert.match(sage.result(0, 0), /approved the plan[\s\S]*only b\.txt/);
  assert.equal(modeOf(sage.facts()), "acceptEdits");
});

test("a mode goes with the yes to a plan and with nothing else", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("touch a")] }, { text: "ok" }] });
  await sage.say("go");
  const [request] = await sage.open();
  const refused = await sage.answer({ type: "granted", requestId: request!.id, mode: "acceptEdits" });
  assert.ok(!refused.ok && refused.code === "request-invalid");
  assert.equal(sage.store.pending(sage.session).length, 1);
});

test("questions are asked in plan mode too", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("Which?"))] }, { text: "ok" }],
  });
  await choose(sage, "plan");
  await sage.say("plan it");
  const [request] = await sage.open();
  await sage.answer({ type: "answers", requestId: request!.id, answers: { "Which?": { selected: ["Red"] } } });
  assert.equal((await sage.outcome()).status, "success");
  assert.match(sage.result(0, 0), /Red/);
});

test("a subagent of a session in plan mode only reads, and cannot put a plan before the person", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    rules: [allow("Write")],
    script: {
      "": [
        { calls: [{ tool: "Task", input: { agent: "GeneralPurpose", description: "look", prompt: "look" } }] },
        { text: "ok" },
      ],
      GeneralPurpose: [{ calls: [write(here.path("x.txt")), plan()] }, { text: "seen" }],
    },
  });
  await choose(sage, "plan");
  await sage.say("plan it");
  await sage.outcome();
  assert.equal(existsSync(here.path("x.txt")), false);
  assert.deepEqual(
    sage.facts().filter(({ type }) => type === "input.requested"),
    [],
  );
});

test("a call that was approved runs, also when the session went into plan mode meanwhile", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("touch yes.txt")] }, { text: "ok" }] });
  await sage.say("go");
  const [request] = await sage.open();
  await choose(sage, "plan");
  await sage.answer({ type: "granted", requestId: request!.id });
  await sage.outcome();
  assert.ok(existsSync(here.path("yes.txt")));
});

test("accept edits allows edits in the workspace, and nothing that is protected, runs later, leads out or is ruled", async () => {
  using here = workspace();
  using other = workspace();
  mkdirSync(here.path(".git"));
  symlinkSync(other.dir, here.path("out"));
  writeFileSync(here.path("package.json"), "{}");
  const deny = { behavior: "deny", text: "Write(./never.txt)", source: "user" } as const;
  const ask = { behavior: "ask", text: "Write(./always.txt)", source: "user" } as const;
  await using sage = await sageWith({
    dir: here.dir,
    store: memoryStore(),
    rules: [deny, ask],
    script: [
      { calls: [write(here.path("目录/新.txt")), write(here.path("never.txt"))] },
      {
        calls: [
          write(here.path(".git/config")),
          write(here.path("out/x.txt")),
          write(here.path("always.txt")),
          write(here.path(".husky/pre-commit")),
          bash("echo x > y.txt"),
        ],
      },
      { text: "ok" },
    ],
  });
  await choose(sage, "acceptEdits");
  await sage.say("go");
  const open = await sage.open(5);
  assert.equal(readFileSync(here.path("目录/新.txt"), "utf8"), "new\n");
  assert.equal(existsSync(here.path("never.txt")), false);
  assert.equal(open.length, 5);
  for (const { id } of open) await sage.answer({ type: "denied", requestId: id });
  await sage.outcome();
});

/** Every commit with `npm run test:faults`, a few of them otherwise: each before and after in turn. */
const EVERY = thorough ? 1 : 5;

test("the yes to a plan survives a kill at any commit: the plan is asked once and the mode is chosen once", async () => {
  for (let nth = 1; ; nth += EVERY) {
    using here = workspace();
    const script = [{ calls: [plan()] }, { calls: [write(here.path("w.txt"))] }, { text: "done" }];
    writeFileSync(here.path("script.json"), JSON.stringify(script));
    const store = sqliteStore(here.path("journal.db"));
    store.create("s", { cwd: here.dir, version: "test" });
    const chosen = { mode: "plan", by: "Lin", surface: "test" } as const;
    store.append("s", { key: "mode/1", type: "mode.chosen", at: Date.now(), data: chosen });
    store.close();
    let killed = false;
    for (let attempt = 0; attempt < 6; attempt++) {
      const side = nth % 2 === 0 ? "after" : "before";
      const env = killed ? {} : killAtCommit(Math.ceil(nth / 2), side);
      const { ended } = startRunner([here.dir, "s"], { env });
      const answered = answerPlans(here.path("journal.db"), ended);
      const { signal } = await ended;
      await answered;
      if (signal === null) break;
      killed = true;
    }
    const after = sqliteStore(here.path("journal.db"));
    const facts = after.load("s");
    after.close();
    const of = (type: Fact["type"]) => facts.filter((fact) => fact.type === type).length;
    assert.deepEqual(
      [of("turn.ended"), of("input.requested"), of("mode.chosen"), modeOf(facts)],
      [1, 1, 2, "acceptEdits"],
      `killed at ${nth}`,
    );
    assert.equal(readFileSync(here.path("w.txt"), "utf8"), "new\n");
    if (!killed) return;
  }
});

/** Says yes to whatever is open until the process has ended. */
async function answerPlans(journal: string, ended: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  void ended.then(() => over.abort());
  const store = sqliteStore(journal);
  while (!over.signal.aborted) {
    for (const { id } of store.pending("s"))
      await respond(
        store,
        { type: "granted", requestId: id, mode: "acceptEdits" },
        { by: "Lin", surface: "test" },
      ).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  store.close();
}
