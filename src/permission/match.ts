import type { Rule } from "../protocol/index.ts";
import { readPath } from "./path.ts";
import type { PathReading } from "./path.ts";
import { mcpParts, pathTools } from "./rules.ts";
import type { ReadRule } from "./rules.ts";
import { readShell } from "./shell.ts";
import type { ShellReading } from "./shell.ts";
import { escaped, matchesGlob, star, unitsOf } from "./wild.ts";
import type { Glob } from "./wild.ts";

/** What rules are held against: a command, an absolute path, or whatever else the tool calls its specifier. */
export type JudgedCall = {
  tool: string;
  specifier?: string | undefined;
  cwd: string;
  home: string;
  /** Where a path leads after every link; without it paths are taken to be real already. */
  real?: ((path: string) => string) | undefined;
};

export type Matcher = (rule: ReadRule, behavior: Rule["behavior"]) => boolean;

/** The call is read once, however many rules there are. */
export function createMatcher(call: JudgedCall): Matcher {
  const { tool, specifier } = call;
  let shell: ShellReading | undefined;
  let path: PathReading | undefined;
  return (rule, behavior) => {
    if (!governs(rule, behavior, tool)) return false;
    if (isWhole(rule)) return true;
    const generous = behavior !== "allow";
    const expected = rule.specifier!;
    if (specifier === undefined) return generous;
    if (tool === "Bash") {
      shell ??= readShell(specifier);
      return generous ? shell.suspected(expected) : shell.covered(expected);
    }
    if (pathTools.has(tool)) {
      path ??= readPath(specifier, call);
      return generous ? path.suspected(expected) : path.covered(expected);
    }
    const glob: Glob = unitsOf(expected).map((unit) => escaped(unit) ?? unit);
    return generous ? matchesGlob(glob, specifier) : !glob.includes(star) && glob.join("") === specifier;
  };
}

/** `Tool` and `Tool(*)` mean every call of the tool. */
function isWhole(rule: ReadRule): boolean {
  return rule.specifier === undefined || rule.specifier === "*";
}

function governs(rule: ReadRule, behavior: Rule["behavior"], tool: string): boolean {
  if (isNamed(rule.tool, tool)) return true;
  switch (rule.tool) {
    case "Read":
      return tool === "Grep" || tool === "Glob" || (behavior === "deny" && !isWhole(rule) && pathTools.has(tool));
    case "Edit":
      return tool === "Write";
    case "Write":
      return tool === "Edit" && !isWhole(rule);
    default:
      return false;
  }
}

function isNamed(expected: string, tool: string): boolean {
  if (expected.includes("*"))
    return matchesGlob(
      [...expected].map((char) => (char === "*" ? star : char)),
      tool,
    );
  if (expected === tool) return true;
  const server = mcpParts(expected);
  return server !== undefined && server.tool === undefined && mcpParts(tool)?.server === server.server;
}
