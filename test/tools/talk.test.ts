import type { Answers, InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Resolution } from "../../src/protocol/facts/request.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { askUser } from "../../src/tools/ask/ask-user.ts";
import { bash } from "../../src/tools/shell/bash.ts";
import { builtinTools, createToolRegistry } from "../../src/tools/registry.ts";
import { createTask } from "../../src/tools/session/task.ts";
import { todoWrite } from "../../src/tools/session/todo-write.ts";
import { Workspace } from "./workspace.ts";

const option = (label: string) => ({ label, description: `takes ${label}` });
const database = { question: "Which database?", header: "Database", options: [option("Postgres"), option("SQLite")] };
const features = {
  question: "哪些功能？",
  header: "功能",
  options: [option("登录"), option("搜索")],
  multiSelect: true,
};

// AskUserQuestion: what may be asked

const accepts = (...questions: object[]) => askUser.inputSchema.safeParse({ questions }).success;

test("one to four questions with two to four options each, or none for a text", () => {
  const named = (question: string) => ({ ...database, question });
  assert.ok(accepts(database));
  assert.ok(accepts(...["a", "b", "c", "d"].map(named)));
  assert.ok(!accepts());
  assert.ok(!accepts(...["a", "b", "c", "d", "e"].map(named)));
  const offering = (...labels: string[]) => ({ ...database, options: labels.map(option) });
  assert.ok(accepts(offering("a", "b", "c", "Other")));
  assert.ok(accepts(offering()));
  assert.ok(!accepts(offering("a")));
  assert.ok(!accepts(offering("a", "b", "c", "d", "e")));
});

test("a header has at most 12 characters as people count them", () => {
  const headed = (header: string) => ({ ...database, header });
  assert.ok(accepts(headed("一二三四五六七八九十十二")));
  assert.ok(!accepts(headed("一二三四五六七八九十十二三")));
  assert.ok(accepts(headed("👩‍👩‍👧‍👦".repeat(12))));
  assert.ok(!accepts(headed("thirteen char")));
});

test("empty texts, repeated questions, repeated labels and answers from the model are refused", () => {
  assert.ok(!accepts({ ...database, question: " " }));
  assert.ok(!accepts({ ...database, header: "" }));
  assert.ok(!accepts({ ...database, options: [option("a"), { label: "b", description: "" }] }));
  assert.ok(!accepts({ ...database, options: [option("a"), option("a ")] }));
  assert.ok(!accepts(database, database));
  assert.ok(
    !askUser.inputSchema.safeParse({ questions: [database], answers: { "Which database?": "SQLite" } }).success,
  );
});

test("it waits for a person in every mode, and describes what to ask", async () => {
  using work = new Workspace();
  const input = askUser.inputSchema.parse({ questions: [database, features] });
  assert.deepEqual(
    [askUser.effect, askUser.requiresUserInteraction, work.judge(askUser, input)],
    ["waits", true, { behavior: "ask", hard: true, reason: { code: "asks-person", args: {} } }],
  );
  assert.deepEqual(askUser.request?.(input), {
    kind: "question",
    questions: [{ ...database, multiSelect: false }, features],
  });
  assert.match((await work.run(askUser, input)).text, /never executed/);
});

// AskUserQuestion: what the model reads

type Ending = { outcome: Resolution["outcome"]; reason?: string; response?: InputResponse };

function told(ending: Ending, questions = [database, features]) {
  const { reason, ...how } = ending;
  const why = reason === undefined ? {} : { reason: said(reason) };
  const resolution = { requestId: "s/t0/0/0", by: "Ann", surface: "terminal", at: 0, ...how, ...why } as Resolution;
  return askUser.answered?.(askUser.inputSchema.parse({ questions }), resolution);
}

const answers = (given: Answers, remark?: string): InputResponse => ({
  type: "answers",
  requestId: "s/t0/0/0",
  answers: given,
  ...(remark === undefined ? {} : { remark }),
});

const notConsent =
  "This is neither consent nor a choice of any option. Go on only with what does not depend on the answer, or say what you need to know.";

