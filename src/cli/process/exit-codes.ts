import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";
import type { SageErrorCode } from "../../protocol/reasons/reason.ts";
import type { ExitName } from "../../texts/commands/help.ts";

/** Exit codes that scripts may rely on. */
export const exitCodes = {
  success: 0,
  failure: 1,
  usage: 2,
  needsPerson: 3,
  timeout: 4,
  maxSteps: 5,
  incomplete: 6,
  interrupted: 130,
} as const satisfies Record<ExitName, number>;

export function exitCodeOf(outcome: OutcomeStatus): number {
  switch (outcome.status) {
    case "success":
      return exitCodes.success;
    case "needs-input":
      return exitCodes.needsPerson;
    case "max-steps":
      return exitCodes.maxSteps;
    case "incomplete":
      return exitCodes.incomplete;
    case "cancelled":
    case "paused":
      return exitCodes.interrupted;
    case "error":
      return exitCodeOfError(outcome.error.code);
    default:
      return outcome satisfies never;
  }
}

export function exitCodeOfError(code: SageErrorCode): number {
  if (code === "timeout") return exitCodes.timeout;
  return code === "usage" || code === "config-invalid" || code === "session-unknown" || code === "request-unknown"
    ? exitCodes.usage
    : exitCodes.failure;
}
