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
  readonly context: Judging;
  /** As the model sent it. */
  readonly call: Call;
  /** Input of a hook or a person in the place of the sent one. */
  readonly edited: ToolInput | undefined;
  readonly signal: AbortSignal;
  /** No call before it can change whether it works. */
  readonly settled: boolean;
  /** Judged before: as it was shown then, and why it is judged once more. */
  readonly earlier: { readonly shown: Verdict; readonly again: Again } | undefined;
  /** 1. The word of the person's hooks; undefined where none has a say. */
  readonly hooks: HookOutcome | undefined;
  /** 2. to 4. The tool's own check, and from there the rules, mode and confinement. */
  readonly check: ToolCheck;
  /** 5. The conclusion; a call that nobody has judged is denied. */
  readonly verdict: Verdict;
};

/** Why this is no call at all, or the tool with the input that it takes, on the way to a decision. */
export type ToolCheck =
  | { readonly refused: Reason }
  | {
      readonly refused?: undefined;
      readonly tool: Tool;
      readonly input: ToolInput;
      readonly disk: Disk;
      readonly decision: Decision;
    };

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
    return through(stages, openCase(context, call, { signal: scope.signal, settled }));
  });
}

/** Judges a call once more: hooks had their say, and what is not as it was `shown` counts. */
export function judgeAgain(
  context: Judging,
  call: Call,
  { edited, signal, ...earlier }: { edited: ToolInput | undefined; signal: AbortSignal; shown: Verdict; again: Again },
): Awaitable<Verdict> {
  return whenReady(call, context, () =>
    through(stagesWithoutHooks, openCase(context, call, { signal, settled: true, edited, earlier })),
  );
}

/** Judges where nobody can wait: by the opinion that the tool had before, and as if the call could work. */
export function judgeCall(context: Judging, call: Call, edited?: ToolInput): Verdict {
  return concludeAtOnce(inMode(underRules(checkTool(openCase(context, call, { edited }))))).verdict;
}

type Given = Partial<Pick<Case, "signal" | "settled" | "edited" | "earlier">>;

function openCase(context: Judging, call: Call, { signal = unending, settled = false, edited, earlier }: Given): Case {
  return { context, call, edited, signal, settled, earlier, hooks: undefined, check: unchecked, verdict: unjudged };
}

const unending = new AbortController().signal;
const nobody: Reason = reason("not-judged", { error: "nobody has judged it" });
const unchecked = { refused: nobody };
const unjudged = refusal(nobody);

function through(line: readonly Stage[], from: Case): Awaitable<Verdict> {
  const last = line.reduce<Awaitable<Case>>((at, stage) => andThen(at, stage), from);
  return andThen(last, ({ verdict }) => verdict);
}

/** A stage that is pure (permission/decide.ts), for a call that there is. */
function deciding(stage: (decision: Decision) => Decision): (at: Case) => Case {
  return (at) => {
    const { check } = at;
    return check.refused ? at : { ...at, check: { ...check, decision: stage(check.decision) } };
  };
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
