import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionResult } from "../../src/protocol/index.ts";
import { answer, rulesOf } from "./asking.ts";

const says = (view: PermissionResult) => ({ check: () => view });
const allows: PermissionResult = { behavior: "allow", reason: "only reads" };
const denies: PermissionResult = { behavior: "deny", reason: "never" };
const asks: PermissionResult = { behavior: "ask", reason: "sure?" };
const insists: PermissionResult = { behavior: "ask", reason: "protected", hard: true };
const needsPerson = { tool: { name: "Bash", requiresUserInteraction: true } };
const bypass = { mode: "bypass" } as const;

test("step 2: a deny rule ends it, whatever the tool, other rules and the mode say", () => {
  const rules = rulesOf("+ Bash", "? Bash", "- Bash(rm:*)", "+ Bash(rm -r dist)");
  const denied = {
    behavior: "deny",
    reason: "Denied by the rule Bash(rm:*) of your own settings.",
    rule: "Bash(rm:*)",
    source: "user",
  };
  assert.deepEqual(answer(rules, "Bash", "rm -r dist"), denied);
  assert.deepEqual(answer(rules, "Bash", "rm -r dist", { ...says(allows), ...bypass }), denied);
});

test("step 3: an ask rule needs a person, before the tool's own view and in bypass", () => {
  const rules = rulesOf("+ Bash", "? Bash(git push:*)");
  const asked = {
    behavior: "ask",
    hard: true,
    reason: "A person is asked because of the rule Bash(git push:*) of your own settings.",
    rule: "Bash(git push:*)",
    source: "user",
  };
  assert.deepEqual(answer(rules, "Bash", "git push"), asked);
  assert.deepEqual(answer(rules, "Bash", "git push", { ...says(allows), ...bypass }), asked);
});

test("step 4: a tool's deny is final, and no ask rule softens it", () => {
  assert.deepEqual(answer(rulesOf("? Bash"), "Bash", "ls", says(denies)), denies);
  assert.deepEqual(answer(rulesOf("+ Bash"), "Bash", "ls", { ...says(denies), ...bypass, ...needsPerson }), denies);
});

test("step 4: a hard ask holds against allow rules and bypass", () => {
  assert.deepEqual(answer(rulesOf("+ Bash"), "Bash", "ls", says(insists)), insists);
  assert.deepEqual(answer([], "Bash", "ls", { ...says(insists), ...bypass }), insists);
});

test("step 4: a soft ask holds against allow rules and is skipped by bypass only", () => {
  assert.deepEqual(answer(rulesOf("+ Bash"), "Bash", "ls", says(asks)), asks);
  assert.equal(answer([], "Bash", "ls", { ...says(asks), ...bypass }).behavior, "allow");
});

test("step 4: a tool's allow is final", () => {
  assert.deepEqual(answer([], "Bash", "ls", says(allows)), allows);
});

test("step 4: a check that throws, or answers nothing usable, needs a person", () => {
  const broken = { check: () => assert.fail("disk gone") };
  assert.deepEqual(answer(rulesOf("+ Bash"), "Bash", "ls", { ...broken, ...bypass }), {
    behavior: "ask",
    hard: true,
    reason: "The tool's own check failed: disk gone",
  });
  for (const view of [undefined, null, {}, { behavior: "yes" }]) {
    const result = answer(rulesOf("+ Bash"), "Bash", "ls", says(view as unknown as PermissionResult));
    assert.deepEqual([result.behavior, result.hard], ["ask", true]);
  }
});

test("step 5: a tool that needs a person gets one: no allow and no mode answers in their place", () => {
  for (const view of [allows, asks, insists, { behavior: "passthrough", reason: "" } as const])
    for (const mode of ["default", "bypass"] as const) {
      const result = answer(rulesOf("+ Bash"), "Bash", "ls", { ...needsPerson, ...says(view), mode });
      assert.deepEqual([result.behavior, result.hard], ["ask", true]);
    }
});

test("step 6: bypass allows what has no opinion against it", () => {
  assert.deepEqual(answer([], "Bash", "ls; rm -r x", bypass), {
    behavior: "allow",
    reason: "Bypass mode: nothing forbids it.",
  });
});

