import { resolve } from "node:path";
import type { Fact } from "../protocol/index.ts";
import { createChildren } from "./children.ts";
import { openDatabase, type Database, type DatabaseOptions } from "./database.ts";
import { createFacts } from "./facts.ts";
import { createHousekeeping, REMOVED } from "./housekeeping.ts";
import { createIndexes, UNHEARD } from "./indexes.ts";
import { createLease, type Lease } from "./lease.ts";
import { createPoller, newestSeq } from "./poller.ts";
import { createMembers, type SessionRow, type LocalStore } from "./store.ts";

/** The journal of one machine: one database, any number of processes. */
export function sqliteStore(path: string, options: DatabaseOptions = {}): LocalStore {
  const database = openDatabase(path, options);
  const { all } = database;
  const { hub, stop } = createPoller(database);
  const indexes = createIndexes(database);
  const children = createChildren(database);
  const index = (fact: Fact) => {
    indexes.index(fact);
    children.index(fact);
  };
  const { insert, advance, row, ...facts } = createFacts({ ...database, path, index, mend: indexes.mend, hub });
  const lease = createLease({ ...database, row, lost: hub.lost });
  const over = new AbortController();
  const members = createMembers();
  let closed = false;
  const store: LocalStore = {
    ...facts,
    hub,
    member: (make) => members(store, make),
    place: { journal: resolve(path), process: lease.process, over: over.signal },
    claim: lease.claim,
    release: lease.release,
    owner: lease.owner,
    session: (id) => summaries(all, lease, "WHERE id=?", id)[0],
    sessions: () => summaries(all, lease, "WHERE id<>? ORDER BY last_at DESC", REMOVED),
    noteChild: children.note,
    children: children.living,
    callOf: children.callOf,
    leftCalls: indexes.leftCalls,
    lookAtIndexes: indexes.look,
    rebuildIndexes: indexes.rebuild,
    housekeeping: createHousekeeping({
      ...database,
      newestSeq: () => newestSeq(all),
      insert,
      index,
      advance,
      row,
      living: lease.living,
    }),
    close() {
      if (closed) return;
      closed = true;
      over.abort();
      stop();
      lease.close();
      database.close();
    },
  };
  return store;
}

function summaries(all: Database["all"], lease: Lease, which: string, ...values: string[]): SessionRow[] {
  const owned = lease.owned();
  const columns =
    "id, cwd, title, at, last_at lastAt, open, process, (SELECT count(*) FROM ask WHERE session=id) pending";
  type Found = Omit<SessionRow, "open" | "unheard" | "owned"> & { open: number; process: string | null };
  return all<Found>(`SELECT ${columns} FROM session ${which}`, ...values).map(({ process, open, ...found }) => ({
    ...found,
    open: open === 1,
    unheard: open === UNHEARD,
    owned: owned(found.id, process),
  }));
}
