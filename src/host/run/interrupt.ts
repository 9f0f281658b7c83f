import type { SessionRow } from "../../journal/store/store.ts";
import type { SessionRun } from "./session-run.ts";

/** How far a session is when somebody interrupts it. */
export type Standing =
  /** No turn is open and none is about to begin. */
  | "idle"
  /** A message was said here and its turn has not begun, or an open turn is about to continue. */
  | "beginning"
  | "working"
  /** For a person: in memory or asleep, here or in another process. */
  | "waiting"
  /** A turn is open, and it is paused or no process runs it. */
  | "stopped";

/** An interrupt pauses work, and cancels a turn that waits. Without a surface nobody could end a pause, and it cancels too. */
export function interruptOf(standing: Standing, { attended }: { attended: boolean }): "nothing" | "pause" | "cancel" {
  switch (standing) {
    case "idle":
      return "nothing";
    case "beginning":
    case "working":
      return attended ? "pause" : "cancel";
    case "waiting":
    case "stopped":
      return "cancel";
    default:
      return standing satisfies never;
  }
}

/** `run`: the session's run in this process, if there is one. */
export function standingOf({ open, owned, pending }: SessionRow, run: SessionRun | undefined): Standing {
  if (run?.phase.name === "preparing") return "beginning";
  if (!open) return run?.log && run.log.unseen().length > 0 ? "beginning" : "idle";
  if (!run) return !owned ? "stopped" : pending > 0 ? "waiting" : "working";
  if (run.phase.name !== "working") return "waiting";
  const { state } = run.phase.lifecycle.state;
  return state === "executing" ? "working" : state === "waitingForConfirmation" ? "waiting" : "stopped";
}
