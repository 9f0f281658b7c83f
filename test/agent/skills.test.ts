import assert from "node:assert/strict";
import { test } from "node:test";
import { fold } from "../../src/agent/turn/projection.ts";
import type { Skill } from "../../src/context/skills.ts";
import { allow, bash, sageWith, workspace } from "../support/sage.ts";

const review: Skill = {
  name: "review",
  description: "Reviews changes",
  whenToUse: "",
  allowedTools: ["Read", "Task"],
  userInvocable: true,
  priority: 50,
  folder: "/skills/review",
  body: "Look at $ARGUMENTS twice.",
};
const free: Skill = { ...review, name: "free", description: "Anything", allowedTools: "all", body: "As you like." };
const use = (skill: string, args?: string) => ({
  tool: "Skill",
  input: { skill, ...(args !== undefined && { args }) },
});
const task = { tool: "Task", input: { agent: "GeneralPurpose", description: "it", prompt: "go" } };

test("a skill called by name is loaded with its arguments, and narrows the tools to the end of the turn", async () => {
  using here = workspace();
  const script = {
    "": [
      { calls: [use("review", "a.ts")] },
      { calls: [bash("echo hi"), { tool: "TodoWrite", input: { todos: [] } }, task] },
      { text: "reviewed" },
      { calls: [bash("echo free again")] },
      { text: "ok" },
    ],
    GeneralPurpose: [{ calls: [bash("echo deep")] }, { text: "I may not" }],
  };
  await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")], skills: [review, free] });
  await sage.say("/review a.ts");
  const outcome = await sage.outcome();
  const [said] = outcome.messages;
  assert.match(
    said?.role === "user" ? said.text : "",
    /^\/review a\.ts\n\n\(From Sage: the person calls the skill "review"/,
  );
  assert.equal(
    sage.result(0, 0),
    'Skill "review" (its folder: /skills/review)\n\nLook at a.ts twice.\n\nUntil the end of the turn: Read, Task only.',
  );
  assert.match(sage.result(1, 0), /Not run: the skill in use works with Read, Task only/);
  assert.equal(sage.result(1, 1), "(the list is empty)");
  const deep = sage.facts().find(({ key }) => key === "t0/1/2/sub/0/0/done");
  assert.match(deep?.type === "call.finished" ? deep.data.text : "", /the skill in use/, "also for who works for it");
  assert.deepEqual(fold(sage.facts()).messages, outcome.messages, "what was expanded is part of the fact");

  await sage.say("now something else");
  assert.equal((await sage.outcome()).text, "ok");
  const again = sage.facts().findLast((fact) => fact.type === "call.finished");
  assert.match(again?.type === "call.finished" ? again.data.text : "", /free again/);
});

test("another skill takes the place of the one before it", async () => {
  using here = workspace();
  const script = [{ calls: [use("review")] }, { calls: [use("free")] }, { calls: [bash("echo hi")] }, { text: "ok" }];
  await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")], skills: [review, free] });
  await sage.say("go");
  await sage.outcome();
  assert.match(sage.result(2, 0), /hi/);
});

test("a name that is no skill is refused before the model hears of it", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [], skills: [review] });
  await assert.rejects(sage.say("/reveiw"), /no command and no skill \/reveiw/);
  assert.deepEqual(
    sage.facts().map(({ type }) => type),
    ["session.opened"],
  );
});
