import type { PermissionSuggestion } from "../protocol/index.ts";
import { escalates } from "./escalating.ts";
import { createMatcher } from "./match.ts";
import { pathTools, readRule } from "./rules.ts";
import { looksSecret } from "./secret.ts";
import { escapeSpecifier } from "./wild.ts";
import { wordsOf } from "./words.ts";

/** The rule that would have allowed exactly this call, where there is one fit to be kept. Not for hard asks: no rule allows those. */
export function suggest(
  tool: string,
  specifier: string | undefined,
  real?: (path: string) => string,
): PermissionSuggestion[] {
  if (specifier === undefined || looksSecret(specifier) || (tool === "Bash" && isRisky(specifier))) return [];
  const rule = pathTools.has(tool)
    ? `${tool === "Write" ? "Edit" : tool}(${escapeSpecifier(specifier, "()*\\?[")})`
    : `${tool}(${escapeSpecifier(specifier.trim())})`;
  const reading = readRule(rule, "allow");
  // An exact rule names an absolute path, so what a relative one would be anchored to does not matter.
  const matches = createMatcher({ tool, specifier, cwd: "/", home: "/", real });
  if (!reading.ok || !matches(reading, "allow")) return [];
  return [{ type: "addRule", rule, behavior: "allow", destination: "session" }];
}

function isRisky(command: string): boolean {
  const words = wordsOf([...command])?.map((word) => word.join(""));
  return words === undefined || escalates(words, new Set());
}
