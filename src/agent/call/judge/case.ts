import type { HookOutcome } from "../../../hooks/hook.ts";
import type { Awaitable } from "../../../journal/store/store.ts";
import type { Decision } from "../../../permission/decide.ts";
import type { Disk } from "../../../permission/paths/canonical.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Call } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import type { Reason } from "../../../protocol/reasons/reason.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import type { Judging } from "../../state/context.ts";
import type { Again } from "./call-state.ts";

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

export type Stage = (at: Case) => Awaitable<Case>;
