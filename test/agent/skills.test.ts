import assert from "node:assert/strict";
import { test } from "node:test";
import { fold } from "../../src/agent/turn/projection.ts";
import { skillForStep, type Skill } from "../../src/context/skills.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { ScriptedTurn } from "../../src/models/scripted.ts";
import type { Message } from "../../src/protocol/facts/message.ts";
import { transcriptOf } from "../../src/view/transcript/transcript.ts";
import { allow, bash, sageWith, workspace } from "../support/sage.ts";
import { worded } from "../support/worded.ts";

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
  await assert.rejects(sage.say("/reveiw"), worded(/no command and no skill \/reveiw/));
  assert.deepEqual(
    sage.facts().map(({ type }) => type),
    ["session.opened"],
  );
});

const release: Skill = {
  ...review,
  name: "release",
  description: "Publishes a version and tags it",
  allowedTools: ["Read"],
  body: "Run the tests before you tag $ARGUMENTS.",
};
const changes: Skill = {
  ...free,
  name: "changes",
  description: "Writes the changelog and release notes",
  body: "用短句。",
};

const textsIn = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.role === "user" ? [message.text] : []));

test("the best match goes into the prompt of the step that it fits, once, and stays what it was", async () => {
  using here = workspace();
  const store = memoryStore();
  const seen: string[][] = [];
  const turn = (reply: ScriptedTurn) => (request: ModelRequest) => {
    seen.push(textsIn(request.messages));
    return reply;
  };
  const script = [
    turn({ text: "I look around first.", calls: [bash("echo hi")] }),
    turn({ text: "Next I write the changelog and the notes of this release.", calls: [bash("echo more")] }),
    turn({ text: "published" }),
    turn({ text: "as you like" }),
  ];
  const options = { dir: here.dir, store, rules: [allow("Bash")], matchingSkill: "inject" as const };
  await using sage = await sageWith({ ...options, script, skills: [release, changes] });
  await sage.say("Publish version 2.0 and tag it");
  const outcome = await sage.outcome();
  const [first = "", asked = "", third = ""] = [seen[0]?.[0], seen[0]?.[1], seen[2]?.[2]];
  assert.equal(first, "Publish version 2.0 and tag it", "nothing is offered beside it");
  assert.match(
    asked,
    /^\(From Sage, not from the person: the skill "release" fits[^]*Run the tests before you tag what/,
  );
  assert.deepEqual(seen[1], seen[0], "it is there already");
  assert.match(third, /the skill "changes" fits[^]*用短句。$/, "by what the agent is about to do");
  assert.match(sage.result(0, 0), /hi/, "nobody has chosen it, so it narrows nothing");
  assert.deepEqual(fold(sage.facts()).messages, outcome.messages);
  const told = transcriptOf(sage.facts()).flatMap((item) => (item.type === "notice" ? [item.reason] : []));
  assert.deepEqual(told, [
    { code: "skill-injected", args: { name: "release" } },
    { code: "skill-injected", args: { name: "changes" } },
  ]);

  const other = { ...release, body: "Changed since." };
  await using later = await sageWith({ ...options, script, skills: [other] });
  await later.host.send({ type: "say", session: sage.session, text: "thanks", by: "test", surface: "test" });
  await later.host.run(sage.session);
  assert.ok(
    seen[3]?.some((text) => text.includes("Run the tests")),
    "what was read stays read",
  );
  assert.ok(!seen[3]?.some((text) => text.includes("Changed since")));
});

test("a subagent gets the skill that fits its task", async () => {
  using here = workspace();
  const seen: string[] = [];
  const asked = { tool: "Task", input: { agent: "Explore", description: "x", prompt: "Publish a version, tag it" } };
  const script = {
    "": [{ calls: [asked] }, { text: "ok" }],
    Explore: [
      ({ messages }: ModelRequest) => {
        seen.push(...textsIn(messages));
        return { text: "done" };
      },
    ],
  };
  await using sage = await sageWith({ dir: here.dir, script, skills: [release], matchingSkill: "inject" });
  await sage.say("go");
  await sage.outcome();
  assert.match(seen[1] ?? "", /the skill "release" fits/);
});

test("a skill that the model loaded itself, or that fits nothing, is not put there", () => {
  const call = { type: "call" as const, id: "c", tool: "Skill", input: { skill: "release" } };
  const messages: Message[] = [{ role: "assistant", parts: [call], model: "m" }];
  const step = { said: "publish a version", doing: "", messages };
  assert.equal(skillForStep([release], step), undefined);
  assert.equal(skillForStep([release], { ...step, said: "hello", messages: [] }), undefined);
  assert.equal(skillForStep([release], { ...step, messages: [] })?.name, "release");
  assert.equal(skillForStep([release], { said: "", doing: "I publish this version", messages: [] })?.name, "release");
});
