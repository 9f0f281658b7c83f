import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { SageError, messageOf } from "../protocol/index.ts";
import { openRequests } from "./indexes.ts";

const APPLICATION = 0x53414745; // "SAGE"
const VERSION = 1;

const askTable =
  "CREATE TABLE ask(seq INTEGER NOT NULL, session TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY(session, key)) WITHOUT ROWID";

// `ask` and the columns title/open of `session` are indexes over the facts: they can be rebuilt.
const schema = `
CREATE TABLE fact(seq INTEGER PRIMARY KEY, session TEXT NOT NULL, key TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL,
  data TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE(session, key));
CREATE TABLE session(id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL, at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  open INTEGER NOT NULL, head TEXT NOT NULL, epoch INTEGER NOT NULL, process TEXT);
${askTable};
CREATE TABLE process(id TEXT PRIMARY KEY, pid INTEGER NOT NULL, started TEXT NOT NULL, beat INTEGER NOT NULL);
CREATE TABLE child(session TEXT NOT NULL, key TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL);
CREATE INDEX child_session ON child(session, key);
PRAGMA application_id=${APPLICATION};
PRAGMA user_version=${VERSION};`;

export type Database = {
  /** A prepared statement, by its text. */
  q(sql: string): StatementSync;
  /** Rows that a query finds. */
  all<T>(sql: string, ...values: SQLInputValue[]): T[];
  /** One immediate transaction. */
  write<T>(fn: () => T): T;
  /** The same without waiting for the disk, for rows that mean nothing after a power failure: leases, heartbeats, children. */
  writeUnsynced<T>(fn: () => T): T;
  /**
   * As `writeUnsynced`; false where it could not be written. A full disk must not stop a process that leaves or works on, and a
   * lost heartbeat loses nothing while nobody takes over: then the next commit is refused.
   */
  writeIfPossible(fn: () => unknown): boolean;
  close(): void;
};

export function openDatabase(path: string, onCommit: (side: "before" | "after") => void): Database {
  const db = explained(path, () => open(path));
  const prepared = new Map<string, StatementSync>();
  const q = (sql: string) => {
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
  const write = <T>(fn: () => T): T =>
    explained(path, () => {
      q("BEGIN IMMEDIATE").run();
      try {
        const value = fn();
        onCommit("before");
        q("COMMIT").run();
        onCommit("after");
        return value;
      } catch (error) {
        if (db.isTransaction) q("ROLLBACK").run();
        throw error;
      }
    });
  const writeUnsynced = <T>(fn: () => T): T => {
    db.exec("PRAGMA synchronous=NORMAL");
    try {
      return write(fn);
    } finally {
      db.exec("PRAGMA synchronous=FULL");
    }
  };
  return {
    q,
    all: <T>(sql: string, ...values: SQLInputValue[]) => explained(path, () => q(sql).all(...values) as T[]),
    write,
    writeUnsynced,
    writeIfPossible(fn) {
      try {
        writeUnsynced(fn);
        return true;
      } catch {
        return false;
      }
    },
    close: () => db.close(),
  };
}

function open(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (existsSync(path)) {
    if (statSync(path).isDirectory())
      throw new SageError("journal-damaged", `the journal should be a file, and ${path} is a directory; move it away`);
  } else closeSync(openSync(path, "a", 0o600)); // SQLite would create it readable by others
  const db = new DatabaseSync(path, { timeout: 2_000 });
  try {
    db.exec("PRAGMA synchronous=FULL");
    const version = pragma(db, "user_version");
    if (version === 0) create(db, path);
    else if (pragma(db, "application_id") !== APPLICATION) throw foreign(path);
    else if (version > VERSION)
      throw new SageError(
        "journal-damaged",
        `${path} was written by a newer Sage (format ${version}, this one knows ${VERSION}); update Sage, or set SAGE_HOME to another directory`,
      );
    if (!hasAsk(db)) listOpenRequests(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function create(db: DatabaseSync, path: string): void {
  if (isForeign(db)) throw foreign(path); // before the switch to WAL, which writes to the file
  // Two processes may find the file empty at once. Switching to WAL does not wait for a lock by itself, so try for a while.
  for (let tries = 0; ; tries++) {
    try {
      db.exec("PRAGMA page_size=4096; PRAGMA journal_mode=WAL; BEGIN EXCLUSIVE");
      break;
    } catch (error) {
      if (tries === 100 || (code(error) & 0xff) !== 5) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
  try {
    if (isForeign(db)) throw foreign(path);
    if (pragma(db, "user_version") === 0) db.exec(schema);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

const hasAsk = (db: DatabaseSync) => db.prepare("SELECT 1 FROM sqlite_master WHERE name='ask'").get() !== undefined;

/** Makes the list of open requests again from the facts: somebody has removed it. */
function listOpenRequests(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    if (!hasAsk(db)) db.exec(`${askTable}; INSERT INTO ask ${openRequests}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function pragma(db: DatabaseSync, name: string): number {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] ?? 0;
}

/** Tables first, version second: another Sage may be creating both in between, in one transaction. */
function isForeign(db: DatabaseSync): boolean {
  const { n } = db.prepare("SELECT count(*) n FROM sqlite_master").get() as { n: number };
  return n > 0 && pragma(db, "user_version") === 0;
}

function foreign(path: string): SageError {
  return new SageError(
    "journal-damaged",
    `${path} is a database of another program; move it away, or set SAGE_HOME to another directory`,
  );
}

/** SQLite's errors in words that say what to do next. Nothing is ever repaired or reset silently. */
function explained<T>(path: string, fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    if (error instanceof SageError) throw error;
    const because = { cause: error };
    switch (code(error) & 0xff) {
      case 5:
      case 6:
        throw new SageError("journal-locked", `not recorded: another process keeps ${path} busy; try again`, {
          retryable: true,
          ...because,
        });
      case 8:
      case 14:
        throw new SageError(
          "config-invalid",
          `${path} cannot be opened for writing; check its permissions, or set SAGE_HOME to another directory`,
          because,
        );
      case 10:
      case 13:
        throw new SageError(
          "disk-full",
          `not recorded: writing to ${path} failed (${messageOf(error)}); free some space and go on`,
          { retryable: true, ...because },
        );
      case 11:
      case 26:
        throw new SageError(
          "journal-damaged",
          `${path} is damaged or not a journal (${messageOf(error)}); keep a copy, and set SAGE_HOME to another directory to go on`,
          because,
        );
      default:
        throw error;
    }
  }
}

function code(error: unknown): number {
  const { errcode, syscall, code: name } = error as { errcode?: number; syscall?: string; code?: string };
  if (syscall === undefined) return errcode ?? 0;
  return name === "ENOSPC" ? 13 : 14; // the file system's own refusals, while the folder or the file is made
}
