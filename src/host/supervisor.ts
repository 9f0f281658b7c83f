import { realClock, type Clock } from "../models/sleep.ts";
import { SageError, messageOf } from "../protocol/index.ts";

export type Supervision = {
  /** Restarts allowed per window. One more attempt follows unsupervised and ends the turn however it goes. */
  restarts?: number;
  windowMs?: number;
  clock?: Clock;
};

type Supervised = Supervision & {
  notice(text: string): void;
  /** Aborted when the person does not want to wait for the next attempt: it begins at once and finds out why. */
  hurry(): AbortSignal;
};

/**
 * Begins an attempt again that ended by a mistake of ours. It only calls the same loop, which replays: nothing that took effect
 * is done twice. What is no mistake (a model that cannot be had, a lost lease) is a `SageError` and none of its business.
 */
export async function supervise<T>(
  attempt: (how: { supervised: boolean }) => Promise<T>,
  { restarts = 3, windowMs = 10 * 60_000, clock = realClock, notice, hurry }: Supervised,
): Promise<T> {
  let crashes: number[] = [];
  for (;;) {
    const supervised = crashes.length < restarts;
    try {
      return await attempt({ supervised });
    } catch (error) {
      if (!supervised || error instanceof SageError) throw error;
      const now = clock.now();
      crashes = [...crashes.filter((at) => now - at < windowMs), now];
      const waitMs = 1_000 * 2 ** (crashes.length - 1);
      const which = crashes.length < restarts ? `${crashes.length} of ${restarts}` : "for the last time";
      notice(`Something went wrong in Sage: ${messageOf(error)}. Going on in ${waitMs / 1_000} s (${which}).`);
      await clock.sleep(waitMs, hurry()).catch(() => {});
    }
  }
}
