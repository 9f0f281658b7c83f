import { noUsage } from "../protocol/facts/message.ts";
import type { AgentOutcome, OutcomeStatus } from "../protocol/facts/outcome.ts";
import { reason, messageOf, reasonOf, SageError } from "../protocol/reasons/reason.ts";

/** Outcome of a run whose turn did nothing. */
export function withoutTurn(session: string, status: OutcomeStatus): AgentOutcome {
  const stats = { steps: 0, toolCalls: 0, modelCalls: 0, durationMs: 0 };
  return { ...status, session, text: "", usage: noUsage, stats, messages: [], toolHistory: [] };
}

/** Outcome of a run that is left while its turn is open. */
export function left(session: string): AgentOutcome {
  return withoutTurn(session, { status: "paused", reason: reason("leaving", {}) });
}

export function failureOf(error: unknown): OutcomeStatus {
  const code = error instanceof SageError ? error.code : "turn-failed";
  return { status: "error", error: { code, message: messageOf(error), reason: reasonOf(error) } };
}
