import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { linesOf } from "../../src/permission/lines.ts";
import { loadRules, parseRule } from "../../src/permission/rules.ts";
import { looksSecret } from "../../src/permission/secret.ts";
import { suggest } from "../../src/permission/suggest.ts";
import { escapeSpecifier, star, wild } from "../../src/permission/wild.ts";
import type { PermissionResult, Rule } from "../../src/protocol/index.ts";
import { answer } from "./asking.ts";

const strictness = { allow: 0, passthrough: 1, ask: 1, deny: 2 };
const runs = { numRuns: 300 };

const word = fc.constantFrom("git", "push", "status", "npm", "run", "rm", "-rf", "x", "a/b", "sudo", "find", "-delete");
const glue = fc.constantFrom(" ", "  ", "; ", " && ", " | ", "\n", " $(", ") ", " > ", "'", '"', "\\", "`", "");
const command = fc
  .array(fc.tuple(word, glue), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.flat().join("").trim());
const simple = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(" "));
const specifier = fc.oneof(
  simple,
  fc.tuple(simple, fc.constantFrom(":*", " *", "*", " * x")).map(([text, end]) => text + end),
  command,
  fc.constant("*"),
);
const text = fc.oneof(
  { weight: 8, arbitrary: specifier.map((inner) => `Bash(${inner})`) },
  { weight: 1, arbitrary: fc.constantFrom("Bash", "*", "Read", "Bash(", "mcp__*") },
);
const behavior = fc.constantFrom<Rule["behavior"]>("allow", "deny", "ask");
const source = fc.constantFrom<Rule["source"]>("session", "local", "project", "user");
const rule = fc.record({ behavior, text, source });
const rules = fc.array(rule, { maxLength: 5 });
const view = fc.constantFrom<PermissionResult>(
  { behavior: "passthrough", reason: "" },
  { behavior: "passthrough", reason: "" },
  { behavior: "allow", reason: "" },
  { behavior: "ask", reason: "" },
  { behavior: "ask", reason: "", hard: true },
  { behavior: "deny", reason: "" },
);
const circumstances = fc.record({
  mode: fc.constantFrom("default" as const, "bypass" as const),
  tool: fc.record({ name: fc.constant("Bash"), requiresUserInteraction: fc.boolean() }),
  check: view.map((result) => () => result),
});

test("adding a deny or ask rule never makes an answer laxer", () => {
  fc.assert(
    fc.property(rules, rule, fc.oneof(command, simple), circumstances, (list, added, call, more) => {
      fc.pre(added.behavior !== "allow");
      const before = answer(list, "Bash", call, more);
      const after = answer([...list, added], "Bash", call, more);
      assert.ok(strictness[after.behavior] >= strictness[before.behavior]);
      assert.ok(after.behavior !== "ask" || before.behavior !== "ask" || before.hard !== true || after.hard === true);
    }),
    runs,
  );
});

test("adding an allow rule changes an ask of the last step at most, and never a deny", () => {
  fc.assert(
    fc.property(rules, rule, fc.oneof(command, simple), circumstances, (list, added, call, more) => {
      const before = answer(list, "Bash", call, more);
      const after = answer([...list, { ...added, behavior: "allow" }], "Bash", call, more);
      if (before.behavior === "deny" || before.hard === true) assert.deepEqual(after, before);
      assert.ok(strictness[after.behavior] <= strictness[before.behavior]);
    }),
    runs,
  );
});

test("the order of rules does not matter", () => {
  const shuffled = rules.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
  );
  fc.assert(
    fc.property(shuffled, command, circumstances, ([list, other], call, more) => {
      assert.deepEqual(answer(other, "Bash", call, more), answer(list, "Bash", call, more));
    }),
    runs,
  );
});

test("whatever is added to an allowed command, the whole is not allowed with it", () => {
  const additions = ["; x", "&& x", "| x", "|| x", "& x", "&", ";", "$(x)", "`x`", "\nx", "\rx", "<(x)", "> x", ">> x"];
  const more = [
    "2>&1",
    "< x",
    "${x}",
    "$x",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "~",
    "#x",
    "\\",
    "\\\nx",
    "'",
    '"',
    '"$x"',
    '"`x`"',
  ];
  const odd = ["\u0000", "\u001b[0m", "\u202e", "\u00a0x", "\u2028x", "\ud800", "!x", "(x)", "<<<x", "<<X\nx\nX"];
  const addition = fc.constantFrom(...additions, ...more, ...odd);
  fc.assert(
    fc.property(specifier, simple, addition, fc.boolean(), fc.boolean(), (inner, call, added, blank, before) => {
      fc.pre(inner !== "*");
      const list: Rule[] = [{ behavior: "allow", text: `Bash(${inner})`, source: "user" }];
      const exact: Rule = { behavior: "allow", text: `Bash(${call}:*)`, source: "user" };
      assert.equal(answer([exact], "Bash", call).behavior === "allow" || call.includes("find"), true);
      const gap = blank ? " " : "";
      const whole = before ? added + gap + call : call + gap + added;
      assert.equal(answer([...list, exact], "Bash", whole).behavior, "ask", JSON.stringify(whole));
    }),
    runs,
  );
});

