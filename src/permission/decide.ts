import { messageOf, reasonFrom, said } from "../protocol/index.ts";
import type { PermissionMode, PermissionOpinion, PermissionResult, Rule, RuleDestination } from "../protocol/index.ts";
import { bookOf } from "./rules/book.ts";
import type { RuleBook } from "./rules/book.ts";
import { examine } from "./examine.ts";
import type { Finding } from "./finding.ts";
import type { ShellGrammar } from "./shell/read/grammar.ts";
import { isBuiltIn } from "./rules/rules.ts";

/** One call and everything its permission depends on, the disk aside. */
export type DecisionInput = {
  rules: readonly Rule[];
  mode: PermissionMode;
  /** What relative paths of the call are relative to. */
  cwd: string;
  /** What `./` in rules stands for: where the session began, if that is not `cwd`. */
  anchor?: string | undefined;
  home: string;
  /** Folders in which reading needs no permission. */
  roots: readonly string[];
  tool: string;
  input: unknown;
  requiresUserInteraction?: boolean | undefined;
  /** What rules match of a tool that is not built in. */
  specifier?: string | undefined;
  /** The tool's own opinion. */
  view?: (() => PermissionOpinion) | undefined;
  /** From `loadGrammar`. Without it no command is allowed. */
  grammar?: ShellGrammar | undefined;
  /** What the host of an address resolves to, looked up by whoever fetches it. */
  addresses?: readonly string[] | undefined;
  /** The tool is described otherwise than when the person gave rules for it: those allow nothing until they are confirmed. */
  changed?: boolean | undefined;
  /** Where Sage keeps its state, if not in `~/.sage`. */
  sageHome?: string | undefined;
};

/** The steps in their order, by what answers in them. */
export const decisionSteps = ["input", "deny", "ask", "tool", "person", "bypass", "allow", "nothing"] as const;
export type DecisionStep = (typeof decisionSteps)[number];

/** May this call run? Pure and synchronous: a function of the call, the rules and the disk. It never throws. */
export function decide(call: DecisionInput): PermissionResult {
  return decideStep(call).result;
}

/** As `decide`, with the step that answered. */
export function decideStep(call: DecisionInput): { step: DecisionStep; result: PermissionResult } {
  try {
    const book = bookOf(call.rules, call.home);
    const finding = examine(call, book);
    const [step, result] = conclude({ ...finding, view: stricter(finding.view, call) }, book, call);
    const parts = finding.parts?.map((part) => ({ ...part, reason: reasonFrom(part.reason) })) ?? [];
    return { step, result: { ...result, reason: reasonFrom(result.reason), ...(parts.length > 0 && { parts }) } };
  } catch (error) {
    const reason = said(`The call could not be judged: ${messageOf(error)}`);
    return { step: "input", result: { behavior: "ask", hard: true, reason } };
  }
}

/** The first step that answers ends the matter; neither a rule's detail nor its place in the list counts. */
function conclude(
  { deny, ask, view, allow, usable }: Finding,
  { unreadable }: RuleBook,
  call: DecisionInput,
): [DecisionStep, PermissionOpinion] {
  if (deny) return ["deny", byRules("deny", [deny], "Denied by")];
  // Ahead of the ask rules, or adding one would turn a tool's no into a question.
  if (view.behavior === "deny") return ["tool", view];
  if (ask) return ["ask", { ...byRules("ask", [ask], "A person is asked because of"), hard: true }];
  if (unreadable)
    return ["ask", { ...byRules("ask", [unreadable], "A person is asked because nobody can read"), hard: true }];

  const needsPerson = call.requiresUserInteraction === true;
  if (view.behavior === "ask" && view.hard === true) return [usable === false ? "input" : "tool", view];
  if (needsPerson) {
    const reason = view.behavior === "ask" ? view.reason : `${call.tool} needs a person to answer.`;
    return ["person", { behavior: "ask", hard: true, reason }];
  }
  if (view.behavior === "allow") return ["tool", view];
  if (call.mode === "bypass") return ["bypass", { behavior: "allow", reason: "Bypass mode: nothing forbids it." }];
  if (view.behavior === "ask") return ["tool", view];
  if (allow && allow.length > 0 && call.changed === true)
    return [
      "nothing",
      { behavior: "ask", reason: `${call.tool} is no longer described as it was when its rule was saved.` },
    ];
  if (allow && allow.length > 0) return ["allow", byRules("allow", allow, "Allowed by")];
  return [
    "nothing",
    {
      behavior: "ask",
      reason: `No rule covers this call${typeof view.reason === "string" && view.reason !== "" ? ` (${view.reason})` : ""}.`,
    },
  ];
}

function byRules(behavior: "allow" | "deny" | "ask", rules: readonly Rule[], because: string): PermissionOpinion {
  // Of several that only together allow it, the one that was given last made the difference.
  const first = rules.find(({ source }) => source === "session") ?? rules[0];
  const named = rules.map((rule) => `${rule.text} of ${places[rule.source]}`);
  return {
    behavior,
    reason: `${because} the ${named.length > 1 ? "rules" : "rule"} ${named.join(", ")}.`,
    ...(first && { rule: first.text, source: first.source }),
  };
}

const places: Record<RuleDestination, string> = {
  session: "this session",
  local: "your settings for this project",
  project: "the project's settings",
  user: "your own settings",
};

/** A tool may be stricter than what is known of its kind, and never laxer. */
function stricter(known: PermissionOpinion, { tool, view }: DecisionInput): PermissionOpinion {
  const own = opinionOf(view);
  if (!isBuiltIn(tool) || own.behavior === "deny") return own;
  return own.behavior === "ask" && known.hard !== true ? own : known;
}

function opinionOf(view: (() => PermissionOpinion) | undefined): PermissionOpinion {
  if (view === undefined) return { behavior: "passthrough", reason: "" };
  try {
    const opinion = view();
    if (["allow", "deny", "ask", "passthrough"].includes(opinion.behavior)) return opinion;
    return { behavior: "ask", hard: true, reason: "The tool's own check gave no usable answer." };
  } catch (error) {
    return { behavior: "ask", hard: true, reason: `The tool's own check failed: ${messageOf(error)}` };
  }
}
