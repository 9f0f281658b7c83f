import { messageOf } from "../protocol/index.ts";
import type { PermissionMode, PermissionResult, Rule, RuleDestination } from "../protocol/index.ts";
import { createMatcher } from "./match.ts";
import type { Matcher } from "./match.ts";
import { readRule } from "./rules.ts";

export type Judgement = {
  rules: readonly Rule[];
  mode: PermissionMode;
  tool: { name: string; requiresUserInteraction?: boolean | undefined };
  /** What rules match: a command, an absolute path. */
  specifier?: string | undefined;
  cwd: string;
  home: string;
  /** Where a path leads after every link; without it paths are taken to be real already. */
  real?: ((path: string) => string) | undefined;
  /** The tool's own view on this call. */
  check: () => PermissionResult;
};

/** May this call run? The first step that answers ends the matter; neither a rule's detail nor its place in the list counts. */
export function judge({ rules, mode, tool, check, ...call }: Judgement): PermissionResult {
  const hit = findHits(rules, createMatcher({ ...call, tool: tool.name }));
  if (hit.deny) return byRule("deny", hit.deny, "Denied by");
  const view = viewOf(check);
  // Ahead of the ask rules, or adding one would turn a tool's no into a question.
  if (view.behavior === "deny") return view;
  if (hit.ask) return { ...byRule("ask", hit.ask, "A person is asked because of"), hard: true };
  if (hit.unreadable)
    return { ...byRule("ask", hit.unreadable, "A person is asked because nobody can read"), hard: true };

  const parts = view.parts === undefined ? {} : { parts: view.parts };
  const needsPerson = tool.requiresUserInteraction === true;
  if (view.behavior === "ask" && (view.hard === true || needsPerson)) return { ...view, hard: true };
  if (needsPerson) return { behavior: "ask", hard: true, reason: `${tool.name} needs a person to answer.`, ...parts };
  if (view.behavior === "allow") return view;
  if (mode === "bypass") return { behavior: "allow", reason: "Bypass mode: nothing forbids it.", ...parts };
  if (view.behavior === "ask") return view;
  if (hit.allow) return { ...byRule("allow", hit.allow, "Allowed by"), ...parts };
  return { behavior: "ask", reason: `No rule covers this call${view.reason && ` (${view.reason})`}.`, ...parts };
}

type Hits = { [K in Rule["behavior"] | "unreadable"]?: Rule };

/** Of several rules that match, the one reported is the first by text. */
function findHits(rules: readonly Rule[], matches: Matcher): Hits {
  const hits: Hits = {};
  for (const rule of rules) {
    const reading = readRule(rule.text, rule.behavior);
    // A deny or ask rule that cannot be read may have meant this very call.
    const kind = reading.ok ? rule.behavior : "unreadable";
    if (reading.ok ? !matches(reading, rule.behavior) : rule.behavior === "allow") continue;
    const known = hits[kind];
    if (known === undefined || order(rule) < order(known)) hits[kind] = rule;
  }
  return hits;
}

function order(rule: Rule): string {
  return `${rule.text}\0${rule.source}\0${rule.behavior}`;
}

function byRule(behavior: "allow" | "deny" | "ask", rule: Rule, because: string): PermissionResult {
  return {
    behavior,
    reason: `${because} the rule ${rule.text} of ${places[rule.source]}.`,
    rule: rule.text,
    source: rule.source,
  };
}

const places: Record<RuleDestination, string> = {
  session: "this session",
  local: "your settings for this project",
  project: "the project's settings",
  user: "your own settings",
};

function viewOf(check: () => PermissionResult): PermissionResult {
  try {
    const view = check();
    if (["allow", "deny", "ask", "passthrough"].includes(view.behavior)) return view;
    return { behavior: "ask", hard: true, reason: "The tool's own check gave no usable answer." };
  } catch (error) {
    return { behavior: "ask", hard: true, reason: `The tool's own check failed: ${messageOf(error)}` };
  }
}
