import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Fact } from "../../protocol/facts/fact.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { createChildren } from "./children.ts";
import { openDatabase, type Database, type DatabaseOptions } from "../database/database.ts";
import { createFacts } from "./facts.ts";
import { createHousekeeping, REMOVED } from "../store/housekeeping.ts";
import { createIndexes, UNHEARD } from "../database/indexes.ts";
import { createLease, type Lease } from "./lease.ts";
import { createPoller, newestSeq } from "./poller.ts";
import { createMembers, type SessionRow, type LocalStore } from "../store/store.ts";

/** The journal of one machine: one database, any number of processes. */
export function sqliteStore(
  path: string,
  {
    test = false,
    ...options
  }: DatabaseOptions & {
    /** Makes a journal for tests; one that holds sessions of people is refused. */ test?: boolean;
  } = {},
): LocalStore {
  const database = openDatabase(path, options);
  const { all } = database;
  const isTest = isMarked(database) || (test && markTest(database, path));
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
    test: isTest,
    place: { journal: resolve(path), process: lease.process, over: over.signal },
    claim: lease.claim,
    release: lease.release,
    owner: lease.owner,
    session: (id) => summaries(all, lease, "WHERE id=?", id)[0],
    sessions({ limit, after } = { limit: -1 }) {
      const [last] = all<{ at: number }>("SELECT last_at at FROM session WHERE id=?", after ?? "");
      const before = last ? "AND (last_at, id)<(?, ?)" : "";
      const which = `WHERE id<>? ${before} ORDER BY last_at DESC, id DESC LIMIT ?`;
      return summaries(all, lease, which, REMOVED, ...(last && after !== undefined ? [last.at, after] : []), limit);
    },
    journalId: () => idOf(database),
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
      size: () => statSync(path).size,
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

/** Journals of earlier versions get theirs when somebody asks for it. */
function idOf({ all, prepared, write }: Database): string {
  const known = () =>
    all("SELECT 1 FROM sqlite_master WHERE type='table' AND name='identity'").length > 0
      ? all<{ id: string }>("SELECT id FROM identity")[0]?.id
      : undefined;
  return (
    known() ??
    write(() => {
      const made = known() ?? randomUUID(); // another process may have been faster
      prepared("CREATE TABLE IF NOT EXISTS identity(id TEXT PRIMARY KEY)").run();
      prepared("INSERT OR IGNORE INTO identity VALUES(?)").run(made);
      return made;
    })
  );
}

/** The mark of a journal for tests: an empty table, which no other journal has. */
function isMarked({ all }: Database): boolean {
  return all("SELECT 1 FROM sqlite_master WHERE type='table' AND name='test_journal'").length > 0;
}

/** In one transaction with the look for sessions: a journal that people have used never becomes one for tests. */
function markTest(database: Database, path: string): true {
  try {
    database.write(() => {
      if (database.all("SELECT 1 FROM session LIMIT 1").length > 0)
        throw new SageError("config-invalid", reason("journal-not-for-tests", { path }));
      database.prepared("CREATE TABLE IF NOT EXISTS test_journal(made INTEGER)").run();
    });
    return true;
  } catch (error) {
    database.close();
    throw error;
  }
}

function summaries(all: Database["all"], lease: Lease, which: string, ...values: (string | number)[]): SessionRow[] {
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