test("step 7: an allow rule, named with its source", () => {
  const rules = [{ behavior: "allow", text: "Bash(npm test)", source: "session" }] as const;
  assert.deepEqual(answer(rules, "Bash", "npm test"), {
    behavior: "allow",
    reason: "Allowed by the rule Bash(npm test) of this session.",
    rule: "Bash(npm test)",
    source: "session",
  });
});

test("step 8: nothing matched: ask, and bypass or --yes may answer", () => {
  assert.deepEqual(answer([], "Bash", "ls"), { behavior: "ask", reason: "No rule covers this call." });
  const outside = says({ behavior: "passthrough", reason: "/etc/hosts is outside the workspace" });
  assert.deepEqual(answer([], "Read", "/etc/hosts", outside), {
    behavior: "ask",
    reason: "No rule covers this call (/etc/hosts is outside the workspace).",
  });
});

test("of several rules that match, the first by text is reported, wherever it stands", () => {
  const rules = rulesOf("- Bash(rm:*)", "- Bash", "- Bash(rm -r:*)");
  for (const list of [rules, rules.toReversed()]) assert.equal(answer(list, "Bash", "rm -r x").rule, "Bash");
});

test("a deny rule nobody can read asks about everything; an allow rule nobody can read does nothing", () => {
  const result = answer(rulesOf("- Bash(rm", "+ Bash"), "Bash", "ls", bypass);
  assert.deepEqual([result.behavior, result.hard, result.rule], ["ask", true, "Bash(rm"]);
  assert.equal(answer(rulesOf("+ Bash(ls", "+ *"), "Bash", "ls").behavior, "ask");
});

test("the parts a tool found stay with the answer", () => {
  const parts = [{ text: "ls", behavior: "passthrough", reason: "" }] as const;
  const view = says({ behavior: "passthrough", reason: "", parts: [...parts] });
  assert.deepEqual(answer([], "Bash", "ls", view).parts, parts);
  assert.deepEqual(answer(rulesOf("+ Bash(ls)"), "Bash", "ls", view).parts, parts);
});

test("tool names: whole, case-sensitive, by server for mcp, by glob for deny and ask", () => {
  const cases: [rule: string, tool: string, behavior: string][] = [
    ["+ Task", "Task", "allow"],
    ["+ task", "Task", "ask"],
    ["+ Task", "TaskList", "ask"],
    ["+ mcp__jira", "mcp__jira__search", "allow"],
    ["+ mcp__jira", "mcp__jira2__search", "ask"],
    ["+ mcp__jira__*", "mcp__jira__search", "allow"],
    ["+ mcp__jira__*", "mcp__jira2__search", "ask"],
    ["+ mcp__jira__get*", "mcp__jira__get_issue", "allow"],
    ["+ mcp__jira__get*", "mcp__jira__delete", "ask"],
    ["+ mcp__jira__a", "mcp__jira__a__b", "ask"],
    ["- mcp__*", "mcp__jira__search", "deny"],
    ["- mcp__jira", "mcp__jira__search", "deny"],
    ["- *", "Bash", "deny"],
    ["- *delete*", "mcp__x__bulk_delete_all", "deny"],
  ];
  for (const [rule, tool, behavior] of cases)
    assert.equal(answer(rulesOf(rule), tool).behavior, behavior, `${rule} ${tool}`);
});

test("other tools: an allow names the very specifier, a deny may use stars and holds where there is none", () => {
  const cases: [rule: string, specifier: string | undefined, behavior: string][] = [
    ["+ WebFetch(domain:a.org)", "domain:a.org", "allow"],
    ["+ WebFetch(domain:a.org)", "domain:a.org.evil", "ask"],
    ["+ WebFetch(domain:*)", "domain:a.org", "ask"],
    ["+ WebFetch(*)", "domain:a.org", "allow"],
    ["+ WebFetch(a\\(b\\)\\*)", "a(b)*", "allow"],
    ["+ WebFetch(domain:a.org)", undefined, "ask"],
    ["- WebFetch(domain:*.evil)", "domain:a.evil", "deny"],
    ["- WebFetch(domain:*.evil)", "domain:a.org", "ask"],
    ["- WebFetch(domain:a.org)", undefined, "deny"],
  ];
  for (const [rule, specifier, behavior] of cases)
    assert.equal(answer(rulesOf(rule), "WebFetch", specifier).behavior, behavior, `${rule} ${specifier}`);
});
