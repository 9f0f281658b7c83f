// What a model sends is read as it was meant, where it can mean only one thing, and before anybody sees it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import type { ModelRequest } from "../../src/models/model.ts";
import { forgiven } from "../../src/tools/definition/forgive.ts";
import { builtinTools, createToolRegistry } from "../../src/tools/registry.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

const server: Tool = {
  ...(builtinTools().find(({ name }) => name === "Bash") as Tool),
  name: "mcp__s__run",
  server: "s",
};
const tools = createToolRegistry([...builtinTools(), server]);
const option = (label: string) => ({ label, description: label });
const todo = { content: "a", status: "pending" };

const table: [string, [string, object], [string, object]][] = [
  ["a number as text", ["Bash", { command: "ls", timeout: "5000" }], ["Bash", { command: "ls", timeout: 5000 }]],
  [
    "a truth value as text",
    ["Bash", { command: "ls", background: "True" }],
    ["Bash", { command: "ls", background: true }],
  ],
  [
    "a field of another agent",
    ["Bash", { command: "ls", run_in_background: "true" }],
    ["Bash", { command: "ls", background: true }],
  ],
  ["another agent's id of a command", ["KillShell", { shell_id: "k3" }], ["KillShell", { id: "k3" }]],
  ["a tool in another case", ["bash", { command: "ls" }], ["Bash", { command: "ls" }]],
  ["a tool in another spelling", ["todo_write", { todos: [todo] }], ["TodoWrite", { todos: [todo] }]],
  ["a field in another spelling", ["Read", { filePath: "/a", Offset: "3" }], ["Read", { file_path: "/a", offset: 3 }]],
  ["the habit of another agent", ["Read", { path: "/a" }], ["Read", { file_path: "/a" }]],
  ["a list as text", ["TodoWrite", { todos: JSON.stringify([todo]) }], ["TodoWrite", { todos: [todo] }]],
  ["input that fits stays to the letter", ["Bash", { command: "5" }], ["Bash", { command: "5" }]],
  [
    "a number with words is no number",
    ["Bash", { command: "ls", timeout: "5 s" }],
    ["Bash", { command: "ls", timeout: "5 s" }],
  ],
  [
    "one field in two spellings is ambiguous",
    ["Read", { path: "/a", file: "/b" }],
    ["Read", { path: "/a", file: "/b" }],
  ],
  [
    "a spelling beside the field itself",
    ["Read", { file_path: "/a", path: "/b" }],
    ["Read", { file_path: "/a", path: "/b" }],
  ],
  ["an unknown tool", ["Bush", { command: "ls" }], ["Bush", { command: "ls" }]],
  [
    "a server's tool",
    ["mcp__s__run", { command: "ls", timeout: "5" }],
    ["mcp__s__run", { command: "ls", timeout: "5" }],
  ],
  ["a key of every object", ["Read", { __proto__x: 1, path: "/a" }], ["Read", { __proto__x: 1, path: "/a" }]],
];

for (const [name, [tool, input], [expectedTool, expected]] of table)
  test(`a call is read as it was meant: ${name}`, () => {
    const call = { type: "call" as const, id: "1", tool, input: input as Record<string, unknown> };
    assert.deepEqual(forgiven(call, tools), { type: "call", id: "1", tool: expectedTool, input: expected });
  });

test("the request, the rule and the receipt see the input as it was read; the model reads it in its own call", async () => {
  using here = workspace();
  let heard: ModelRequest | undefined;
  const script = [
    { calls: [{ tool: "bash", input: { command: "touch a", timeout: "9000" } }] },
    (request: ModelRequest) => ((heard = request), { text: "done" }),
  ];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  const [request] = await sage.open();
  assert.ok(request?.kind === "permission");
  assert.deepEqual([request.tool, request.input], ["Bash", { command: "touch a", timeout: 9000 }]);
  await sage.answer({ type: "granted", requestId: request.id });
  await sage.outcome();
  const sent = heard?.messages.flatMap((message) => (message.role === "assistant" ? message.parts : []));
  assert.deepEqual(
    sent?.slice(0, 1).map((part) => part.type === "call" && [part.tool, part.input]),
    [["Bash", request.input]],
  );
});

test("a header that is too long is cut; a wrong field names the nearest one, a wrong tool the tools that are offered", async () => {
  using here = workspace();
  writeFileSync(here.path("a.txt"), "a");
  const ask = { question: "Which?", header: "资料库的选择 and more", options: [option("a"), option("b")] };
  const script = [
    { calls: [{ tool: "AskUserQuestion", input: { questions: [ask] } }] },
    {
      calls: [
        { tool: "Read", input: { file_path: here.path("a.txt"), ofset: 1 } },
        { tool: "Greb", input: {} },
        bash("true"),
      ],
    },
    { text: "done" },
  ];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  const [request] = await sage.open();
  assert.ok(request?.kind === "question");
  assert.equal(request.questions[0]?.header, "资料库的选择 and …");
  await sage.answer({ type: "answers", requestId: request.id, answers: { "Which?": { selected: ["a"] } } });
  await sage.outcome();
  assert.match(sage.result(1, 0), /ofset[^]*offset/);
  assert.match(sage.result(1, 1), /no tool "Greb"; did you mean Grep\?; the tools are /);
  assert.doesNotMatch(sage.result(1, 1), /ExitPlanMode/, "it is not offered outside of plan mode");
});
