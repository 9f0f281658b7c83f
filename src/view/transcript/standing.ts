import type { CallEnd } from "../../protocol/facts/call.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import type { Asked, CallRun, Standing } from "../../protocol/host/receipt.ts";

/** Everything a standing is made of. */
export type CallRecord = {
  /** The latest one. */
  verdict?: Verdict;
  asked: readonly Asked[];
  runs: readonly CallRun[];
  result?: ToolResult;
  /** The turn ended; without a result there will be none. */
  turnEnded?: boolean;
  /** The turn was stopped before the result came. */
  turnStopped?: boolean;
};

export function standingOf(record: CallRecord): Standing {
  const { result } = record;
  if (!result) return withoutResult(record);
  const end = result.end ?? callEnd(record, result);
  return end === "not-run" && isInvalid(record) ? "invalid" : end;
}

export function isOpen(standing: Standing): boolean {
  return standing === "new" || standing === "waiting" || standing === "running";
}

/** Status of one run of a call; the last run has the status of the call. */
export function standingOfRun({ endedAt, ok, unknown, stopped }: CallRun): Standing {
  if (unknown) return "unknown";
  if (endedAt === undefined) return "running";
  if (ok) return "done";
  return stopped ? "stopped" : "failed";
}

function withoutResult(record: CallRecord): Standing {
  const { runs, asked, verdict, turnEnded } = record;
  const run = runs.at(-1);
  if (turnEnded) return run ? "unknown" : "not-run";
  if (asked.some(({ resolution }) => !resolution)) return "waiting";
  if (run) return run.unknown ? "unknown" : "running";
  return verdict?.effect === "waits" && isAllowed(record) ? "running" : "new";
}

/** Results of version 0.1.0 do not say how their call ended. */
function callEnd(record: CallRecord, { ok, refused }: ToolResult): CallEnd {
  if (ok) return "done";
  if (refused) return "refused-by-person";
  const run = record.runs.at(-1);
  if (run) return run.endedAt === undefined ? "unknown" : run.stopped ? "stopped" : "failed";
  // Questions and subagents run without a start of their own.
  if (isAllowed(record) && record.verdict?.effect === "waits") return record.turnStopped ? "stopped" : "failed";
  if (record.verdict?.behavior === "deny") return isInvalid(record) ? "not-run" : "refused-by-rule";
  const end = permissionEnd(record);
  if (end?.outcome !== "answered" || end.response.type !== "denied") return "not-run";
  return end.by === "auto" ? "refused-by-rule" : "refused-by-person";
}

/** Only a call that could run has a digest. */
function isInvalid({ verdict }: CallRecord): boolean {
  return verdict?.behavior === "deny" && verdict.digest === "" && !verdict.repeated;
}

function isAllowed(record: CallRecord): boolean {
  if (record.verdict?.behavior === "allow") return true;
  const end = permissionEnd(record);
  return end !== undefined && "response" in end && end.response?.type === "granted";
}

function permissionEnd({ asked }: CallRecord): Resolution | undefined {
  return asked.findLast(({ request }) => request.kind === "permission")?.resolution;
}
