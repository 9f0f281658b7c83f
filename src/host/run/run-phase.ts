import type { LifecycleManager } from "../../agent/state/lifecycle.ts";
import type { SessionLog, Stopped } from "../../journal/session/session.ts";
import type { Asleep } from "./sleep.ts";

/** State of one session's run in this process. */
export type RunPhase =
  /** No attempt runs. `kept`: epoch of the lease held through a sleep; `stop` ends or pauses the next attempt as it begins. */
  | { name: "preparing"; kept: number | undefined; stop: Stopped | undefined }
  /** `idleAt`: it waited for people alone at the last look, and this was its newest fact then. */
  | { name: "working"; log: SessionLog; lifecycle: LifecycleManager; idleAt: number | undefined }
  /** Its log was closed so that it can sleep; the attempt is about to end. */
  | { name: "fallingAsleep"; log: SessionLog }
  | { name: "asleep"; kept: number; sleep: Asleep }
  | { name: "over" };

export type RunEvent =
  | { type: "attemptBegun"; log: SessionLog; lifecycle: LifecycleManager }
  | { type: "attemptEnded" }
  /** The sweep looked for sessions that could sleep. `idleAt` is undefined while the session works. */
  | { type: "looked"; idleAt: number | undefined; maySleep: boolean }
  | { type: "slept"; sleep: Asleep }
  | { type: "woken" }
  | { type: "stopped"; reason: Stopped }
  | { type: "ended" };

export const notBegun = { name: "preparing", kept: undefined, stop: undefined } as const satisfies RunPhase;

/** An event that does not apply in a phase is ignored: people and timers do not know how far a run has come. */
export function nextPhase(phase: RunPhase, event: RunEvent): RunPhase {
  switch (event.type) {
    case "attemptBegun": {
      const { log, lifecycle } = event;
      return phase.name === "preparing" ? { name: "working", log, lifecycle, idleAt: undefined } : phase;
    }
    case "attemptEnded":
      if (phase.name === "working") return notBegun;
      return phase.name === "fallingAsleep" ? { ...notBegun, kept: phase.log.epoch } : phase;
    case "looked": {
      if (phase.name !== "working") return phase;
      const { idleAt, maySleep } = event;
      const stillIdle = idleAt !== undefined && idleAt === phase.idleAt;
      return stillIdle && maySleep ? { name: "fallingAsleep", log: phase.log } : { ...phase, idleAt };
    }
    case "slept":
      if (phase.name !== "preparing" || phase.kept === undefined) return phase;
      return { name: "asleep", kept: phase.kept, sleep: event.sleep };
    case "woken":
      return phase.name === "asleep" ? { ...notBegun, kept: phase.kept } : phase;
    case "stopped":
      return phase.name === "preparing" ? { ...phase, stop: event.reason } : phase;
    case "ended":
      return { name: "over" };
    default:
      return event satisfies never;
  }
}
