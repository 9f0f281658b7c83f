import { setTimeout as wait } from "node:timers/promises";

/** Time as those who wait see it; a wall clock that is set back must not hold them up. */
export type Clock = { now(): number; sleep(ms: number, signal: AbortSignal): Promise<void> };

export const realClock: Clock = { now: () => performance.now(), sleep };

/** Rejects with the signal's own reason; Node would throw an AbortError. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}
