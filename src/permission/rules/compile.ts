import type { Rule } from "../../protocol/facts/permission.ts";
import type { NamedRule } from "../../protocol/reasons/permission.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import { pathRuleOf, type PathRule } from "../paths/pattern.ts";
import { mcpParts, pathTools, readRule } from "./rules.ts";
import { commandPatternOf, type CommandPattern } from "../shell/suspect/possible.ts";
import { escaped, isStar, matchesGlob, openEnd, star, unitsOf, withStars, type Glob, type Star } from "../text/wild.ts";
import { tokensOf } from "../text/tokens.ts";

/** A rule, taken apart once and held against many calls. */
export type CompiledRule = {
  rule: Rule;
  home: string;
  /** The tool it names, or undefined for a rule that nobody can read. */
  tool: string | undefined;
  /** `Tool` and `Tool(*)` mean every call of the tool. */
  whole: boolean;
  /** The specifier where it is plain text, without a star. */
  text: string | undefined;
  /** Words of an allow rule for Bash. */
  command: CommandRule | undefined;
  path: PathRule | undefined;
  /** Words of a deny or ask rule for Bash. */
  against: CommandPattern | undefined;
  /** The specifier with its stars, for tools that have a language of their own. */
  glob: Glob;
};

/** Conditions of an allow rule for one part of a command line. */
export type CommandRule = {
  /** A word with a star in it is a glob; any other is text. */
  pattern: (string | Glob | Star)[];
  literal: ReadonlySet<string>;
  starred: boolean;
  /** The program, unless the rule has a star in its name. */
  name: string | undefined;
};

export function compile(rule: Rule, home: string): CompiledRule {
  const reading = readRule(rule.text, rule.behavior);
  const tool = reading.ok ? reading.tool : undefined;
  const specifier = (reading.ok ? reading.specifier : undefined) ?? "*";
  const whole = specifier === "*";
  const isShell = tool === "Bash" && !whole;
  const isPath = tool !== undefined && pathTools.has(tool) && !whole;
  const glob: Glob = unitsOf(specifier).map((unit) => escaped(unit) ?? unit);
  return {
    rule,
    home,
    tool,
    whole,
    text: whole || glob.includes(star) ? undefined : glob.join(""),
    command: isShell && rule.behavior === "allow" ? commandRuleOf(specifier, home) : undefined,
    path: isPath ? pathRuleOf(specifier) : undefined,
    against: isShell && rule.behavior !== "allow" ? commandPatternOf(specifier) : undefined,
    glob,
  };
}

function commandRuleOf(specifier: string, home: string): CommandRule | undefined {
  const tokens = tokensOf(openEnd(unitsOf(specifier)), home);
  // A rule for any program at all is written `Bash`.
  if (tokens === undefined || isStar(tokens[0]!)) return undefined;
  const literal = tokens.filter((token) => !token.includes(star)).map((token) => token.join(""));
  return {
    pattern: withStars(tokens).map((token) => (token === star || token.includes(star) ? token : token.join(""))),
    literal: new Set(literal),
    starred: literal.length < tokens.length,
    name: tokens[0]!.includes(star) ? undefined : tokens[0]!.join(""),
  };
}

/** True if a rule is about this tool. A path rule for Read speaks about every tool that looks at files. */
export function governs({ tool: named, whole, rule: { behavior } }: CompiledRule, tool: string): boolean {
  if (named === undefined) return false;
  // `mcp__a___b` may be of the server a or of a_: only its whole name allows it.
  if (behavior === "allow" && tool !== named && /^mcp__.*___/.test(tool)) return false;
  if (isNamed(named, tool)) return true;
  switch (named) {
    case "Read":
      return tool === "Grep" || tool === "Glob" || (behavior === "deny" && !whole && pathTools.has(tool));
    case "Edit":
      return tool === "Write";
    case "Write":
      return tool === "Edit" && !whole;
    default:
      return false;
  }
}

function isNamed(expected: string, tool: string): boolean {
  if (expected === tool) return true;
  if (expected.includes("*"))
    return matchesGlob(
      [...expected].map((char) => (char === "*" ? star : char)),
      tool,
    );
  const server = expected.startsWith("mcp__") ? mcpParts(expected) : undefined;
  return server !== undefined && server.tool === undefined && mcpParts(tool)?.server === server.server;
}

/** A rule as it is named in reasons. */
export function namedRule({ text, source }: Rule): NamedRule {
  return { text, source };
}

/** The reason of what rules allow. */
export function allowedBy(...rules: readonly Rule[]): Reason {
  return reason("allowed-by-rules", { rules: rules.map(namedRule) });
}

/** The reason of a command that no rule is about. */
export const uncovered = reason("no-rule-command", {});

/** Reports the first of several matching rules, by text. */
export function firstOf(rules: readonly CompiledRule[]): Rule | undefined {
  let first: Rule | undefined;
  for (const { rule } of rules) if (first === undefined || order(rule) < order(first)) first = rule;
  return first;
}

function order(rule: Rule): string {
  return `${rule.text}\0${rule.source}\0${rule.behavior}`;
}
