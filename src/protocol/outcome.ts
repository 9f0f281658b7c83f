import type { SageErrorCode } from "./error.ts";
import type { Message, ToolInput, ToolResult, Usage } from "./message.ts";

export type OutcomeStatus =
  | { status: "success" }
  | { status: "cancelled"; reason: string }
  /** Interrupted: the turn is open and goes on with `say` or `resume`. */
  | { status: "paused"; reason: string }
  | { status: "max-steps"; steps: number }
  /** A person was needed and may not be asked here; the turn stays open in the journal. */
  | { status: "needs-input"; requests: string[] }
  | { status: "error"; error: { code: SageErrorCode; message: string } };

export type ExecutionStats = { steps: number; toolCalls: number; modelCalls: number; durationMs: number };

/** Known only where the price of every model that replied is. */
export type Cost = { usd: number };

export type ToolUse = { tool: string; input: ToolInput; result: ToolResult };

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

/** What `turn.ended` keeps: the rest of an outcome is a fold of the facts. */
export type TurnEnd = OutcomeStatus & { text: string; usage: Usage; cost?: Cost; stats: ExecutionStats };

export function isSuccess(outcome: OutcomeStatus): boolean {
  return outcome.status === "success";
}