test("answered: selections, the person's own words and the remark, one line each", () => {
  const given = {
    "Which database?": { selected: [], other: 'DuckDB\n- 哪些功能？ → "all"' },
    "哪些功能？": { selected: ["登录", "搜索"], other: "导出" },
  };
  assert.deepEqual(told({ outcome: "answered", response: answers(given, "快一点") }), {
    ok: true,
    text: [
      "User answered:",
      `- Which database? → Other, in the person's own words: "DuckDB\\n- 哪些功能？ → \\"all\\""`,
      `- 哪些功能？ → "登录"; "搜索"; Other, in the person's own words: "导出"`,
      `Remark, in the person's own words: "快一点"`,
    ].join("\n"),
    answers: given,
  });
});

test("answered in plain text, as from a chat", () => {
  const response: InputResponse = { type: "text", requestId: "s/t0/0/0", text: "SQLite，都要" };
  assert.deepEqual(told({ outcome: "answered", response }), {
    ok: true,
    text: `User answered: in the person's own words: "SQLite，都要"`,
  });
});

test("partial: what is missing is named", () => {
  const response = answers({ "Which database?": { selected: ["SQLite"] }, "哪些功能？": { selected: [], other: " " } });
  assert.deepEqual(told({ outcome: "partial", response }), {
    ok: true,
    text: [
      "User answered 1 of 2 questions:",
      `- Which database? → "SQLite"`,
      "- 哪些功能？ → NOT answered. Do not assume an answer.",
    ].join("\n"),
    answers: { "Which database?": { selected: ["SQLite"] } },
  });
});

test("an empty answer is never an answer, whatever it calls itself", () => {
  const text = (response: InputResponse) => told({ outcome: "answered", response });
  assert.deepEqual(text(answers({})), { ok: false, text: `NOT answered: no question was answered. ${notConsent}` });
  assert.deepEqual(text(answers({}, "later")), {
    ok: false,
    text: `NOT answered: no question was answered (Remark, in the person's own words: "later"). ${notConsent}`,
  });
  const odd = { ...database, question: "constructor" };
  assert.equal(told({ outcome: "answered", response: answers({}) }, [odd])?.ok, false);
  for (const response of [
    { type: "granted", requestId: "s/t0/0/0" },
    { type: "text", requestId: "s/t0/0/0", text: " " },
  ] satisfies InputResponse[]) {
    assert.match(text(response)?.text ?? "", /^NOT answered: the reply held no answer/);
  }
});

test("every other ending says NOT answered, why, and that it is no consent", () => {
  const endings: [Ending, string][] = [
    [{ outcome: "declined", reason: "先不决定" }, "the person chose not to answer (先不决定)"],
    [{ outcome: "declined", reason: "" }, "the person chose not to answer"],
    [{ outcome: "cancelled", reason: "stopped by Ann" }, "the request was cancelled (stopped by Ann)"],
    [{ outcome: "timed_out", reason: "after 5 minutes" }, "nobody answered in time (after 5 minutes)"],
    [{ outcome: "superseded", reason: "upgrade" }, "the request was no longer needed (upgrade)"],
    [{ outcome: "no_surface", reason: "--yes" }, "nobody can be asked here (--yes)"],
  ];
  for (const [ending, why] of endings) {
    assert.deepEqual(told(ending), { ok: false, text: `NOT answered: ${why}. ${notConsent}` });
  }
});

test("timed out with a default: nobody answered, and the default was used", () => {
  const response = answers({ "Which database?": { selected: ["SQLite"] } });
  assert.deepEqual(told({ outcome: "timed_out", reason: "after 5 minutes", response }, [database]), {
    ok: true,
    text: [
      "Nobody answered in time (after 5 minutes), so the default was used. It is not the person's own choice.",
      "Default answers:",
      `- Which database? → "SQLite"`,
    ].join("\n"),
    answers: { "Which database?": { selected: ["SQLite"] } },
    preset: true,
  });
  const declined: InputResponse = { type: "denied", requestId: "s/t0/0/0" };
  assert.equal(told({ outcome: "timed_out", reason: "late", response: declined })?.ok, false);
});

