import assert from "node:assert/strict";
import { decide } from "../../src/permission/decide.ts";
import type { DecisionInput } from "../../src/permission/decide.ts";
import { loadGrammar } from "../../src/permission/shell/read/grammar.ts";
import type { PermissionResult, Rule } from "../../src/protocol/facts/permission.ts";

export const grammar = await loadGrammar();

/** `+ Bash(ls)` allows, `- Bash(rm:*)` denies, `? Edit` asks. */
export function rulesOf(...texts: string[]): Rule[] {
  const behaviors = { "+": "allow", "-": "deny", "?": "ask" } as const;
  return texts.map((text) => ({
    behavior: behaviors[text.charAt(0) as keyof typeof behaviors],
    text: text.slice(2),
    source: "user",
  }));
}

/** Names of the variables that commands inherit. */
export const environment = new Set(["PATH", "HOME", "USER", "LANG", "TERM", "SHELL", "API_TOKEN"]);

/** A workspace that is not on the disk, unless `more` says otherwise. */
export function callOf(
  rules: readonly Rule[],
  tool: string,
  input: unknown,
  more: Partial<DecisionInput> = {},
): DecisionInput {
  return {
    ...{ rules, mode: "default", cwd: "/w/x", home: "/home/me", roots: ["/w/x"], tool, input, grammar, environment },
    ...more,
  };
}

export function answer(
  rules: readonly Rule[],
  tool: string,
  input: unknown,
  more: Partial<DecisionInput> = {},
): PermissionResult {
  return decide(callOf(rules, tool, input, more));
}

export function bash(command: string, ...rules: string[]): string {
  return answer(rulesOf(...rules), "Bash", { command }).behavior;
}

export function table(cases: [command: string, ...rules: string[]][], behavior: string): void {
  for (const [command, ...rules] of cases)
    assert.equal(bash(command, ...rules), behavior, `${JSON.stringify(command)} under ${rules.join(", ")}`);
}

export function bashIn(where: Partial<DecisionInput>, command: string, ...rules: string[]): PermissionResult {
  return answer(rulesOf(...rules), "Bash", { command }, where);
}

/** The input with which a tool is given this path. */
export function pathInput(tool: string, path: string): object {
  return tool === "Grep" || tool === "Glob" ? { pattern: "x", path } : { file_path: path };
}
