import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf } from "../../src/permission/shell/suspect/lines.ts";
import { readCommand } from "../../src/permission/shell/judge/flow/command-reading.ts";
import { star, wild } from "../../src/permission/text/wild.ts";
import { answer, grammar } from "./asking.ts";
import { thorough } from "../faults/rounds.ts";

const units = [
  ...[
    "$(",
    "((",
    "(}",
    "`a ",
    "a;",
    "{",
    "a b ",
    "> a ",
    "<(",
    "$(a) b ",
    "'",
    "\\",
    ") (",
    "2>&1 ",
    "a|",
    "a=(",
    "<<A\n",
    "${",
  ],
  ...["\\\n", "[[ ", "if a; then ", "{a,", "a&&", "a\n", "$'\\x61'", "*", "~/a ", "-exec ", "cp a b;", "cd a;"],
];

/** Characters of a long command. A cost that grows with their square is seen at either length; 10,000 is the most that is read. */
const LONG = thorough ? 10_000 : 3_000;

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

test("(f) what is read from a command grows with its length and no faster", () => {
  const size = (text: string) =>
    [true, false]
      .flatMap((quotes) => linesOf([...text], { quotes, joins: "always" }))
      .reduce((sum, line) => sum + 1 + line.words.reduce((chars, each) => chars + 1 + each.length, 0), 0);
  for (const unit of units) {
    const text = unit.repeat(LONG / unit.length);
    assert.ok(size(text) <= 2.1 * size(text.slice(0, text.length / 2)) + 10, JSON.stringify(unit));
    assert.notEqual(
      answer([{ behavior: "deny", text: "Bash(zz * b * c)", source: "user" }], "Bash", { command: text }).behavior,
      "deny",
    );
  }
});

test("(f) what the grammar and our own reader look at grows with the length and no faster", () => {
  // Every look at a character is counted, whoever looks.
  const looks = (text: string) => {
    let count = 0;
    const counting = grammar && {
      parse(given: string) {
        const tree = grammar!.parse(given);
        const ahead = tree ? [tree.root] : [];
        for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
          count += 1 + node.children.length;
          ahead.push(...node.children);
        }
        return tree;
      },
    };
    const { commands, possible } = readCommand(text, counting, "/home/me");
    for (const { words } of possible.readings.flat()) count += words.length + 1;
    return count + commands.length;
  };
  for (const unit of units) {
    const [half, whole] = [LONG * 0.49, LONG * 0.98].map((length) => looks(unit.repeat(length / unit.length)));
    assert.ok(whole! <= 2.2 * half! + 200, `${JSON.stringify(unit)}: ${half} and then ${whole}`);
  }
});
