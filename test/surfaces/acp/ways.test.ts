import assert from "node:assert/strict";
import { test } from "node:test";
import type { InputRequest, PermissionRequest, Question } from "../../../src/protocol/facts/request.ts";
import { reason } from "../../../src/protocol/reasons/reason.ts";
import { chatAnswer, formAnswer, wayOf } from "../../../src/surfaces/acp/input.ts";
import { readPrompt } from "../../../src/surfaces/acp/index.ts";
import { requestedCall } from "../../../src/surfaces/acp/tool-call.ts";
import { slashWords } from "../../support/slash.ts";
import { acpTexts } from "../../../src/texts/surfaces/acp.ts";

const words = { ...slashWords("en"), w: acpTexts("en") };
const frame = { id: "s/t0/0/0/permit0", session: "s", at: 0, agent: [], why: reason("said", { text: "" }), digest: "" };
const bash: PermissionRequest = {
  ...{ ...frame, source: "approval", kind: "permission", tool: "Bash", input: { command: "ls" }, hard: false },
  suggestions: [
    { type: "addRule", rule: "Bash(ls:*)", behavior: "allow", destination: "session" },
    {
      type: "addRule",
      rule: "Bash(ls:*)",
      behavior: "allow",
      destination: "local",
      file: "/w/.sage/settings.local.json",
    },
  ],
};
const question = (text: string, labels: string[], more: Partial<Question> = {}): Question => ({
  ...{ question: text, header: "", multiSelect: false, options: labels.map((label) => ({ label, description: "" })) },
  ...more,
});
const asking = (...questions: Question[]): InputRequest => ({ ...frame, source: "tool", kind: "question", questions });

const kinds = (request: InputRequest) => {
  const way = wayOf(request, words, { form: false });
  return way.type === "buttons" ? way.buttons.map(({ option }) => `${option.optionId} ${option.kind}`) : way.type;
};

test("buttons of a permission: rules where they are offered, none where only a person may allow, plans, several people", () => {
  const always = ["always-session allow_always", "always-local allow_always"];
  const no = ["refuse reject_once", "stop reject_once"];
  assert.deepEqual(kinds(bash), ["allow allow_once", ...always, ...no]);
  assert.deepEqual(kinds({ ...bash, hard: true }), ["allow allow_once", ...no]);
  assert.deepEqual(kinds({ ...bash, consent: { approvals: 2 } }), ["allow allow_once", ...no]);
  assert.deepEqual(kinds({ ...bash, mayLeave: true, suggestions: [] }), [
    "allow allow_once",
    "outside allow_once",
    ...no,
  ]);
  const plan = { ...bash, tool: "ExitPlanMode", input: { plan: "# Do it" }, hard: true };
  assert.deepEqual(kinds(plan), ["allow allow_once", "accept-edits allow_always", ...no]);
});

test("questions without forms: one choice by buttons; after a crash, several or own words in the conversation", () => {
  const one = question("Which?", ["a", "b"]);
  assert.deepEqual(kinds(asking(one)), ["option-0 allow_once", "option-1 allow_once", "decline reject_once"]);
  assert.equal(
    kinds({ ...asking(one), source: "recovery" }),
    "chat",
    "nothing runs again because an editor allows everything",
  );
  assert.equal(kinds(asking(one, question("Why?", ["c"]))), "chat");
  assert.equal(kinds(asking({ ...one, multiSelect: true })), "chat");
  assert.equal(kinds({ ...frame, source: "tool", kind: "text", prompt: "Say" }), "chat");
});

test("what is typed or filled in becomes an answer, and foreign text steers nothing", () => {
  const request = asking(question("Which?", ["a", "b", "12"], { multiSelect: true }), question("Why?", ["x"]));
  const answers = (message: string) => {
    const response = chatAnswer(request, message);
    return response.type === "answers" ? response.answers : response.type;
  };
  assert.deepEqual(answers("1、b\nX"), { "Which?": { selected: ["a", "b"] }, "Why?": { selected: ["x"] } });
  assert.deepEqual(answers("12\n因为"), { "Which?": { selected: ["12"] }, "Why?": { selected: [], other: "因为" } });
  assert.deepEqual(answers("9"), { "Which?": { selected: [], other: "9" } });
  assert.equal(answers(" /decline "), "denied");
  const filled = formAnswer(request, {
    question_1: ["a"],
    question_1_other: "c",
    question_2: "x",
    question_2_other: "y",
  });
  assert.deepEqual(filled.type === "answers" && filled.answers, {
    ...{ "Which?": { selected: ["a"], other: "c" }, "Why?": { selected: [], other: "y" } },
  });
  const odd = asking(question("__proto__", ["a"]));
  for (const response of [chatAnswer(odd, "1"), formAnswer(odd, { question_1: "a" })])
    assert.deepEqual(response.type === "answers" && Object.entries(response.answers), [
      ["__proto__", { selected: ["a"] }],
    ]);
  const hostile = asking(question("\u001b[2JSure?\u202e", ["a\nb"]), question("2", ["c"]));
  const way = wayOf(hostile, words, { form: false });
  assert.doesNotMatch(JSON.stringify(way), /\\u001b|\u202e|a\\nb/u);
});

test("prompts: files by their path, attached text behind a fence that it cannot close, pictures", () => {
  const uri = "file:///w/%E4%B8%AD.ts";
  const { text, images } = readPrompt([
    { type: "text", text: "Look at " },
    { type: "resource_link", name: "中.ts", uri },
    { type: "resource", resource: { uri, text: "```\nend\n" } },
    { type: "image", data: "AAAA", mimeType: "image/png" },
  ]);
  assert.equal(text, "Look at /w/中.ts\n\n````/w/中.ts\n```\nend\n````");
  assert.deepEqual(images, [{ name: "image-1", data: "AAAA" }]);
});

test("an edit is shown as its preview says, and by its input where there is none", () => {
  const edit: PermissionRequest = {
    ...bash,
    ...{ tool: "Edit", input: { file_path: "a.ts", old_string: "1", new_string: "2" } },
  };
  const [diff] = requestedCall(edit, "/w").content ?? [];
  assert.deepEqual(diff, { type: "diff", path: "/w/a.ts", oldText: "1", newText: "2" });
  const lines = [
    { mark: " ", text: "head" },
    { mark: "-", text: "1" },
    { mark: "+", text: "2" },
  ] as const;
  const preview = { path: "/real/a.ts", lines: [...lines], firstLine: 3 };
  assert.deepEqual(requestedCall({ ...edit, preview }, "/w").content?.[0], {
    ...{ type: "diff", path: "/real/a.ts", oldText: "head\n1", newText: "head\n2" },
  });
});
