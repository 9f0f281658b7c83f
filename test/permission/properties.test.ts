import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../support/properties.ts";
import { decide } from "../../src/permission/decide.ts";
import { loadRules, parseRule } from "../../src/permission/rules/rules.ts";
import { looksSecret } from "../../src/permission/text/secret.ts";
import { suggest } from "../../src/permission/suggest/suggest.ts";
import { escapeSpecifier } from "../../src/permission/text/wild.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import { answer, callOf } from "./asking.ts";
import { thorough } from "../faults/rounds.ts";
import { word, simple, command, specifier, behavior, rule, rules, ask } from "./drawn.ts";

const strictness = { allow: 0, passthrough: 1, ask: 1, deny: 2 };
const runs = { numRuns: thorough ? 400 : 120 };
const circumstances = fc.record({
  mode: fc.constantFrom("default" as const, "bypass" as const),
  requiresUserInteraction: fc.boolean(),
});
const call = fc.oneof(
  { weight: 4, arbitrary: command.map((command) => ({ tool: "Bash", input: { command } })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom("Read", "Write", "Edit"),
        fc.constantFrom("a/b", "x", "/w/y", "../x", "~/b", ".git/config"),
      )
      .map(([tool, file_path]) => ({ tool, input: { file_path } })),
  },
);

test("(a, b) adding a deny or ask rule never makes an answer laxer", () => {
  fc.assert(
    fc.property(rules, rule, call, circumstances, (list, added, one, more) => {
      fc.pre(added.behavior !== "allow");
      const before = ask(list, one, more);
      const after = ask([...list, added], one, more);
      assert.ok(strictness[after.behavior] >= strictness[before.behavior], JSON.stringify([before, after]));
      assert.ok(after.behavior !== "ask" || before.behavior !== "ask" || before.hard !== true || after.hard === true);
    }),
    runs,
  );
});

test("adding an allow rule changes an ask of the last step at most, and never a deny", () => {
  fc.assert(
    fc.property(rules, rule, call, circumstances, (list, added, one, more) => {
      const before = ask(list, one, more);
      const after = ask([...list, { ...added, behavior: "allow" }], one, more);
      if (before.behavior === "deny" || before.hard === true)
        assert.deepEqual([after.behavior, after.hard, after.rule], [before.behavior, before.hard, before.rule]);
      assert.ok(strictness[after.behavior] <= strictness[before.behavior]);
    }),
    runs,
  );
});

test("(e) the order of rules does not matter", () => {
  const shuffled = rules.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
  );
  fc.assert(
    fc.property(shuffled, call, circumstances, ([list, other], one, more) => {
      assert.deepEqual(ask(other, one, more), ask(list, one, more));
    }),
    runs,
  );
});

test("(c) whatever is added to an allowed command, the whole is not allowed with it", () => {
  const additions = [
    "; zz",
    "&& zz",
    "| zz",
    "|| zz",
    "& zz",
    "$(zz)",
    "`zz`",
    "\nzz",
    "\rzz",
    "<(zz)",
    "> zz",
    ">> zz",
    "<<< $(zz)",
  ];
  const more = [
    "< /zz",
    "${zz:-$(zz)}",
    "\\",
    "'",
    '"',
    '"$(zz)"',
    '"`zz`"',
    "&",
    "!zz; zz",
    "(zz)",
    "\\\n; zz",
    "#\nzz",
    "<<X\n$(zz)\nX",
  ];
  const odd = [
    "\u0000",
    "\u001b[0m",
    "\u202e",
    "\u00a0zz",
    "\u2028zz",
    "\ud800",
    "{ zz; }",
    "; { zz; }",
    "; (zz)",
    "; PATH=1",
    "; export zz=1",
  ];
  fc.assert(
    fc.property(
      specifier,
      simple,
      fc.constantFrom(...additions, ...more, ...odd),
      fc.boolean(),
      (inner, call, added, blank) => {
        fc.pre(inner !== "*");
        const exact: Rule[] = [
          { behavior: "allow", text: `Bash(${inner})`, source: "user" },
          { behavior: "allow", text: `Bash(${call}:*)`, source: "user" },
          { behavior: "allow", text: "Edit(./a/**)", source: "user" },
        ];
        const whole = `${call}${blank ? " " : ""}${added}`;
        const { behavior } = answer(exact, "Bash", { command: whole });
        // A blank before "&" and what only ends a word is harmless by itself.
        if (added === "&" || (added === "(zz)" && !blank)) return;
        assert.equal(behavior, "ask", JSON.stringify(whole));
      },
    ),
    runs,
  );
});

test("(c) wrapping a word in a substitution is not allowed unless the addition is", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 2, maxLength: 5 }), fc.nat(), fc.boolean(), (words, pick, quoted) => {
      const at = 1 + (pick % (words.length - 1));
      const wrap = (text: string) => (quoted ? `"$(zz ${text})"` : `\`zz ${text}\``);
      const command = words.map((each, i) => (i === at ? wrap(each) : each)).join(" ");
      const list: Rule[] = [{ behavior: "allow", text: `Bash(${words[0]}:*)`, source: "user" }];
      assert.notEqual(answer(list, "Bash", { command }).behavior, "allow", command);
    }),
    runs,
  );
});

