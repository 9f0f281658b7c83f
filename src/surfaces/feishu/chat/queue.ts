import { setTimeout as sleep } from "node:timers/promises";
import { thrownText } from "../../../texts/shared/error.ts";
import { passes } from "../channel/failure.ts";
import type { Records } from "../bot/records.ts";

/** While the platform is out of reach, nothing else could be sent either. */
const AGAIN_MS = [2_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000];

type Work = () => Promise<unknown> | void;

/** Messages and cards that one session sends, one after the other, and none before everything is known. */
export type Queue = {
  /** With a `seq`: facts up to it count as delivered afterwards, even if that failed, and are not repeated after a restart. */
  next(work: Work, seq?: number): void;
  /** An old card that cannot be changed just now holds up nothing new; but it is changed after everything sent before. */
  beside(work: Work): void;
  settled(): Promise<void>;
};

type Parts = { records: Records; signal: AbortSignal; log(line: string): void };

export function createQueue(session: string, ready: Promise<void>, { records, signal, log }: Parts): Queue {
  const failed = (error: unknown) => log(`session ${session}: ${thrownText(error)}`);
  let chain: Promise<void> = ready;
  const asides = new Set<Promise<void>>();
  return {
    next(work, seq) {
      chain = chain.then(async () => {
        await persist(work, signal).catch(failed);
        if (seq !== undefined && !signal.aborted) records.setTold(session, seq);
      });
    },
    beside(work) {
      const aside = chain
        .then(() => persist(work, signal))
        .catch(failed)
        .finally(() => asides.delete(aside));
      asides.add(aside);
    },
    async settled() {
      for (let before; before !== chain;) await (before = chain);
      await Promise.all(asides);
    },
  };
}

/** Tries again while the failure may pass: sending the same thing twice is harmless. */
async function persist(work: Work, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      await work();
      return;
    } catch (error) {
      if (!passes(error)) throw error;
      const ms = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)];
      await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
