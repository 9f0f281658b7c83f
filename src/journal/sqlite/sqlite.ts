import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Fact } from "../../protocol/facts/fact.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../database/database.ts";
import { createFacts } from "./facts.ts";
import { REMOVED, createHousekeeping } from "../store/housekeeping.ts";
import { UNHEARD, createIndexes } from "../database/indexes.ts";
import { type Lease, createLease, createPoller, newestSeq } from "./lease.ts";
import { type Beat, type LocalStore, type SessionRow, createMembers } from "../store/store.ts";
import { MIN_GAP_MS } from "../../protocol/facts/moved.ts";
import { guestProcessKey, requestId, withoutEnd } from "../../protocol/key.ts";
import { groupLife, spawnerOf, type Identity, type Life } from "../../processes/identity.ts";
import { listProcesses, noteProcess } from "../../processes/registry.ts";

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
  const children = createChildren(dirname(resolve(path)), all);
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
    ...createBeats(database, lease.process),
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
    gone: database.gone,
    journalId: () => idOf(database),
    noteChild: children.note,
    children: children.living,
    runsElsewhere: children.elsewhere,
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

/** Heartbeats of processes that enforce deadlines: a row of each, and the newest one of those that do no more. */
function createBeats(
  { all, prepared, writeUnsynced }: Database,
  process: string,
): Required<Pick<LocalStore, "beat" | "lastBeat">> {
  const table = "CREATE TABLE IF NOT EXISTS enforcer(process TEXT PRIMARY KEY, at INTEGER, boot TEXT, uptime INTEGER)";
  const isThere = () => all("SELECT 1 FROM sqlite_master WHERE type='table' AND name='enforcer'").length > 0;
  return {
    lastBeat: () =>
      isThere() ? all<Beat>("SELECT at, boot, uptime FROM enforcer ORDER BY rowid DESC LIMIT 1")[0] : undefined,
    beat: ({ at, boot, uptime }) =>
      writeUnsynced(() => {
        if (!isThere()) prepared(table).run();
        prepared("INSERT OR REPLACE INTO enforcer VALUES(?,?,?,?)").run(process, at, boot, uptime);
        // A replaced row is the newest. Only the newest tells anything of processes that are gone.
        prepared("DELETE FROM enforcer WHERE boot<>? OR uptime<?").run(boot, uptime - MIN_GAP_MS);
      }),
  };
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

type Children = {
  note(session: string, key: string, pid: number): void;
  /** Process groups noted under a key that still live. */
  living(session: string, key: string): number[];
  /** Is one noted into whose container or machine this process cannot look? */
  elsewhere(session: string, key: string): boolean;
  /** The call whose process group still lives and is led by one of these. */
  callOf(processes: readonly number[]): { session: string; key: string } | undefined;
  /** A call that finished has no children to look for, unless its command runs on in the background. */
  index(fact: Fact): void;
};

type Child = Partial<Record<"session" | "key", string>> & Identity & { life: Life };

/** Process groups of running commands, in the list of processes beside the journal. Should this process be killed, recovery looks for them there. */
function createChildren(folder: string, all: Database["all"]): Children {
  /** How to take those off the list that this process has noted. */
  const noted = new Map<string, (() => void)[]>();
  /** Version 0.2.0 noted them in the journal itself. */
  const older = () =>
    all<Identity & { session: string; key: string }>("SELECT * FROM child").map((row) => ({
      ...row,
      life: groupLife(row),
    }));
  const list = (): Child[] => [...listProcesses(folder, "command"), ...listProcesses(folder, "guest"), ...older()];
  const under = (session: string, key: string, life: Life) =>
    list().filter((child) => child.session === session && child.key === key && child.life === life);
  return {
    note(session, key, pid) {
      const kind = key === guestProcessKey ? "guest" : "command";
      const forget = noteProcess(folder, kind, pid, { session, key });
      const id = requestId(session, key);
      noted.set(id, [...(noted.get(id) ?? []), forget]);
    },
    living: (session, key) => under(session, key, "alive").map(({ pid }) => pid),
    elsewhere: (session, key) => under(session, key, "unknown").length > 0,
    callOf(processes) {
      const isIn = (pid: number) => processes.includes(pid) || processes.includes(spawnerOf(pid) ?? 0);
      const { session, key } = list().find(({ pid, life }) => life === "alive" && isIn(pid)) ?? {};
      return session === undefined || key === undefined ? undefined : { session, key };
    },
    index(fact) {
      if (fact.type !== "call.finished") return;
      const id = requestId(fact.session, withoutEnd(fact.key));
      if (!fact.data.background) for (const forget of noted.get(id) ?? []) forget();
      noted.delete(id);
    },
  };
}