test("(d) quoting a word anew and adding blanks never change an answer", () => {
  const piece = fc.constantFrom(
    "git",
    "push",
    "status",
    "rm",
    "sudo",
    "-rf",
    "a/b",
    "x=y",
    "修复",
    "find",
    "-delete",
    "cat",
    "/etc/x",
  );
  const quote = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => `'${text}'`,
    (text) => `"${text}"`,
    (text) => `${text.slice(0, 1)}"${text.slice(1)}"`,
    (text) => `''${text}`,
    (text) => `\\${text}`,
    (text) => `$'${text}'`,
  );
  const blanks = fc.constantFrom(" ", "  ", "\t", " \t ");
  const words = fc.array(fc.tuple(piece, quote, blanks), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(rules, words, circumstances, (list, parts, more) => {
      const names = parts.map(([name]) => name);
      // An assignment is one by the look of it.
      fc.pre(names.some((name) => name !== "x=y"));
      const first = names.findIndex((name) => name !== "x=y");
      const plain = names.join(" ");
      const quoted = parts.map(([name, wrap, blank], i) => (i < first ? name : wrap(name)) + blank).join("");
      const [one, other] = [plain, quoted].map((command) => answer(list, "Bash", { command }, more));
      const facts = (result: typeof one) => [
        result?.behavior,
        result?.hard,
        result?.rule,
        JSON.stringify(result?.reason).includes("zz"),
      ];
      assert.deepEqual(facts(other), facts(one), quoted);
    }),
    runs,
  );
});

test("a deny rule made from a command's own text always meets that command", () => {
  fc.assert(
    fc.property(fc.oneof(command, fc.string({ maxLength: 40 })), (command) => {
      fc.pre(command.trim() !== "");
      const list: Rule[] = [{ behavior: "deny", text: `Bash(${escapeSpecifier(command)})`, source: "user" }];
      assert.equal(answer(list, "Bash", { command }).behavior, "deny", JSON.stringify(command));
    }),
    runs,
  );
});

test("what is suggested allows the call, holds no more than five rules, and says when it is wider", () => {
  fc.assert(
    fc.property(rules, fc.oneof(command, fc.string({ maxLength: 30 })), (list, command) => {
      const one = callOf(list, "Bash", { command });
      const offers = suggest(one);
      assert.ok(offers.length <= 5);
      if (offers.length === 0) return;
      const more = offers.map(({ rule }): Rule => ({ behavior: "allow", text: rule, source: "session" }));
      const held = { ...one, rules: [...list, ...more] };
      assert.equal(decide(held).behavior, "allow", JSON.stringify(offers));
      // One that says nothing of other calls allows none, not even this one with a word more in front.
      const longer = { command: `zz ${command}` };
      const before = decide({ ...one, input: longer }).behavior;
      if (before !== "allow" && offers.every(({ note }) => note === undefined))
        assert.notEqual(
          decide({ ...held, input: longer }).behavior,
          "allow",
          `${command} under ${JSON.stringify(offers)}`,
        );
    }),
    runs,
  );
});

test("(f) no input throws", () => {
  const anything = fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.string({ maxLength: 60 }), command);
  const tool = fc.constantFrom("Bash", "Read", "Write", "Glob", "Grep", "WebFetch", "mcp__a__b", "constructor", "");
  fc.assert(
    fc.property(anything, anything, behavior, tool, anything, fc.anything(), (rule, given, kind, name, where, odd) => {
      const list = [rule, `Bash(${rule})`, `Read(${rule})`, `WebFetch(domain:${rule})`, `*(${rule})`];
      const held = list.map((text) => ({ behavior: kind, text, source: "user" as const }));
      const inputs = [{ command: given }, { file_path: given, path: given, pattern: given }, { url: given }, odd, null];
      for (const input of inputs) {
        const one = callOf(held, name, input, { cwd: where, home: rule, roots: [where] });
        decide(one);
        suggest(one);
      }
      parseRule(rule);
      loadRules({ allow: list }, "user");
      looksSecret(given);
    }),
    { numRuns: thorough ? 250 : 100 },
  );
});

test("(f) fuzz: bytes and generated scripts are judged, and never allowed without a reason", () => {
  const fragment = fc.constantFrom(
    ...[
      "$(",
      ")",
      "`",
      "'",
      '"',
      "<<E\n",
      "\nE\n",
      "${",
      "}",
      "((",
      "))",
      "[[",
      "]]",
      "if ",
      "; then ",
      "; fi",
      "case x in ",
      "x) ",
    ],
    ...[
      ";;",
      " esac",
      "for i in ",
      "; do ",
      "; done",
      "f() { ",
      "; }",
      "&&",
      "||",
      "|",
      "&",
      ";",
      "\n",
      "\\\n",
      "\\",
      "#",
      "!",
      "~",
      "*",
    ],
    ...["zz", " zz ", "x=", " ", "\t", ">", "<", "2>&1", "$'", "$x", "@(", "?", "[a]", "é"],
  );
  const script = fc.array(fragment, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(""));
  const bytes = fc.string({ unit: "binary", maxLength: 40 });
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: script }, { weight: 1, arbitrary: bytes }), (command) => {
      const list: Rule[] = [{ behavior: "allow", text: "Bash(x:*)", source: "user" }];
      const { behavior, parts } = answer(list, "Bash", { command });
      if (behavior !== "allow") return;
      const names = parts?.map(({ text }) => text.split(/[\s;]/)[0]) ?? [];
      assert.ok(parts && parts.length > 0 && !names.includes("zz"), JSON.stringify(command));
    }),
    { numRuns: thorough ? 1_500 : 400 },
  );
});
