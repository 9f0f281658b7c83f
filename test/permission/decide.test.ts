import { sentence } from "../../src/texts/shared/sentence.ts";
import type { PermissionResult, Rule } from "../../src/protocol/facts/permission.ts";
import { reason, said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decisionSteps, judge } from "../../src/permission/decide.ts";
import type { DecisionInput } from "../../src/permission/decide.ts";
import { createRuleBooks } from "../../src/permission/rules/book.ts";
import { answer, bash, callOf, rulesOf } from "./asking.ts";

const allowedByTest = reason("allowed-by-rules", { rules: [{ text: "Bash(npm test)", source: "session" }] });
const allows: PermissionResult = { behavior: "allow", reason: said("only reads") };
const denies: PermissionResult = { behavior: "deny", reason: said("never") };
const asks: PermissionResult = { behavior: "ask", reason: said("sure?") };
const insists: PermissionResult = { behavior: "ask", reason: said("protected"), hard: true };
const bypass = { mode: "bypass" } as const;
const needsPerson = { requiresUserInteraction: true };
const says = (view: PermissionResult) => ({ view: () => view });
const task = (rules: string[], more: object = {}) => answer(rulesOf(...rules), "Deploy", { to: "x" }, more);

test("the documentation lists the steps of the code in their order, in both languages", () => {
  for (const page of ["docs/permissions.md", "docs/zh/permissions.md"]) {
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
    const listed = [...text.matchAll(/^(\d+)\. `(\w+)`/gm)].map(([, number, step]) => [Number(number), step]);
    assert.deepEqual(
      listed,
      decisionSteps.map((step, at) => [at + 1, step]),
      page,
    );
  }
});

test("a rule that demands more is compiled once for all calls, and holds as before when the list changes", () => {
  const books = createRuleBooks();
  const two = { ...rulesOf("? Bash(git push:*)")[0]!, consent: { approvals: 2 } };
  const rules = [...rulesOf("+ Bash", "? Bash(git:*)"), two];
  const book = books.of(rules, "/home/me");
  const push = (list: readonly Rule[]) => judge({ ...callOf(list, "Bash", { command: "git push" }), books }).result;
  assert.deepEqual(push(rules).consent, { approvals: 2 });
  assert.equal(books.of(rules, "/home/me").alone(2), book.alone(2));
  assert.deepEqual(push([...rules, { ...two, consent: { approvals: 3 } }]).consent, { approvals: 3 });
  assert.equal(push(rules.slice(0, 2)).consent, undefined);
});

test("step 1: an input that is not what the tool takes needs a person, and no deny rule loses by it", () => {
  const odd: unknown[] = [undefined, null, 1, "x", [], {}, { command: 1, file_path: {}, url: [] }, { command: null }];
  for (const tool of ["Bash", "Read", "Write", "Edit", "WebFetch"])
    for (const input of odd) {
      const result = answer(rulesOf("+ Bash", "+ Read", "+ Edit", "+ WebFetch"), tool, input, bypass);
      assert.deepEqual([result.behavior, result.hard], ["ask", true], `${tool} ${JSON.stringify(input)}`);
      assert.equal(answer(rulesOf(`- ${tool}(domain:a)`, `- ${tool}(a:*)`), tool, input).behavior, "deny");
    }
  assert.equal(answer([], "Grep", { path: 1 }).hard, true);
});

test("step 2: a deny rule ends it, whatever the tool, other rules and the mode say", () => {
  const rules = ["+ Deploy", "? Deploy", "- Deploy"];
  const denied = {
    behavior: "deny",
    reason: reason("denied-by-rule", { rule: { text: "Deploy", source: "user" } }),
    rule: "Deploy",
    source: "user",
  };
  assert.deepEqual(task(rules), denied);
  assert.deepEqual(task(rules, { ...says(allows), ...bypass }), denied);
});

test("step 3: an ask rule needs a person, before the tool's own view and in bypass", () => {
  const asked = {
    behavior: "ask",
    hard: true,
    reason: reason("asked-by-rule", { rule: { text: "Deploy", source: "user" } }),
    rule: "Deploy",
    source: "user",
  };
  assert.deepEqual(task(["+ Deploy", "? Deploy"]), asked);
  assert.deepEqual(task(["+ Deploy", "? Deploy"], { ...says(allows), ...bypass }), asked);
});

test("step 4: a tool's deny is final, and no ask rule softens it", () => {
  assert.deepEqual(task(["? Deploy"], says(denies)), denies);
  assert.deepEqual(task(["+ Deploy"], { ...says(denies), ...bypass, ...needsPerson }), denies);
});

