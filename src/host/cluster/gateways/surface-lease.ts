import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, SurfaceStanding, SurfaceTable } from "../../../journal/postgres/surface-table.ts";
import type { SurfaceStore } from "../../../protocol/host/surface-store.ts";
import { createMemoryEntries } from "./memory-entries.ts";

const RESTART_MS = 1_000;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

/** A surface held by this gateway until the signal aborts: another gateway has taken it, or this one leaves. */
export type HeldSurface = Pick<LeasedMemory, "store" | "kept"> & { signal: AbortSignal };

export type SurfaceLeaseWatch = {
  taken(hold: HeldSurface): Promise<void>;
  /** Another gateway holds it, or nobody does any more. */
  elsewhere(holder: string | undefined): void;
  /** `taken` rejected while the hold was this gateway's. It is tried again. */
  failed(error: unknown): void;
};

type SurfaceLeaseParts = {
  name: string;
  watch: SurfaceLeaseWatch;
  table: SurfaceTable;
  process: string;
  /** Resolves once nobody else can have taken what is held here; rejects when the hold is lost. */
  sure(lost: AbortSignal): Promise<void>;
  /** Aborted when this gateway leaves: nothing more is taken up. */
  leaving: AbortSignal;
  /** A write to the memory failed. It is tried again. */
  writeFailed(error: unknown): void;
  /** The surface was given up. */
  ended(): void;
};

/** A gateway's hold on a surface, acquired whenever it is free. */
export type SurfaceLease = {
  /** Gives up the hold if another gateway took it while this process was frozen or cut off from the server. */
  judge(standing: SurfaceStanding): void;
  /** Takes the surface up where it is free and not held yet; the work on it continues after this resolves. */
  take(standing: SurfaceStanding, byLock: boolean): Promise<void>;
  /** Settles when the hold of this moment is given up. */
  readonly done: Promise<void> | undefined;
};

export function createSurfaceLease({
  name,
  watch,
  table,
  process,
  sure,
  leaving,
  writeFailed,
  ended,
}: SurfaceLeaseParts): SurfaceLease {
  let held: { number: number; lost: AbortController; done: Promise<void> } | undefined;
  /** The holder last passed to `elsewhere`. */
  let reportedHolder: string | undefined;

  const work = async (number: number, lost: AbortController): Promise<void> => {
    const lose = () => lost.abort(new Error("another gateway took it"));
    try {
      const { entries } = await table.read(name);
      const memory = createLeasedMemory({
        entries,
        lose,
        lost: lost.signal,
        failed: writeFailed,
        write: (changes) => table.write(name, number, changes),
        sure: () => sure(lost.signal),
      });
      const { store, kept } = memory;
      await watch.taken({ store, kept, signal: AbortSignal.any([lost.signal, leaving]) });
      await memory.close();
    } catch (error) {
      if (!lost.signal.aborted && !leaving.aborted) watch.failed(error);
      await sleep(RESTART_MS, undefined, { signal: leaving }).catch(() => {}); // it would fail again at once
    } finally {
      lose();
      held = undefined;
      await table.leave(name, number).catch(() => {}); // its time runs out, then
      ended();
    }
  };
  return {
    judge({ holder, number }) {
      if (held && (holder !== process || number !== held.number)) held.lost.abort(new Error("another gateway took it"));
    },
    async take({ holder, free }, byLock) {
      if (held) return;
      const number = free || holder === process ? await table.hold(name, process, byLock) : undefined;
      if (leaving.aborted) return; // it is given up in a moment
      if (number === undefined) {
        if (reportedHolder !== holder) watch.elsewhere((reportedHolder = holder));
        return;
      }
      reportedHolder = undefined;
      const lost = new AbortController();
      held = { number, lost, done: work(number, lost) };
    },
    get done() {
      return held?.done;
    },
  };
}

/** The memory of a surface that this gateway holds: read here, written through in order. */
type LeasedMemory = {
  store: SurfaceStore;
  /** Resolves once all is on the server and the hold is ours. Nothing that depends on it may leave earlier: a successor must know. */
  kept(): Promise<void>;
  /** Writes what is left, as far as that is possible. */
  close(): Promise<void>;
};

type LeasedMemoryParts = {
  entries: readonly Entry[];
  write(changes: Parameters<SurfaceTable["write"]>[2]): Promise<boolean>;
  /** Resolves once it is certain that nobody else has the hold; rejects if somebody does. */
  sure(): Promise<void>;
  lose(): void;
  lost: AbortSignal;
  failed(error: unknown): void;
  now?(): number;
};

function createLeasedMemory({
  entries,
  write,
  sure,
  lose,
  lost,
  failed,
  now = Date.now,
}: LeasedMemoryParts): LeasedMemory {
  let latest = 0;
  let written = 0;
  let waiting: { upTo: number; resolve(): void }[] = [];
  let writing: Promise<void> | undefined;
  const memory = createMemoryEntries(entries, {
    now,
    changed() {
      latest++;
      // Changes of one moment go together.
      writing ??= Promise.resolve()
        .then(writeAll)
        .finally(() => (writing = undefined));
    },
  });

  const settleWaiting = () => {
    const all = waiting;
    waiting = all.filter(({ upTo }) => upTo > written && !lost.aborted);
    for (const waiter of all) if (!waiting.includes(waiter)) waiter.resolve();
  };
  lost.addEventListener("abort", settleWaiting, { once: true });

  async function writeAll(): Promise<void> {
    while (written < latest && !lost.aborted) {
      const upTo = latest;
      const changes = memory.changes();
      for (let tries = 0; !lost.aborted; tries++) {
        try {
          if (!(await write(changes))) lose();
          break;
        } catch (error) {
          failed(error);
          await sleep(Math.min(MIN_RETRY_MS * 2 ** tries, MAX_RETRY_MS), undefined, { signal: lost }).catch(() => {});
        }
      }
      if (lost.aborted) return;
      written = upTo;
      settleWaiting();
    }
  }

  const settled = async (): Promise<void> => {
    const upTo = latest;
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
      void (await Promise.race([settled().catch(() => {}), sleep(MAX_RETRY_MS * 2, undefined, { ref: false })])),
  };
}
