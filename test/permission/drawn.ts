import * as fc from "../support/properties.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import { answer } from "./asking.ts";

export const word = fc.constantFrom(
  ...[
    "git",
    "push",
    "status",
    "npm",
    "run",
    "rm",
    "-rf",
    "x",
    "a/b",
    "sudo",
    "find",
    "-delete",
    "cat",
    "ls",
    "cp",
    "cd",
  ],
);
const glue = fc.constantFrom(
  ...[
    " ",
    "  ",
    "; ",
    " && ",
    " | ",
    "\n",
    " $(",
    ") ",
    " > ",
    " < ",
    "'",
    '"',
    "\\",
    "`",
    "",
    " <<E\n",
    "\nE\n",
    " A=1 ",
  ],
);
export const line = fc
  .array(fc.tuple(word, glue), { minLength: 1, maxLength: 7 })
  .map((parts) => parts.flat().join("").trim());
export const simple = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(" "));
export const command = fc.oneof(line, simple);
export const specifier = fc.oneof(
  simple,
  fc.tuple(simple, fc.constantFrom(":*", " *", "*", " * x")).map(([text, end]) => text + end),
  line,
  fc.constant("*"),
);
export const text = fc.oneof(
  { weight: 8, arbitrary: specifier.map((inner) => `Bash(${inner})`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom("Edit(./**)", "Edit(./a/**)", "Read(./x)", "Read(/**)", "Edit(a/b)", "Read(**/b)"),
  },
  { weight: 1, arbitrary: fc.constantFrom("Bash", "*", "Read", "Edit", "Bash(", "mcp__*") },
);
export const behavior = fc.constantFrom<Rule["behavior"]>("allow", "deny", "ask");
export const source = fc.constantFrom<Rule["source"]>("session", "local", "project", "user");
export const rule = fc.record({ behavior, text, source });
export const rules = fc.array(rule, { maxLength: 6 });
type Call = { tool: string; input: unknown };
export const ask = (rules: readonly Rule[], { tool, input }: Call, more: object = {}) =>
  answer(rules, tool, input, more);