test("step 4: a hard ask holds against allow rules and bypass", () => {
  assert.deepEqual(task(["+ Deploy"], says(insists)), insists);
  assert.deepEqual(task([], { ...says(insists), ...bypass }), insists);
});

test("step 4: a soft ask holds against allow rules and is skipped by bypass only", () => {
  assert.deepEqual(task(["+ Deploy"], says(asks)), asks);
  assert.equal(task([], { ...says(asks), ...bypass }).behavior, "allow");
});

test("step 4: a tool's allow is final", () => {
  assert.deepEqual(task([], says(allows)), allows);
});

test("step 4: a tool may be stricter than what is known of its kind, never laxer", () => {
  const write = { file_path: "/w/x/.git/config", content: "" };
  assert.equal(answer([], "Write", write, says(allows)).hard, true);
  assert.equal(answer([], "Write", write, says(asks)).hard, true);
  assert.deepEqual(answer([], "Write", write, says(denies)), denies);
  assert.deepEqual(answer([], "Read", { file_path: "/w/x/a" }, says(insists)), insists);
  assert.equal(answer([], "Bash", { command: "make" }, says(allows)).behavior, "ask");
});

test("step 4: a check that throws, or answers nothing usable, needs a person", () => {
  assert.deepEqual(task(["+ Deploy"], { view: () => assert.fail("disk gone"), ...bypass }), {
    behavior: "ask",
    hard: true,
    reason: reason("check-failed", { error: said("disk gone") }),
  });
  for (const view of [undefined, null, {}, { behavior: "yes" }]) {
    const result = task(["+ Deploy"], says(view as unknown as PermissionResult));
    assert.deepEqual([result.behavior, result.hard], ["ask", true]);
  }
});

test("step 5: a tool that needs a person gets one: no allow and no mode answers in their place", () => {
  for (const view of [allows, asks, insists, { behavior: "passthrough", reason: said("") } as const])
    for (const mode of ["default", "bypass"] as const) {
      const result = task(["+ Deploy"], { ...needsPerson, ...says(view), mode });
      assert.deepEqual([result.behavior, result.hard], ["ask", true]);
    }
  assert.equal(answer(rulesOf("+ mcp__a"), "mcp__a__b", {}, needsPerson).hard, true);
});

test("step 6: bypass allows what has no opinion against it", () => {
  assert.deepEqual(task([], bypass), { behavior: "allow", reason: reason("bypass", {}) });
  const result = answer([], "Bash", { command: "make; for i in a; do $x; done" }, bypass);
  assert.deepEqual([result.behavior, result.parts?.length], ["allow", 2]);
});

test("step 7: an allow rule, named with its source", () => {
  const rules = [{ behavior: "allow", text: "Bash(npm test)", source: "session" }] as const;
  assert.deepEqual(answer(rules, "Bash", { command: "npm test" }), {
    behavior: "allow",
    reason: allowedByTest,
    rule: "Bash(npm test)",
    source: "session",
    parts: [{ text: "npm test", behavior: "allow", reason: allowedByTest, rule: "Bash(npm test)" }],
  });
});

test("step 8: nothing matched: ask, and bypass or --yes may answer", () => {
  assert.deepEqual(answer([], "Bash", { command: "make" }), {
    behavior: "ask",
    reason: reason("no-rule-command", {}),
    parts: [{ text: "make", behavior: "ask", reason: reason("no-rule-command", {}) }],
  });
  assert.deepEqual(answer([], "Read", { file_path: "/etc/hosts" }), {
    behavior: "ask",
    reason: reason("reads-outside", { path: "/etc/hosts" }),
  });
  assert.deepEqual(answer([], "mcp__a__b", {}), {
    behavior: "ask",
    reason: reason("no-rule-tool", { tool: "mcp__a__b" }),
  });
});

