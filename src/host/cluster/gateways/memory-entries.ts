import type { Change, Entry } from "../../../journal/postgres/surface-table.ts";
import type { SurfaceStore } from "../../../protocol/host/surface-store.ts";

const SWEEP_MS = 60_000;

type Kept = { value: string; until: number };

/** A surface's memory in this process, and what has changed in it. */
type MemoryEntries = {
  store: SurfaceStore;
  /** Takes the changes since the last time, one for each key: the last one counts. */
  changes(): Change[];
  replace(entries: readonly Entry[]): void;
  all(): Entry[];
};

export function createMemoryEntries(
  entries: readonly Entry[],
  { now = Date.now, changed = () => {} }: { now?(): number; changed?(): void } = {},
): MemoryEntries {
  const kept = new Map<string, Kept>();
  let keys: string[] = [];
  let made = new Map<string, Kept | undefined>();
  /** Entries as they were before the transaction that runs. */
  let before: Map<string, Kept | undefined> | undefined;

  const put = (key: string, entry: Kept | undefined): void => {
    const had = kept.get(key);
    if (before && !before.has(key)) before.set(key, had);
    if (entry) kept.set(key, entry);
    else kept.delete(key);
    if (entry && !had) keys.splice(searchSorted(keys, key), 0, key);
    if (!entry && had) keys.splice(searchSorted(keys, key), 1);
  };
  const living = (key: string): Kept | undefined => {
    const found = kept.get(key);
    return found && found.until > now() ? found : undefined;
  };
  let sweptAt = now();
  /** Expired entries are never read; now and then they are forgotten here, as the database does by itself. */
  const sweep = (): void => {
    if (before || now() - sweptAt < SWEEP_MS) return;
    sweptAt = now();
    for (const [key, { until }] of kept) if (until <= sweptAt) kept.delete(key);
    keys = keys.filter((key) => kept.has(key));
  };
  const write = (key: string, entry: Kept | undefined): void => {
    sweep();
    put(key, entry);
    made.set(key, entry);
    if (!before) changed();
  };
  const replace: MemoryEntries["replace"] = (all) => {
    kept.clear();
    const at = now();
    for (const { key, value, leftMs } of all) kept.set(key, { value, until: at + leftMs });
    keys = [...kept.keys()].toSorted();
  };
  replace(entries);

  const store: SurfaceStore = {
    get(key) {
      const found = living(key);
      return found && (JSON.parse(found.value) as unknown);
    },
    set: (key, value, { ttlMs = Infinity } = {}) => write(key, { value: JSON.stringify(value), until: now() + ttlMs }),
    delete(key) {
      const had = living(key) !== undefined;
      if (kept.has(key)) write(key, undefined);
      return had;
    },
    list(prefix) {
      const found: { key: string; value: unknown }[] = [];
      for (let n = searchSorted(keys, prefix); n < keys.length; n++) {
        const key = keys[n] ?? "";
        if (!key.startsWith(prefix)) break;
        const entry = living(key);
        if (entry) found.push({ key, value: JSON.parse(entry.value) as unknown });
      }
      return found;
    },
    claim(key, ttlMs) {
      if (living(key)) return false;
      write(key, { value: "true", until: now() + ttlMs });
      return true;
    },
    atomically(work) {
      if (before) return work();
      const earlier = new Map(made);
      before = new Map();
      try {
        const done = work();
        before = undefined;
        if (made.size > 0) changed();
        return done;
      } catch (error) {
        const undo = before ?? [];
        before = undefined;
        for (const [key, entry] of undo) put(key, entry);
        made = earlier;
        throw error;
      }
    },
  };
  return {
    store,
    changes() {
      const taken = [...made].map(([key, entry]) => ({ key, value: entry?.value, ttlMs: (entry?.until ?? 0) - now() }));
      made = new Map();
      return taken;
    },
    replace,
    all: () => [...kept].map(([key, { value, until }]) => ({ key, value, leftMs: until - now() })),
  };
}

function searchSorted(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
