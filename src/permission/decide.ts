import type { Effect } from "../protocol/facts/call.ts";
import { demands, isStricter, strictest } from "../protocol/facts/consent.ts";
import type { PermissionMode, PermissionOpinion, PermissionResult, Rule } from "../protocol/facts/permission.ts";
import type { SessionMode } from "../protocol/mode.ts";
import { messageOf } from "../protocol/reasons/error.ts";
import { reason, reasonFrom } from "../protocol/reasons/reason.ts";
import { createRuleBooks, type RuleBook, type RuleBooks } from "./rules/book.ts";
import { allowedBy, nameOf } from "./rules/compile.ts";
import type { CommandReading } from "./shell/judge/flow/command-reading.ts";
import { confine, type ConfinePolicy } from "./confined.ts";
import { examine } from "./examine.ts";
import type { Finding } from "./finding.ts";
import type { Disk } from "./paths/canonical.ts";
import type { ShellGrammar } from "./shell/read/grammar.ts";
import { isBuiltIn } from "./rules/rules.ts";

/** A call and everything its permission depends on, the disk aside. */
export type DecisionInput = {
  rules: readonly Rule[];
  mode: PermissionMode;
  /** The mode of the session; `ask` when nothing is said. */
  sessionMode?: SessionMode | undefined;
  /** The tool's effect, which plan mode goes by. */
  effect?: Effect | undefined;
  /** Folder that relative paths of the call start from. */
  cwd: string;
  /** Folder that `./` in rules stands for: where the session began, if that is not `cwd`. */
  anchor?: string | undefined;
  home: string;
  /** Folders in which reading needs no permission. */
  roots: readonly string[];
  tool: string;
  input: unknown;
  requiresUserInteraction?: boolean | undefined;
  /** Text that rules match for a tool that is not built in. */
  specifier?: string | undefined;
  /** The tool's own opinion. Deciding never waits: one that is still to come makes a hard ask. */
  view?: (() => PermissionOpinion | Promise<PermissionOpinion>) | undefined;
  /** From `loadGrammar`. Without it no command is allowed. */
  grammar?: ShellGrammar | undefined;
  /** Addresses of the host, looked up by the tool that fetches. */
  addresses?: readonly string[] | undefined;
  /** The tool is described otherwise than when the person gave rules for it: those allow nothing until they are confirmed. */
  changed?: boolean | undefined;
  /** Folder of Sage's state, if not `~/.sage`. */
  sageHome?: string | undefined;
  /** Names of the variables that commands inherit: others that a line sets reach no program. */
  environment?: ReadonlySet<string> | undefined;
  /** How commands are confined; undefined where they run as ever. */
  confine?: ConfinePolicy | undefined;
  /** The look at the disk that the decision takes; by default one of its own. */
  disk?: Disk | undefined;
  /** Keeps rules compiled between calls. */
  books?: RuleBooks | undefined;
};

/** The steps in their order, named by what answers in them. */
export const decisionSteps = [
  ...(["deny", "refused", "ask", "guarded", "person", "free", "mode", "tool", "allow", "confined", "nothing"] as const),
];
export type DecisionStep = (typeof decisionSteps)[number];

/** A decision, with the step that answered and the finding that it rests on. */
export type Judgement = { step: DecisionStep; result: PermissionResult; finding?: Finding };

/** May this call run? Pure and synchronous: a function of the call, the rules and the disk. It never throws. */
export function decide(call: DecisionInput): PermissionResult {
  return judge(call).result;
}

/** Decides as `decide` does, and returns everything found on the way. `reading`: the command of this call, read before. */
export function judge(call: DecisionInput, reading?: CommandReading): Judgement {
  try {
    const book = (call.books ?? createRuleBooks()).of(call.rules, call.home);
    const finding = examine(call, book, reading);
    const concluded = conclude(finding, stricter(finding.view, call), book, call);
    const confined = call.confine === undefined ? concluded : confine(concluded, { finding, book, call });
    const [step, result] = call.sessionMode === "plan" ? whilePlanning(confined, call) : confined;
    const { parts } = finding;
    const demand = result.behavior === "ask" ? demanded(call, finding) : undefined;
    const told =
      parts && parts.length > 0 ? { ...result, ...demand, parts } : demand ? { ...result, ...demand } : result;
    return { step, result: told, finding };
  } catch (error) {
    const why = reason("not-judged", { error: messageOf(error) });
    const consent = strictest(demanding(call).flatMap((rule) => rule.consent ?? [])); // any of them may be about it
    return { step: "guarded", result: { behavior: "ask", hard: true, reason: why, ...(consent && { consent }) } };
  }
}

