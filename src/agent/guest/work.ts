import type { SessionLog } from "../../journal/session/session.ts";
import type { ExecutionContext } from "../state/context.ts";

/**
 * `works`: its time counts. `waits`: it holds a prompt for a person, whose time does not count. `rests`: nothing of it is lost when the
 * session is put to sleep.
 */
export type Work = "works" | "waits" | "rests";

/** Tells the session whether the guest works: one that waits for people alone may sleep. */
export function createWork(log: SessionLog, { activity }: ExecutionContext): { be(now: Work): void } {
  let working: Disposable | undefined;
  let busy: (() => void) | undefined;
  return {
    be(now) {
      if (now === "works") working ??= activity.begin();
      else {
        working?.[Symbol.dispose]();
        working = undefined;
      }
      if (now !== "rests") {
        if (!busy) void log.during(() => new Promise<void>((resolve) => (busy = resolve)));
      } else {
        busy?.();
        busy = undefined;
      }
    },
  };
}
