import { randomUUID } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { reason, SageError, messageOf } from "../../protocol/reasons/reason.ts";
import { openRequests } from "./indexes.ts";
import { type Identity, lifeOf } from "../../processes/identity.ts";

const APPLICATION = 0x53414745; // "SAGE"
/** 1: version 0.1.0. 2: long facts have their own table, and processes record their pid namespace. */
const FORMAT = 2;
/** A starting process can afford to wait; a running one blocks all its sessions while it does. */
const BUSY_AT_START_MS = 15_000;
const BUSY_MS = 2_000;

const askTable =
  "CREATE TABLE ask(seq INTEGER NOT NULL, session TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY(session, key)) WITHOUT ROWID";
const longTable =
  "CREATE TABLE long(session TEXT NOT NULL, key TEXT NOT NULL, data TEXT NOT NULL, UNIQUE(session, key))";

// `ask` and the columns title/open of `session` are indexes over the facts: they can be rebuilt.
const schema = `
CREATE TABLE fact(seq INTEGER PRIMARY KEY, session TEXT NOT NULL, key TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL,
  data TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE(session, key));
${longTable};
CREATE TABLE session(id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL, at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  open INTEGER NOT NULL, head TEXT NOT NULL, epoch INTEGER NOT NULL, process TEXT);
${askTable};
CREATE TABLE process(id TEXT PRIMARY KEY, pid INTEGER NOT NULL, started TEXT NOT NULL, beat INTEGER NOT NULL, namespace TEXT);
CREATE TABLE child(session TEXT NOT NULL, key TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL);
CREATE INDEX child_session ON child(session, key);
PRAGMA application_id=${APPLICATION};
PRAGMA user_version=${FORMAT};`;

/** An open journal. `close` also removes the copy that a journal on a read-only disk is read from. */
export type Opened = { db: DatabaseSync; readOnly: boolean; close(): void };

/** Opens a journal, or makes one where there is none. Nothing is repaired or reset: a journal in doubt is refused. */
export function openForWriting(path: string): Opened {
  makeFolder(dirname(path), path);
  if (!existsSync(path)) create(path);
  else if (statSync(path).isDirectory()) throw new SageError("journal-damaged", reason("journal-is-folder", { path }));
  else if (statSync(path).size === 0 && !existsSync(`${path}-wal`))
    throw new SageError("journal-damaged", reason("journal-empty", { path }));
  return checked(path, new DatabaseSync(path, { timeout: BUSY_AT_START_MS }), { readOnly: false });
}

/** Folder by folder: Node's own recursive `mkdir` never returns below /proc, where the kernel says of a folder that its parent is missing. */
function makeFolder(folder: string, journal: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder), journal);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!existsSync(folder))
      throw new SageError("config-invalid", reason("journal-unwritable", { path: journal }), { cause: error });
  }
}

