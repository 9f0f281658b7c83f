import type { InputChange, ToolInput } from "./call.ts";
import type { Message, ToolResult, Usage } from "./message.ts";
import type { Reason, SageErrorCode } from "../reasons/reason.ts";

/** The ways in which a turn ends or stops. */
export type OutcomeStatus =
  | { status: "success" }
  | { status: "cancelled"; reason: Reason }
  /** Interrupted: the turn is open and continues with `say` or `resume`. */
  | { status: "paused"; reason: Reason }
  | { status: "max-steps"; steps: number }
  /** The last reply is not whole: cut at the token limit, withheld by a filter of the provider, or empty. */
  | { status: "incomplete"; lack: "length" | "filtered" | "empty" }
  /** A person was needed and may not be asked here; the turn stays open in the journal. */
  | { status: "needs-input"; requests: string[] }
  | { status: "error"; error: TurnError };

/** `reason`, where there is one, is the message for people to read in their own language. */
export type TurnError = { code: SageErrorCode; message: string; reason?: Reason };

/** Counts of one turn. `durationMs` runs from its beginning to its end, waiting for people included. */
export type ExecutionStats = { steps: number; toolCalls: number; modelCalls: number; durationMs: number };

/** Cost of a turn. Absent unless the price of every model that replied is known. */
export type Cost = { usd: number };

/** A call of a turn: the input that ran, and its result. `changed`: that is not what the model sent, and who changed it. */
export type ToolUse = {
  tool: string;
  input: ToolInput;
  result: ToolResult;
  changed?: InputChange & { sent: ToolInput };
};

/** Outcome of a turn: how it ended, the agent's last words, and everything that was said and done in it. */
export type AgentOutcome = OutcomeStatus & {
  session: string;
  /** The agent's last words. */
  text: string;
  usage: Usage;
  cost?: Cost;
  stats: ExecutionStats;
  messages: Message[];
  toolHistory: ToolUse[];
};

/** The part of an outcome that `turn.ended` keeps. The rest is a fold of the facts. */
export type TurnEnd = OutcomeStatus & {
  text: string;
  usage: Usage;
  cost?: Cost;
  stats: ExecutionStats;
  /** Of a turn that failed: messages up to this seq were in the request to the model that failed. */
  sawUpTo?: number;
  /** But for these, which had been taken back. */
  without?: readonly number[];
};

/** True when the agent finished its turn. */
export function isSuccess(outcome: OutcomeStatus): boolean {
  return outcome.status === "success";
}

/** Phase of an agent that works. */
export type ExecutionPhase = "preparingContext" | "callingLlm" | "processingResponse" | "executingTools";

/** State of an agent. Attempts at a turn begin and end with a fact; working and waiting in between are for those who watch. */
export type AgentState =
  | { state: "initializing" }
  | { state: "idle" }
  | { state: "executing"; phase: ExecutionPhase }
  /** Why, and for which request: seen at once by surfaces, hooks and notifications. */
  | { state: "waitingForConfirmation"; reason: Reason; requestId: string }
  | { state: "paused"; reason: Reason }
  | { state: "completed"; reason: OutcomeStatus["status"] }
  | { state: "error"; error: TurnError };

/** A change of state. */
export type StateTransition = { from: AgentState; to: AgentState; at: number };

/** The effect of an interrupt in the current state. */
export type InterruptAction = "pause" | "cancel" | "ignore";
