import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, SurfaceTable } from "../../../journal/postgres/surface-table.ts";
import type { SurfaceStore } from "../../../protocol/host/surface-store.ts";
import { createEntries } from "./memory-entries.ts";

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/** The memory of a surface that this gateway holds: read here, written through in order. */
export type HeldMemory = {
  store: SurfaceStore;
  /**
   * Resolves once everything so far is on the server and the hold is this gateway's for sure; rejects when it is not. Nothing that rests on
   * the memory may leave the process before: whoever takes over must know of it.
   */
  kept(): Promise<void>;
  /** Writes what is left, as far as that is possible. */
  close(): Promise<void>;
};

export type HeldParts = {
  entries: readonly Entry[];
  write(changes: Parameters<SurfaceTable["write"]>[2]): Promise<boolean>;
  /** Resolves once nobody else can have the hold at this moment; rejects when somebody has it. */
  sure(): Promise<void>;
  /** The hold is over: nothing is written any more. */
  lose(): void;
  /** Aborted when the hold is over. */
  lost: AbortSignal;
  failed(error: unknown): void;
  now?(): number;
};

export function holdMemory({ entries, write, sure, lose, lost, failed, now = Date.now }: HeldParts): HeldMemory {
  let made = 0;
  let written = 0;
  let waiting: { upTo: number; resolve(): void }[] = [];
  let writing: Promise<void> | undefined;
  const memory = createEntries(entries, {
    now,
    changed() {
      made++;
      // Changes of one moment go together.
      writing ??= Promise.resolve()
        .then(writeAll)
        .finally(() => (writing = undefined));
    },
  });

  const tell = () => {
    const all = waiting;
    waiting = all.filter(({ upTo }) => upTo > written && !lost.aborted);
    for (const one of all) if (!waiting.includes(one)) one.resolve();
  };
  lost.addEventListener("abort", tell, { once: true });

  async function writeAll(): Promise<void> {
    while (written < made && !lost.aborted) {
      const upTo = made;
      const changes = memory.changes();
      for (let tries = 0; !lost.aborted; tries++) {
        try {
          if (!(await write(changes))) lose();
          break;
        } catch (error) {
          failed(error);
          await sleep(Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS), undefined, { signal: lost }).catch(() => {});
        }
      }
      if (lost.aborted) return;
      written = upTo;
      tell();
    }
  }

  const settled = async (): Promise<void> => {
    const upTo = made;
    if (written < upTo && !lost.aborted) await new Promise<void>((resolve) => waiting.push({ upTo, resolve }));
    lost.throwIfAborted();
  };
  return {
    store: memory.store,
    async kept() {
      await settled();
      await sure();
    },
    close: async () =>
      void (await Promise.race([settled().catch(() => {}), sleep(MAX_PAUSE_MS * 2, undefined, { ref: false })])),
  };
}
