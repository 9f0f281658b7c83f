import type { PermissionResult, Rule } from "../protocol/facts/permission.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { confine } from "./confined.ts";
import type { Decision, DecisionInput } from "./decide.ts";
import type { Finding } from "./finding.ts";
import type { RuleBook } from "./rules/book.ts";
import { allowedBy, namedRule } from "./rules/compile.ts";
import { isBuiltIn } from "./rules/rules.ts";

type Answer = Pick<Decision, "step" | "result">;
type Ruled = NonNullable<Decision["ruled"]>;

/** The answer of the first step that has one, as it is where commands are confined and in the mode of the session. */
export function firstAnswer(decision: Decision, ruled: Ruled): Answer {
  const { call } = decision;
  const { finding, book } = ruled;
  const answer = stepAnswer(decision, ruled);
  const confined = call.confine === undefined ? answer : confine(answer, { finding, book, call });
  return call.sessionMode === "plan" ? whilePlanning(confined, call) : confined;
}

/** The first step that answers ends the matter; neither a rule's detail nor its place in the list counts. */
function stepAnswer({ call, opinion }: Decision, { book, finding }: Ruled): Answer {
  const view = stricterOf(finding.view, opinion, call);
  return (
    refusal(finding, view) ??
    demandOfPerson(finding, view, book, call) ??
    permission(finding, view, call) ?? { step: "nothing", result: { behavior: "ask", reason: view.reason } }
  );
}

function refusal({ deny }: Finding, view: PermissionResult): Answer | undefined {
  if (deny) {
    const why = reason("denied-by-rule", { rule: namedRule(deny) });
    return { step: "deny", result: { behavior: "deny", reason: why, ...by(deny) } };
  }
  // Ahead of the ask rules, or adding one would turn a tool's no into a question.
  return view.behavior === "deny" ? { step: "refused", result: view } : undefined;
}

/** Only a person may allow it, whatever the mode is. */
function demandOfPerson(
  { ask }: Finding,
  view: PermissionResult,
  { unreadable }: RuleBook,
  call: DecisionInput,
): Answer | undefined {
  const rule = ask ?? unreadable;
  if (rule) {
    const why = reason(ask ? "asked-by-rule" : "rule-unreadable", { rule: namedRule(rule) });
    return { step: "ask", result: { behavior: "ask", reason: why, ...by(rule), hard: true } };
  }
  if (view.behavior === "ask" && view.hard === true) return { step: "guarded", result: view };
  if (call.requiresUserInteraction !== true) return undefined;
  const wants = view.behavior === "ask" ? view.reason : reason("needs-person", { tool: call.tool });
  return { step: "person", result: { behavior: "ask", hard: true, reason: wants } };
}

function permission({ allow = [], edits }: Finding, view: PermissionResult, call: DecisionInput): Answer | undefined {
  if (view.behavior === "allow") return { step: "free", result: view };
  if (call.mode === "bypass") return { step: "mode", result: { behavior: "allow", reason: reason("bypass", {}) } };
  if (view.behavior === "passthrough" && edits && call.sessionMode === "acceptEdits")
    return { step: "mode", result: { behavior: "allow", reason: reason("accepts-edits", {}) } };
  if (view.behavior === "ask") return { step: "tool", result: view };
  if (allow.length === 0) return undefined;
  if (call.changed === true)
    return { step: "nothing", result: { behavior: "ask", reason: reason("tool-changed", { tool: call.tool }) } };
  return { step: "allow", result: { behavior: "allow", reason: allowedBy(...allow), ...by(lastGiven(allow)) } };
}

/** Only what reads and needs no permission runs, and what is put before the person. Nobody is asked about anything else. */
function whilePlanning(answer: Answer, { tool, effect = "writes", requiresUserInteraction }: DecisionInput): Answer {
  const { behavior, reason: why } = answer.result;
  const reads = behavior === "allow" && (effect !== "writes" || why.code === "only-reads");
  if (behavior === "deny" || reads || requiresUserInteraction === true) return answer;
  return { step: "mode", result: { behavior: "deny", reason: reason("plan-mode", { tool }) } };
}

export function by(rule: Rule | undefined): Pick<PermissionResult, "rule" | "source"> {
  return rule ? { rule: rule.text, source: rule.source } : {};
}

/** The rule that made the difference; of several that allow the call only together, the one that was given last. */
function lastGiven(rules: readonly Rule[]): Rule | undefined {
  return rules.find(({ source }) => source === "session") ?? rules[0];
}

/** A tool may be stricter than our own view of it, and never laxer. */
function stricterOf(
  ours: PermissionResult,
  opinion: PermissionResult | undefined,
  { tool }: DecisionInput,
): PermissionResult {
  if (!isBuiltIn(tool)) return opinion && !isSilent(opinion) ? opinion : ours;
  if (opinion?.behavior === "deny") return opinion;
  return opinion?.behavior === "ask" && ours.hard !== true ? opinion : ours;
}

/** No opinion, and no word about it. */
function isSilent({ behavior, reason: why }: PermissionResult): boolean {
  return behavior === "passthrough" && why.code === "said" && why.args.text === "";
}