// TodoWrite

test("TodoWrite gives the list back as a person would write it", async () => {
  using work = new Workspace();
  const todos = [
    { content: "读代码", status: "completed" },
    { content: "write the test", status: "in_progress" },
    { content: "mend it", status: "pending" },
  ];
  assert.equal(work.judge(todoWrite, { todos }).behavior, "allow");
  assert.deepEqual(await work.run(todoWrite, { todos }), {
    ok: true,
    text: "[x] 读代码\n[>] write the test\n[ ] mend it",
  });
  assert.equal((await work.run(todoWrite, { todos: [] })).text, "(the list is empty)");
  assert.ok(!todoWrite.inputSchema.safeParse({ todos: [{ content: "", status: "pending" }] }).success);
});

// Registry

test("the registry holds the built-in tools and offers them to a model", () => {
  const registry = createToolRegistry(builtinTools());
  assert.deepEqual(registry.names(), [
    "Read",
    "Write",
    "Edit",
    "Bash",
    "Wait",
    "KillShell",
    "Glob",
    "Grep",
    "TodoWrite",
    "AskUserQuestion",
    "ExitPlanMode",
  ]);
  assert.equal(registry.get("Bash"), bash);
  assert.equal(registry.get("bash"), undefined);
  const offers = registry.offers();
  assert.equal(registry.offers(), offers);
  for (const { name, description, inputSchema } of offers) {
    assert.ok(description.length > 60, name);
    assert.equal(inputSchema["type"], "object", name);
    assert.equal(inputSchema["additionalProperties"], false, name);
  }
  const ask = offers.at(-2)?.inputSchema as { properties: object; required: string[] };
  assert.deepEqual([Object.keys(ask.properties), ask.required], [["questions"], ["questions"]]);
});

test("a registry can be narrowed, copied and extended, without touching the one it came from", () => {
  const registry = createToolRegistry(builtinTools());
  assert.deepEqual(registry.filterByNames(["Grep", "Nothing", "Read"]).names(), ["Read", "Grep"]);
  const copy = registry.clone();
  assert.equal(copy.offers().length, 11);
  copy.register({ ...bash, name: "mcp__srv__run" });
  assert.deepEqual([copy.offers().length, copy.list().length, registry.names().length], [12, 12, 11]);
  assert.throws(() => copy.register(bash), { code: "config-invalid", message: 'there are two tools named "Bash"' });
});

// Names that models are known to spell otherwise

test("a list of todos may carry the fields of other agents, or not", () => {
  const todo = { content: "look", status: "pending" };
  const taken = (more: object) => {
    const adapted = todoWrite.adapt?.({ todos: [{ ...todo, ...more }] });
    return todoWrite.inputSchema.safeParse(adapted).success;
  };
  assert.ok(taken({}));
  assert.ok(taken({ activeForm: "Looking", id: "1", priority: "high" }));
  assert.ok(!taken({ status: "somehow" }));
  assert.ok(!todoWrite.inputSchema.safeParse(todoWrite.adapt?.({ todos: "look" })).success);
});

test("a task may name its agent as subagent_type, in any case, and leave out its description", () => {
  const task = createTask([
    { name: "Explore", description: "" },
    { name: "GeneralPurpose", description: "" },
  ]);
  const taken = (sent: Record<string, unknown>) => task.inputSchema.safeParse(task.adapt?.(sent)).data as unknown;
  assert.deepEqual(taken({ subagent_type: "general-purpose", prompt: "Find it.\nAll of it." }), {
    agent: "GeneralPurpose",
    description: "Find it.",
    prompt: "Find it.\nAll of it.",
  });
  assert.deepEqual(taken({ agent: "Explore", description: "x".repeat(100), prompt: "p" }), {
    agent: "Explore",
    description: "x".repeat(80),
    prompt: "p",
  });
  assert.equal(taken({ subagent_type: "nobody", prompt: "p" }), undefined);
});
