import assert from "node:assert/strict";
import { test } from "node:test";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { loadRules, parseRule, readRule } from "../../src/permission/rules/rules.ts";
import { worded } from "../support/worded.ts";

test("a rule is a tool, or a tool and a specifier that is kept as written", () => {
  const readings: Record<string, object> = {
    Bash: { ok: true, tool: "Bash" },
    " Bash ": { ok: true, tool: "Bash" },
    "Bash(*)": { ok: true, tool: "Bash", specifier: "*" },
    "Bash(npm test:*)": { ok: true, tool: "Bash", specifier: "npm test:*" },
    "Bash(echo (a) b)": { ok: true, tool: "Bash", specifier: "echo (a) b" },
    "Bash(echo \\(a\\))": { ok: true, tool: "Bash", specifier: "echo \\(a\\)" },
    "Bash(echo \\\\)": { ok: true, tool: "Bash", specifier: "echo \\\\" },
    "Read(~/notes/**)": { ok: true, tool: "Read", specifier: "~/notes/**" },
    mcp__jira: { ok: true, tool: "mcp__jira" },
    mcp__jira__search: { ok: true, tool: "mcp__jira__search" },
    "mcp__*": { ok: true, tool: "mcp__*" },
  };
  for (const [text, reading] of Object.entries(readings)) assert.deepEqual(parseRule(text), reading, text);
});

test("what is not a rule says what was expected", () => {
  const expected: Record<string, RegExp> = {
    "": /expected Tool/,
    "Bash ls": /expected Tool/,
    "(ls)": /expected Tool/,
    "Bash)": /expected Tool/,
    "Bash(ls": /closing \)/,
    "Bash(": /closing \)/,
    "Bash(ls) ; rm": /closing \)/,
    "Bash(ls\\)": /closing \)/,
    "Bash()": /between the parentheses/,
    "Bash( )": /between the parentheses/,
    "Edit(~bob/x)": /~name/,
    mcp__: /mcp__server/,
    mcp____tool: /mcp__server/,
    mcp__server__: /mcp__server/,
    [`Bash(${"a".repeat(1_000)})`]: /at most 1000 characters/,
  };
  for (const [text, message] of Object.entries(expected)) {
    const reading = parseRule(text);
    assert.ok(!reading.ok, text);
    assert.match(sentence(reading.problem, "en"), message);
  }
});

test("an allow rule may have a star in the tool name only after a literal server", () => {
  for (const text of ["*", "mcp__*", "mcp__ji*__search", "B*", "mcp__ji*"]) {
    assert.equal(readRule(text, "allow").ok, false, text);
    assert.equal(readRule(text, "deny").ok, true, text);
    assert.equal(readRule(text, "ask").ok, true, text);
  }
  assert.equal(readRule("mcp__jira__get*", "allow").ok, true);
});

test("rules keep their source; an allow rule that cannot be read is a warning", () => {
  assert.deepEqual(loadRules({ deny: ["Bash(rm:*)"], ask: ["Edit"], allow: ["Bash(ls", "Read"] }, "project"), {
    rules: [
      { behavior: "deny", text: "Bash(rm:*)", source: "project" },
      { behavior: "ask", text: "Edit", source: "project" },
      { behavior: "allow", text: "Read", source: "project" },
    ],
    warnings: [
      reason("rule-ignored", {
        rule: "Bash(ls",
        source: "project",
        problem: reason("rule-form", { expected: "closing" }),
      }),
    ],
  });
});

test("a deny or ask rule that cannot be read stops everything and is named", () => {
  for (const behavior of ["deny", "ask"] as const)
    assert.throws(
      () => loadRules({ [behavior]: ["Bash(rm", "Read"] }, "user"),
      worded({
        name: "SageError",
        code: "config-invalid",
        message: `the ${behavior} rule "Bash(rm" (user) cannot be read: expected a closing ) at the end; a literal one is written \\)`,
      }),
    );
});
