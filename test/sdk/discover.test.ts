import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { discover } from "../../src/sdk/entries/executor.ts";
import { SageAgentSDK, scripted } from "../../src/sdk/index.ts";
import { type ModelRequest } from "../../src/sdk/entries/models.ts";
import { workspace } from "../support/sage.ts";

/** A repository as people have it from another agent. */
function repository() {
  const here = workspace();
  const put = (path: string, ...lines: string[]) => {
    mkdirSync(dirname(here.path(path)), { recursive: true });
    writeFileSync(here.path(path), `${lines.join("\n")}\n`);
  };
  put(".git/HEAD", "ref: refs/heads/main");
  put("src/deep/a.ts", "");
  put(
    ".claude/skills/pdf-forms/SKILL.md",
    ...["---", "name: pdf-forms", "description: Fills in PDF forms. Use when a form is a PDF.", "license: MIT"],
    ...[
      "allowed-tools: Bash(pdftk:*), Read",
      "metadata:",
      "  version: 1.0",
      "  tags: [pdf, forms]",
      "---",
      "",
      "# PDF",
    ],
  );
  put(
    ".claude/agents/code-reviewer.md",
    ...[
      "---",
      "name: code-reviewer",
      "description: Use this agent after code was written.\\n\\nExamples:\\n- user: hi",
    ],
    ...["tools: Read, Grep, Glob, Bash", "model: sonnet", "color: red", "---", "", "You review code."],
  );
  put(".claude/commands/ship.md", "---", "description: ships", "---", "Ship $ARGUMENTS now.");
  put(".claude/skills/broken/SKILL.md", "no front matter");
  return here;
}

test("what another agent's folder has is found from anywhere in its repository", () => {
  using here = repository();
  const { skills, subagents, commands, problems } = discover(here.path("src/deep"));
  assert.deepEqual(
    skills.map(({ name, allowedTools, body }) => ({ name, allowedTools, body })),
    [{ name: "pdf-forms", allowedTools: ["Bash", "Read"], body: "# PDF" }],
  );
  const [reviewer] = subagents;
  assert.equal(reviewer?.name, "code-reviewer");
  assert.deepEqual(reviewer?.toolAccess, { restricted: ["Read", "Grep", "Glob", "Bash"] });
  assert.equal(commands[0]?.name, "ship");
  assert.deepEqual(
    problems.map(({ code }) => code),
    ["file-left-out", "in-file"],
    "the broken skill, and the model of the subagent",
  );
});

test("the SDK discovers when it is told to: skills, subagents and commands; names given in code count first", async () => {
  using here = repository();
  const asked: ModelRequest[] = [];
  const model = () =>
    scripted([
      (request: ModelRequest) => {
        asked.push(request);
        return { text: "ok" };
      },
    ]);
  const own = {
    ...{ name: "pdf-forms", description: "Ours", whenToUse: "", allowedTools: "all" as const },
    ...{ userInvocable: true, priority: 50, folder: here.dir, body: "ours" },
  };
  for (const options of [{}, { discover: true }, { discover: true, skills: [own] }]) {
    const sage = new SageAgentSDK({ model: model(), workingDirectory: join(here.dir, "src"), ...options });
    await sage.run(options.discover ? "/ship 2.0" : "hello");
    await sage.close();
  }
  const [plain, found, mixed] = asked.map(({ system }) => system);
  assert.doesNotMatch(plain ?? "", /pdf-forms/);
  assert.match(found ?? "", /- pdf-forms: Fills in PDF forms/);
  assert.match(mixed ?? "", /- pdf-forms: Ours/);
  const tools = (request: ModelRequest | undefined) =>
    JSON.stringify(request?.tools.find(({ name }) => name === "Task"));
  assert.match(tools(asked[1]), /code-reviewer/);
  assert.doesNotMatch(tools(asked[0]), /code-reviewer/);
  assert.match(JSON.stringify(asked[1]?.messages), /Ship 2\.0 now/);
});