/** Opens for reading, also where the journal, or the disk it lies on, may not be written. */
export function openForReading(path: string): Opened {
  try {
    return openForWriting(path);
  } catch (error) {
    if (!existsSync(path) || !(isUnopenable(error) || isInUse(error))) throw error;
  }
  // SQLite cannot read a journal with a write-ahead log in a read-only place: read a copy instead.
  const folder = mkdtempSync(join(tmpdir(), "sage-journal-"));
  const copy = join(folder, "journal.db");
  try {
    copyFileSync(path, copy);
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
    const { db } = checked(copy, new DatabaseSync(copy, { timeout: BUSY_AT_START_MS }), { readOnly: true });
    const close = () => {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    };
    return { db, readOnly: true, close };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Opens a copy of a journal under the name of its original, which every refusal tells. */
export function openDraft(draft: string, path: string): Opened {
  return checked(path, new DatabaseSync(draft), { readOnly: false });
}

function checked(path: string, db: DatabaseSync, { readOnly }: { readOnly: boolean }): Opened {
  try {
    db.exec("PRAGMA synchronous=FULL");
    const format = pragma(db, "user_version");
    if (format === 0 && tables(db) === 0) throw new SageError("journal-damaged", reason("journal-empty", { path }));
    if (format === 0 || pragma(db, "application_id") !== APPLICATION)
      throw new SageError("journal-damaged", reason("journal-foreign", { path }));
    if (format > FORMAT)
      throw new SageError("journal-damaged", reason("journal-newer", { path, format, knows: FORMAT }));
    if (format < FORMAT) migrate(path, db, { ofCopy: readOnly });
    if (!hasTable(db, "ask"))
      inTransaction(db, () => hasTable(db, "ask") || db.exec(`${askTable}; INSERT INTO ask ${openRequests}`));
    db.exec(`PRAGMA busy_timeout=${BUSY_MS}`);
    return { db, readOnly, close: () => db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Made under another name and linked: no kill leaves an empty journal, and a concurrent second one finds the first's. */
function create(path: string): void {
  if (existsSync(`${path}-wal`)) throw new SageError("journal-damaged", reason("journal-missing", { path }));
  const made = `${path}.${randomUUID()}.new`;
  try {
    closeSync(openSync(made, "ax", 0o600)); // SQLite would create it readable by others
    const db = new DatabaseSync(made);
    try {
      db.exec(`PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; BEGIN; ${schema}; COMMIT`);
    } finally {
      db.close();
    }
    place(made, path);
  } finally {
    for (const file of [made, `${made}-wal`, `${made}-shm`]) rmSync(file, { force: true });
  }
}

function place(made: string, path: string): void {
  try {
    linkSync(made, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return; // somebody else was faster
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "EMLINK") throw error;
    if (!existsSync(path)) renameSync(made, path); // a file system without links
  }
}

/** From the format of version 0.1.0. Refused while a process of that version may still write: it would misread this one's facts. */
function migrate(path: string, db: DatabaseSync, { ofCopy }: { ofCopy: boolean }): void {
  inTransaction(db, () => {
    if (pragma(db, "user_version") >= FORMAT) return; // another process was faster
    const processes = ofCopy ? [] : (db.prepare("SELECT pid, started FROM process").all() as Identity[]);
    for (const { pid, started } of processes)
      if (pid !== process.pid && lifeOf({ pid, started }) === "alive")
        throw new SageError("journal-locked", reason("journal-in-use", { path, pid }));
    db.exec(`ALTER TABLE process ADD COLUMN namespace TEXT; ${longTable}; PRAGMA user_version=${FORMAT}`);
  });
}

function isInUse(error: unknown): boolean {
  return error instanceof SageError && error.reason?.code === "journal-in-use";
}

function inTransaction(db: DatabaseSync, work: () => unknown): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    work();
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE name=?").get(name) !== undefined;
}

function tables(db: DatabaseSync): number {
  return (db.prepare("SELECT count(*) n FROM sqlite_master").get() as { n: number }).n;
}

function pragma(db: DatabaseSync, name: string): number {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] ?? 0;
}

/** The error to throw for one that work on a database met: SQLite's own become ones that say what to do next. */
export function explained(path: string, error: unknown): unknown {
  if (error instanceof SageError) return error;
  const problem = messageOf(error);
  const because = { cause: error };
  switch (primaryCode(error)) {
    case 5:
    case 6:
      return new SageError("journal-locked", reason("journal-busy", { path }), { retryable: true, ...because });
    case 8:
    case 14:
      return new SageError("config-invalid", reason("journal-unwritable", { path }), because);
    case 10:
    case 13:
      return new SageError("disk-full", reason("disk-full", { path, problem }), { retryable: true, ...because });
    case 11:
    case 26:
      return new SageError("journal-damaged", reason("journal-damaged", { path, problem }), because);
    default:
      return error;
  }
}

/** The file, or the folder it lies in, may not be written. */
function isUnopenable(error: unknown): boolean {
  const code = primaryCode(error instanceof SageError ? error.cause : error);
  return code === 8 || code === 14;
}

function primaryCode(error: unknown): number {
  const { errcode, syscall, code: name } = (error ?? {}) as { errcode?: number; syscall?: string; code?: string };
  if (syscall === undefined) return (errcode ?? 0) & 0xff;
  return name === "ENOSPC" ? 13 : 14; // the file system's own refusals, while the folder or the file is made
}
