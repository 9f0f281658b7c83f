import type { Effect } from "../protocol/facts/call.ts";
import { demands, isStricter, strictest } from "../protocol/facts/consent.ts";
import type { PermissionMode, PermissionOpinion, PermissionResult, Rule } from "../protocol/facts/permission.ts";
import type { SessionMode } from "../protocol/mode.ts";
import { reason, reasonFrom, reasonOf } from "../protocol/reasons/reason.ts";
import { createRuleBooks, type RuleBook, type RuleBooks } from "./rules/book.ts";
import { allowedBy, namedRule } from "./rules/compile.ts";
import { isBuiltIn } from "./rules/rules.ts";
import type { CommandReading } from "./shell/judge/flow/command-reading.ts";
import { confine, type ConfinePolicy } from "./confined.ts";
import { examine } from "./examine.ts";
import type { Finding } from "./finding.ts";
import type { Disk } from "./paths/canonical.ts";
import type { ShellGrammar } from "./shell/read/grammar.ts";

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
  "deny",
  "refused",
  "ask",
  "guarded",
  "person",
  "free",
  "mode",
  "tool",
  "allow",
  "confined",
  "nothing",
] as const;
type DecisionStep = (typeof decisionSteps)[number];

/** A decision, with the step that answered and the finding that it rests on. */
export type Judgement = { step: DecisionStep; result: PermissionResult; finding?: Finding };

/** A call on its way to a decision: each stage gives it on with what it has found. */
export type Decision = {
  readonly call: DecisionInput;
  /** The command of the call, read before. */
  readonly reading: CommandReading | undefined;
  /** The tool's own check. */
  readonly opinion: PermissionResult | undefined;
  /** Everything that the rules say. Undefined as long as nobody has looked, and for good when looking fails. */
  readonly ruled: { readonly book: RuleBook; readonly finding: Finding } | undefined;
  readonly step: DecisionStep;
  readonly result: PermissionResult;
};

/** May this call run? Pure and synchronous: a function of the call, the rules and the disk. It never throws. */
export function decide(call: DecisionInput): PermissionResult {
  return judge(call).result;
}

/** Decides as `decide` does, and returns everything found on the way. `reading`: the command of this call, read before. */
export function judge(call: DecisionInput, reading?: CommandReading): Judgement {
  return judgementOf(concludeDecision(applyMode(applyRules(checkOpinion(call, reading)))));
}

/** The tool's own check. Nothing is decided yet, and whatever nobody decides is asked. */
export function checkOpinion(call: DecisionInput, reading?: CommandReading): Decision {
  return { call, reading, opinion: opinionOf(call.view), ruled: undefined, step: "nothing", result: undecided };
}

const undecided: PermissionResult = {
  behavior: "ask",
  hard: true,
  reason: reason("not-judged", { error: "no stage decided" }),
};

/** The rules, and what is known of the tool: everything that they say about the call. */
export function applyRules(decision: Decision): Decision {
  return unlessItFails(decision, ({ call, reading }) => {
    const book = (call.books ?? createRuleBooks()).of(call.rules, call.home);
    return { ...decision, ruled: { book, finding: examine(call, book, reading) } };
  });
}

/** Mode and confinement: the first step that answers. */
export function applyMode(decision: Decision): Decision {
  const { ruled } = decision;
  if (!ruled) return decision;
  return unlessItFails(decision, () => {
    const { step, result } = firstAnswer(decision, ruled);
    return { ...decision, step, result };
  });
}

/** The conclusion: whatever asks also tells who has to say yes, and what becomes of each part. */
export function concludeDecision(decision: Decision): Decision {
  const { ruled } = decision;
  if (!ruled) return decision;
  return unlessItFails(decision, ({ call, result }) => {
    const { parts = [] } = ruled.finding;
    const demands = result.behavior === "ask" ? demandsOn(call, ruled) : undefined;
    if (!demands && parts.length === 0) return decision;
    return { ...decision, result: { ...result, ...demands, ...(parts.length > 0 && { parts }) } };
  });
}

export function judgementOf({ step, result, ruled }: Decision): Judgement {
  return ruled ? { step, result, finding: ruled.finding } : { step, result };
}

/** A call that cannot be judged is for a person, and any rule that demands more than one yes may be about it. */
function unlessItFails(decision: Decision, stage: (decision: Decision) => Decision): Decision {
  try {
    return stage(decision);
  } catch (error) {
    const consent = strictest(decision.call.rules.filter(isDemanding).flatMap((rule) => rule.consent ?? []));
    const why = reason("not-judged", { error: reasonOf(error) });
    const result: PermissionResult = { behavior: "ask", hard: true, reason: why, ...(consent && { consent }) };
    return { ...decision, ruled: undefined, step: "guarded", result };
  }
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
    return { behavior: "ask", hard: true, reason: reason("check-failed", { error: reasonOf(error) }) };
  }
}

/** Demands of all matching ask rules and the strictest rule, each held against the call by itself: the finding names one. */
function demandsOn(
  call: DecisionInput,
  { book, finding }: NonNullable<Decision["ruled"]>,
): Partial<PermissionResult> | undefined {
  if (!call.rules.some(isDemanding)) return undefined;
  const isAbout = (n: number) => examine(call, book.alone(n), finding.shell?.reading).ask !== undefined;
  const asking = call.rules.filter((rule, n) => isDemanding(rule) && isAbout(n));
  const silence = asking.find((rule) => rule.silence)?.silence;
  const consent = strictest(asking.flatMap((rule) => rule.consent ?? []));
  if (!consent) return silence ? { silence } : {};
  const first = asking.find((rule) => rule.consent && !isStricter(consent, rule.consent)) ?? asking[0]!;
  const why = reason("asked-by-rule", { rule: namedRule(first) });
  return { ...(silence && { silence }), consent, reason: why, ...by(first) };
}

/** An ask rule that says how many have to agree, or what happens without an answer. */
function isDemanding(rule: Rule): boolean {
  return rule.behavior === "ask" && (demands(rule) || rule.silence !== undefined);
}

type Answer = Pick<Decision, "step" | "result">;
type Ruled = NonNullable<Decision["ruled"]>;

/** The answer of the first step that has one, as it is where commands are confined and in the mode of the session. */
function firstAnswer(decision: Decision, ruled: Ruled): Answer {
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

function by(rule: Rule | undefined): Pick<PermissionResult, "rule" | "source"> {
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
