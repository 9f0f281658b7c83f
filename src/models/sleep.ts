import { setTimeout as wait } from "node:timers/promises";

/** Rejects with the signal's own reason, where Node gives an AbortError. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}