/** The first step that answers ends the matter; neither a rule's detail nor its place in the list counts. */
function conclude(
  { deny, ask, allow, edits }: Finding,
  view: PermissionResult,
  { unreadable }: RuleBook,
  call: DecisionInput,
): [DecisionStep, PermissionResult] {
  if (deny)
    return ["deny", { behavior: "deny", reason: reason("denied-by-rule", { rule: nameOf(deny) }), ...by(deny) }];
  // Ahead of the ask rules, or adding one would turn a tool's no into a question.
  if (view.behavior === "deny") return ["refused", view];
  if (ask)
    return ["ask", { behavior: "ask", reason: reason("asked-by-rule", { rule: nameOf(ask) }), ...by(ask), hard: true }];
  if (unreadable) {
    const why = reason("rule-unreadable", { rule: nameOf(unreadable) });
    return ["ask", { behavior: "ask", reason: why, ...by(unreadable), hard: true }];
  }

  const needsPerson = call.requiresUserInteraction === true;
  if (view.behavior === "ask" && view.hard === true) return ["guarded", view];
  if (needsPerson) {
    const why = view.behavior === "ask" ? view.reason : reason("needs-person", { tool: call.tool });
    return ["person", { behavior: "ask", hard: true, reason: why }];
  }
  if (view.behavior === "allow") return ["free", view];
  if (call.mode === "bypass") return ["mode", { behavior: "allow", reason: reason("bypass", {}) }];
  if (view.behavior === "passthrough" && edits && call.sessionMode === "acceptEdits")
    return ["mode", { behavior: "allow", reason: reason("accepts-edits", {}) }];
  if (view.behavior === "ask") return ["tool", view];
  if (allow && allow.length > 0 && call.changed === true)
    return ["nothing", { behavior: "ask", reason: reason("tool-changed", { tool: call.tool }) }];
  if (allow && allow.length > 0)
    return ["allow", { behavior: "allow", reason: allowedBy(...allow), ...by(lastGiven(allow)) }];
  return ["nothing", { behavior: "ask", reason: view.reason }];
}

/**
 * The demands of all ask rules about the call, and the strictest of them as its rule. Each is held against the call by itself: of
 * several that match, the finding names one.
 */
function demanded(call: DecisionInput, { shell }: Finding): Partial<PermissionResult> | undefined {
  if (call.rules.length === 0) return undefined;
  const possible = demanding(call);
  if (possible.length === 0) return undefined;
  const asking = possible.filter((rule) => {
    const book = createRuleBooks().of([rule], call.home);
    return examine(call, book, shell?.reading).ask !== undefined;
  });
  const silence = asking.find((rule) => rule.silence)?.silence;
  const said = silence ? { silence } : {};
  const consent = strictest(asking.flatMap((rule) => rule.consent ?? []));
  if (!consent) return said;
  const first = asking.find((rule) => rule.consent && !isStricter(consent, rule.consent)) ?? asking[0]!;
  return { ...said, consent, reason: reason("asked-by-rule", { rule: nameOf(first) }), ...by(first) };
}

function demanding({ rules }: DecisionInput): Rule[] {
  return rules.filter((rule) => rule.behavior === "ask" && (demands(rule) || rule.silence !== undefined));
}

/** Only what reads and needs no permission runs, and what is put before the person. Nobody is asked about anything else. */
function whilePlanning(
  [step, result]: [DecisionStep, PermissionResult],
  { tool, effect = "writes", requiresUserInteraction }: DecisionInput,
): [DecisionStep, PermissionResult] {
  const reads = result.behavior === "allow" && (effect !== "writes" || result.reason.code === "only-reads");
  if (result.behavior === "deny" || reads || requiresUserInteraction === true) return [step, result];
  return ["mode", { behavior: "deny", reason: reason("plan-mode", { tool }) }];
}

function by(rule: Rule | undefined): Pick<PermissionResult, "rule" | "source"> {
  return rule ? { rule: rule.text, source: rule.source } : {};
}

/** The rule that made the difference; of several that allow the call only together, the one that was given last. */
function lastGiven(rules: readonly Rule[]): Rule | undefined {
  return rules.find(({ source }) => source === "session") ?? rules[0];
}

/** A tool may be stricter than our own view of it, and never laxer. */
function stricter(ours: PermissionResult, { tool, view }: DecisionInput): PermissionResult {
  const own = opinionOf(view);
  if (!isBuiltIn(tool)) return own && !isSilent(own) ? own : ours;
  if (own?.behavior === "deny") return own;
  return own?.behavior === "ask" && ours.hard !== true ? own : ours;
}

/** No opinion, and no word about it. */
function isSilent({ behavior, reason: why }: PermissionResult): boolean {
  return behavior === "passthrough" && why.code === "said" && why.args.text === "";
}

function opinionOf(view: DecisionInput["view"]): PermissionResult | undefined {
  if (view === undefined) return undefined;
  try {
    const opinion = view();
    if (opinion instanceof Promise) opinion.catch(() => {}); // nobody waits for it
    if (opinion instanceof Promise || !["allow", "deny", "ask", "passthrough"].includes(opinion.behavior))
      return { behavior: "ask", hard: true, reason: reason("check-unusable", {}) };
    return { ...opinion, reason: reasonFrom(opinion.reason) };
  } catch (error) {
    return { behavior: "ask", hard: true, reason: reason("check-failed", { error: messageOf(error) }) };
  }
}
