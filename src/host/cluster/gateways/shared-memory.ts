import type { Entry, SurfaceTable } from "../../../journal/postgres/surface-table.ts";
import type { SharedStore } from "../../../protocol/host/surface-store.ts";
import { createMemoryEntries } from "./memory-entries.ts";

/** Without a read for this long the copy counts as stale. Longer than a late poll, shorter than people can wait. */
const STALE_MS = 5_000;

/** Memory of a surface that all gateways write: reads come from the last poll, changes are made on the newest state. */
export type SharedMemory = SharedStore & {
  /** The version that the server had at a moment (of this process's clock); reads what is new. */
  seen(version: number, at: number): Promise<void>;
};

export async function shareMemory(
  table: Pick<SurfaceTable, "read" | "change">,
  name: string,
  { now = Date.now, clock = () => performance.now() }: { now?(): number; clock?(): number } = {},
): Promise<SharedMemory> {
  let version = -1;
  let lookedAt = -Infinity;
  const memory = createMemoryEntries([], { now });
  let reading: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const take = (read: { version: number; entries: Entry[] }, at: number) => {
    if (at > lookedAt) lookedAt = at;
    if (read.version < version) return; // an earlier look came back late
    ({ version } = read);
    memory.replace(read.entries);
  };
  /** Reads run one at a time and callers share the next one: strangers with wrong keys could cause very many. */
  const refresh = (): Promise<void> =>
    (next ??= reading
      .catch(() => {})
      .then(() => {
        next = undefined;
        return (reading = read());
      }));
  const read = async (): Promise<void> => {
    const at = clock();
    take(await table.read(name), at);
  };
  await refresh();
  return {
    get: memory.store.get,
    list: memory.store.list,
    isCurrent: () => clock() - lookedAt < STALE_MS,
    refresh,
    async seen(newest, at) {
      if (newest > version) return refresh();
      if (at > lookedAt) lookedAt = at;
    },
    async change(work) {
      for (;;) {
        const at = clock();
        const read = await table.read(name);
        const own = createMemoryEntries(read.entries, { now });
        const done = own.store.atomically(() => work(own.store));
        const changes = own.changes();
        if (changes.length === 0) {
          take(read, at);
          return done;
        }
        const made = await table.change(name, read.version, changes);
        if (made === undefined) continue; // somebody else was quicker
        take({ version: made, entries: own.all() }, at);
        return done;
      }
    },
  };
}
