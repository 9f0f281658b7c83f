import { realClock, type Clock } from "../../models/sleep.ts";
import { reason, type Reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";

export type Supervision = {
  /** Restarts allowed per window. One more attempt follows unsupervised and ends the turn however it goes. */
  restarts?: number;
  windowMs?: number;
  clock?: Clock;
};

type Supervisor = {
  /** False for the last attempt, which ends the turn however it goes. */
  readonly supervised: boolean;
  /** The attempt ended by this error: how long to rest before the next one, and the notice to give. Undefined: there is none. */
  rest(error: unknown): { ms: number; notice: Reason } | undefined;
};

/** Begins an attempt again after a mistake of ours; replay does nothing twice. A `SageError` is no mistake and none of its business. */
export function createSupervisor({ restarts = 3, windowMs = 10 * 60_000, clock = realClock }: Supervision): Supervisor {
  let crashes: number[] = [];
  return {
    get supervised() {
      return crashes.length < restarts;
    },
    rest(error) {
      if (crashes.length >= restarts || error instanceof SageError) return undefined;
      const now = clock.now();
      crashes = [...crashes.filter((at) => now - at < windowMs), now];
      const ms = 1_000 * 2 ** (crashes.length - 1);
      const told = { problem: messageOf(error), waitMs: ms, attempt: crashes.length, of: restarts };
      return { ms, notice: reason("goes-on-after-mistake", told) };
    },
  };
}