test("quoting a word anew and adding blanks never change an answer", () => {
  const piece = fc.constantFrom("git", "push", "rm", "sudo", "-rf", "a/b", "x=y", "修复", "find", "-delete");
  const quote = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => `'${text}'`,
    (text) => `"${text}"`,
    (text) => `${text.slice(0, 1)}"${text.slice(1)}"`,
    (text) => `''${text}`,
  );
  const blanks = fc.constantFrom(" ", "  ", "\t", " \t ");
  const words = fc.array(fc.tuple(piece, quote, blanks), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(rules, words, circumstances, (list, parts, more) => {
      const plain = parts.map(([name]) => name).join(" ");
      const quoted = parts
        .map(([name, wrap], i) => (i === 0 && name === "x=y" ? name : wrap(name)) + parts[i]![2])
        .join("");
      assert.deepEqual(answer(list, "Bash", quoted, more), answer(list, "Bash", plain, more), quoted);
    }),
    runs,
  );
});

test("a deny rule made from a command's own text always meets that command", () => {
  fc.assert(
    fc.property(fc.oneof(command, fc.string({ maxLength: 40 })), (call) => {
      fc.pre(call.trim() !== "");
      const list: Rule[] = [{ behavior: "deny", text: `Bash(${escapeSpecifier(call)})`, source: "user" }];
      assert.equal(answer(list, "Bash", call).behavior, "deny", JSON.stringify(call));
    }),
    runs,
  );
});

test("what is suggested allows the call, and nothing but the call", () => {
  fc.assert(
    fc.property(fc.oneof(simple, command, fc.string({ maxLength: 30 })), command, (call, other) => {
      for (const { rule } of suggest("Bash", call)) {
        const list: Rule[] = [{ behavior: "allow", text: rule, source: "session" }];
        assert.equal(answer(list, "Bash", call).behavior, "allow", rule);
        assert.equal(answer(list, "Bash", `${call} ${other}`).behavior, "ask", rule);
      }
    }),
    runs,
  );
});

test("no input throws", () => {
  const anything = fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.string({ maxLength: 60 }), command);
  const tool = fc.constantFrom("Bash", "Read", "Write", "Glob", "WebFetch", "mcp__a__b", "constructor", "");
  fc.assert(
    fc.property(anything, anything, behavior, tool, anything, (rule, call, kind, name, where) => {
      const list = [rule, `Bash(${rule})`, `Read(${rule})`, `*(${rule})`];
      const held = list.map((text) => ({ behavior: kind, text, source: "user" as const }));
      answer(held, name, call, { cwd: where, home: rule });
      parseRule(rule);
      loadRules({ allow: list }, "user");
      suggest(name, call);
      looksSecret(call);
    }),
    runs,
  );
});

test("many stars cost pattern times text at most", () => {
  const cost = (pattern: string, items: string) => {
    let steps = 0;
    const same = (a: string, b: string) => (steps++, a === b);
    wild(
      [...pattern].map((char) => (char === "*" ? star : char)),
      [...items],
      same,
    );
    return steps;
  };
  const a = "a".repeat(10_000);
  assert.ok(cost(`${"a*".repeat(500)}b`, a) <= 25_000);
  assert.ok(cost(`${"*a".repeat(500)}*b*`, a) <= 25_000);
  assert.ok(cost(`*${"a".repeat(20)}b`, a) <= 22 * 10_000);
  const [half, whole] = [cost(`*${"a".repeat(20)}b`, a.slice(5_000)), cost(`*${"a".repeat(20)}b`, a)];
  assert.ok(whole <= 2.1 * half);
});

test("what is read from a command grows with its length and no faster", () => {
  const size = (text: string) =>
    [true, false]
      .flatMap((quotes) => linesOf([...text], { quotes, joins: "always" }))
      .reduce((sum, line) => sum + 1 + line.words.reduce((chars, each) => chars + 1 + each.length, 0), 0);
  const units = ["$(", "((", "(}", "`a ", "a;", "{", "a b ", "> a ", "<(", "$(a) b ", "'", "\\", ") (", "2>&1 "];
  for (const unit of units) {
    const text = unit.repeat(10_000 / unit.length);
    assert.ok(size(text) <= 2.1 * size(text.slice(0, text.length / 2)), JSON.stringify(unit));
    assert.equal(answer([{ behavior: "deny", text: "Bash(a * b * c)", source: "user" }], "Bash", text).behavior, "ask");
  }
});
