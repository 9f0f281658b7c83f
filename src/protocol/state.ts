import type { SageErrorCode } from "./error.ts";
import type { OutcomeStatus } from "./outcome.ts";

export type ExecutionPhase = "preparingContext" | "callingLlm" | "processingResponse" | "executingTools";

/** What an agent is doing. Phases are for whoever watches; only a change of state is a fact. */
export type AgentState =
  | { state: "initializing" }
  | { state: "idle" }
  | { state: "executing"; phase: ExecutionPhase }
  /** Why, and for which request: seen at once by surfaces, hooks and notifications. */
  | { state: "waitingForConfirmation"; reason: string; requestId: string }
  | { state: "paused"; reason: string }
  | { state: "completed"; reason: OutcomeStatus["status"] }
  | { state: "error"; error: { code: SageErrorCode; message: string } };

export type StateTransition = { from: AgentState; to: AgentState; at: number };

export type InterruptAction = "pause" | "cancel" | "ignore";
