import type { HookOutcome } from "../../../hooks/hook.ts";
import { andThen, type Awaitable } from "../../../journal/store/store.ts";
import { applyMode, applyRules, type Decision } from "../../../permission/decide.ts";
import { loadShell } from "../../../permission/load.ts";
import type { Disk } from "../../../permission/paths/canonical.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Call } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import type { Judging } from "../../state/context.ts";
import type { Again } from "./call-state.ts";
import { conclude, concludeAtOnce, refusal } from "./conclude.ts";
import { hearHooks } from "./hooked.ts";
import { checkTool, hearTool } from "./tool-check.ts";

/** A call on its way to its verdict: each stage gives it on with what it has to say. */
export type Case = {
  readonly question: Question;
  /** Input of a hook or a person in the place of the sent one. */
  readonly edited: ToolInput | undefined;
  /** 1. The word of the person's hooks; undefined where none has a say. */
  readonly hooks: HookOutcome | undefined;
  /** 2. The tool with the input that it takes, or why this is no call at all. */
  readonly check: ToolCheck;
  /** 2. to 4. The tool's opinion, rules, mode and confinement. */
  readonly decision: Decision | undefined;
  /** 5. The conclusion; a call that nobody has judged is denied. */
  readonly verdict: Verdict;
};

export type Question = {
  context: Judging;
  /** As the model sent it. */
  call: Call;
  signal: AbortSignal;
  /** No call before it can change whether it works. */
  settled: boolean;
  /** Judged before: as it was shown then, and why it is judged once more. */
  earlier: { shown: Verdict; again: Again } | undefined;
};

export type ToolCheck = { refused: Reason } | { refused?: undefined; tool: Tool; input: ToolInput; disk: Disk };

type Stage = (at: Case) => Awaitable<Case>;

const underRules = deciding(applyRules);
const inMode = deciding(applyMode);

/** May this call run? Hooks, the tool's own check, rules, mode and confinement, conclusion: each takes a case and gives it on. */
const stages: readonly Stage[] = [hearHooks, hearTool, underRules, inMode, conclude];
const stagesWithoutHooks = stages.slice(1);

/** Judges a call with the hooks' say. Runs inside the step of the whole batch: on replay no hook is called again. */
export function judgeHooked(
  context: Judging,
  call: Call,
  { scope, settled }: { scope: { signal: AbortSignal }; settled: boolean },
): Awaitable<Verdict> {
  return whenReady(call, context, () => {
    if (context.memory.refused(call)) return refusedBefore;
    return through(stages, openCase({ context, call, signal: scope.signal, settled, earlier: undefined }, undefined));
  });
}

/** Judges a call once more: hooks had their say, and what is not as it was `shown` counts. */
export function judgeAgain(
  context: Judging,
  call: Call,
  { edited, signal, ...earlier }: { edited: ToolInput | undefined; signal: AbortSignal; shown: Verdict; again: Again },
): Awaitable<Verdict> {
  return whenReady(call, context, () =>
    through(stagesWithoutHooks, openCase({ context, call, signal, settled: true, earlier }, edited)),
  );
}

/** Judges where nobody can wait: by the opinion that the tool had before, and as if the call could work. */
export function judgeCall(context: Judging, call: Call, edited?: ToolInput): Verdict {
  const question: Question = { context, call, signal: unending, settled: false, earlier: undefined };
  return concludeAtOnce(inMode(underRules(checkTool(openCase(question, edited))))).verdict;
}

function openCase(question: Question, edited: ToolInput | undefined): Case {
  return { question, edited, hooks: undefined, check: unchecked, decision: undefined, verdict: unjudged };
}

const unending = new AbortController().signal;
const nobody: Reason = reason("not-judged", { error: "nobody has judged it" });
const unchecked = { refused: nobody };
const unjudged = refusal(nobody);

function through(line: readonly Stage[], from: Case): Awaitable<Verdict> {
  let at: Awaitable<Case> = from;
  for (const stage of line) at = andThen(at, stage);
  return andThen(at, ({ verdict }) => verdict);
}

/** A stage that is pure (permission/decide.ts), for a call that there is. */
function deciding(stage: (decision: Decision) => Decision): (at: Case) => Case {
  return (at) => (at.decision ? { ...at, decision: stage(at.decision) } : at);
}

/** Loads what a command is judged with, and tries the sandbox; judging itself never waits. Other tools need neither. */
export function readyToJudge({ tool }: Call, { config }: Pick<Judging, "config">): Promise<unknown> | undefined {
  return tool === "Bash" ? Promise.all([loadShell(), config.confining?.ready()]) : undefined;
}

function whenReady(call: Call, context: Judging, work: () => Awaitable<Verdict>): Awaitable<Verdict> {
  const ready = readyToJudge(call, context);
  return ready ? ready.then(work) : work();
}

const refusedBefore: Verdict = {
  behavior: "deny",
  repeated: true,
  reason: reason("refused-before", {}),
  effect: "reads",
  digest: "",
};
