import type { Fact } from "./fact.ts";
import type { OutcomeStatus, TurnError } from "./outcome.ts";
import type { Reason } from "./reason.ts";

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

/** With this fact a process begins an attempt at a turn, or another attempt. */
export function beginsAttempt(fact: Fact): boolean {
  return fact.type === "state.changed" && fact.data.from.state === "initializing";
}

/** The effect of an interrupt in the current state. */
export type InterruptAction = "pause" | "cancel" | "ignore";