test("which step answered is told, in the order in which they are asked", () => {
  const step = (tool: string, input: object, more: Partial<DecisionInput> = {}, ...rules: string[]) => {
    const { step, result } = judge(callOf(rulesOf(...rules), tool, input, more));
    return `${decisionSteps.indexOf(step) + 1} ${result.behavior}`;
  };
  assert.deepEqual(
    [
      step("Read", { file_path: 1 }),
      step("Bash", { command: "ls" }, {}, "- Bash(ls:*)"),
      step("Bash", { command: "ls" }, {}, "? Bash(ls:*)"),
      step("Bash", { command: "ls" }),
      step("Bash", { command: "if" }),
      step("Edit", { file_path: ".git/config" }, { mode: "bypass" }),
      step("AskUserQuestion", {}, { requiresUserInteraction: true, mode: "bypass" }, "+ AskUserQuestion"),
      step("Bash", { command: "npm test" }, { mode: "bypass" }),
      step("Bash", { command: "npm test" }, {}, "+ Bash(npm test)"),
      step("Bash", { command: "npm test" }),
    ],
    ["4 ask", "1 deny", "3 ask", "6 allow", "4 ask", "4 ask", "5 ask", "7 allow", "9 allow", "11 ask"],
  );
});

test("the parts say what was found, which rule covers each, and which one waits", () => {
  const command = "go vet ./... && go test ./... 2>&1 | tail -3 > out.txt";
  const { behavior, reason: why, parts } = answer(rulesOf("+ Bash(go vet:*)"), "Bash", { command });
  assert.deepEqual([behavior, sentence(why, "en")], ["ask", "No rule allows go test ./...."]);
  assert.deepEqual(
    parts?.map((part) => [part.text, part.behavior, part.rule ?? sentence(part.reason, "en")]),
    [
      ["go vet ./...", "allow", "Bash(go vet:*)"],
      ["go test ./...", "ask", "No rule allows this command."],
      ["tail -3", "allow", "Only reads, inside the workspace."],
      ["> out.txt", "ask", "No rule allows writing /w/x/out.txt."],
    ],
  );
});

test("of several rules that match, the first by text is reported, wherever it stands", () => {
  const rules = rulesOf("- Bash(rm:*)", "- Bash", "- Bash(rm -r:*)");
  for (const list of [rules, rules.toReversed()])
    assert.equal(answer(list, "Bash", { command: "rm -r x" }).rule, "Bash");
});

test("a deny rule nobody can read asks about everything; an allow rule nobody can read does nothing", () => {
  const result = answer(rulesOf("- Bash(rm", "+ Bash"), "Bash", { command: "ls" }, bypass);
  assert.deepEqual([result.behavior, result.hard, result.rule], ["ask", true, "Bash(rm"]);
  assert.equal(bash("make", "+ Bash(make", "+ *"), "ask");
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
    assert.equal(answer(rulesOf(rule), tool, { command: "make" }).behavior, behavior, `${rule} ${tool}`);
});

test("other tools: an allow names the very specifier, a deny may use stars and holds where there is none", () => {
  const cases: [rule: string, specifier: string | undefined, behavior: string][] = [
    ["+ Deploy(eu-1)", "eu-1", "allow"],
    ["+ Deploy(eu-1)", "eu-12", "ask"],
    ["+ Deploy(eu*)", "eu-1", "ask"],
    ["+ Deploy(*)", "eu-1", "allow"],
    ["+ Deploy(a\\(b\\)\\*)", "a(b)*", "allow"],
    ["+ Deploy(eu-1)", undefined, "ask"],
    ["- Deploy(*prod)", "eu-prod", "deny"],
    ["- Deploy(*prod)", "eu-1", "ask"],
    ["- Deploy(eu-1)", undefined, "deny"],
  ];
  for (const [rule, specifier, behavior] of cases)
    assert.equal(answer(rulesOf(rule), "Deploy", {}, { specifier }).behavior, behavior, `${rule} ${specifier}`);
});

test("rules for a tool that is described otherwise than before allow nothing, and still deny and ask", () => {
  const changed = { changed: true };
  const call = (more: object, ...rules: string[]) => answer(rulesOf(...rules), "mcp__jira__get", {}, more).behavior;
  assert.equal(call({}, "+ mcp__jira"), "allow");
  for (const rule of ["+ mcp__jira", "+ mcp__jira__get", "+ mcp__jira__*"]) assert.equal(call(changed, rule), "ask");
  assert.equal(call(changed, "- mcp__jira"), "deny");
  assert.equal(call({ ...changed, mode: "bypass" }, "? mcp__jira"), "ask");
});

test("a removal names what goes, and the folder of the session where that goes with it", () => {
  const told = (command: string) => sentence(answer([], "Bash", { command }).reason, "en");
  assert.equal(told("rm -rf /"), "Removes /, and /w/x with it.");
  assert.equal(told("rm -rf .."), "Removes /w, and /w/x with it.");
  assert.equal(told("rm -rf ."), "Removes /w/x.");
});
