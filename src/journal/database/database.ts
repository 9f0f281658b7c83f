import { statSync } from "node:fs";
import type { SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { explained, openForReading, openForWriting } from "./open-database.ts";

export type Database = {
  prepared(sql: string): StatementSync;
  all<T>(sql: string, ...values: SQLInputValue[]): T[];
  /** The same as arrays, in the order of the columns: node:sqlite's objects take three times as long to make and to read. */
  cells(sql: string, ...values: SQLInputValue[]): SQLOutputValue[][];
  write<T>(work: () => T): T;
  /** The same without waiting for the disk, for rows that mean nothing after a power failure: leases, heartbeats, children. */
  writeUnsynced<T>(work: () => T): T;
  /** As `writeUnsynced`; false where it failed. A full disk stops no process, and after a lost heartbeat the next commit is refused. */
  writeIfPossible(work: () => unknown): boolean;
  /** Why nothing can be recorded any more, if the file was removed or another one is in its place. */
  gone(): SageError | undefined;
  close(): void;
};

/** Options of `sqliteStore`. */
export type DatabaseOptions = {
  /** Called around every commit, inside of its transaction: a throw before it undoes it. */
  onCommit?(side: "before" | "after"): void;
  /** Read-only: also opens a journal that may not be written. */
  looks?: boolean;
};

export function openDatabase(path: string, { onCommit = () => {}, looks = false }: DatabaseOptions): Database {
  const { db, readOnly, close } = opened(path, looks);
  const identity = readOnly ? undefined : identityOf(path);
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string) => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
  // SQLite keeps writing to a file that nobody can open any more.
  const gone = () =>
    identityOf(path) === identity ? undefined : new SageError("journal-damaged", reason("journal-gone", { path }));
  const write = <T>(work: () => T): T => {
    let begun = false;
    try {
      if (readOnly) throw new SageError("config-invalid", reason("journal-unwritable", { path }));
      const problem = gone();
      if (problem) throw problem;
      prepared("BEGIN IMMEDIATE").run();
      begun = true;
      const value = work();
      onCommit("before");
      prepared("COMMIT").run();
      onCommit("after");
      return value;
    } catch (error) {
      if (begun && db.isTransaction) prepared("ROLLBACK").run();
      throw explained(path, error);
    }
  };
  const found = <T>(look: () => T): T => {
    try {
      return look();
    } catch (error) {
      throw explained(path, error);
    }
  };
  const writeUnsynced = <T>(work: () => T): T => {
    db.exec("PRAGMA synchronous=NORMAL");
    try {
      return write(work);
    } finally {
      db.exec("PRAGMA synchronous=FULL");
    }
  };
  return {
    prepared,
    all: <T>(sql: string, ...values: SQLInputValue[]) => found(() => prepared(sql).all(...values) as T[]),
    cells: (sql, ...values) =>
      found(() => {
        const statement = prepared(sql);
        statement.setReturnArrays(true);
        return statement.all(...values) as unknown as SQLOutputValue[][];
      }),
    write,
    writeUnsynced,
    writeIfPossible(work) {
      try {
        writeUnsynced(work);
        return true;
      } catch {
        return false;
      }
    },
    gone: () => (readOnly ? undefined : gone()),
    close,
  };
}

function opened(path: string, looks: boolean): ReturnType<typeof openForWriting> {
  try {
    return looks ? openForReading(path) : openForWriting(path);
  } catch (error) {
    throw explained(path, error);
  }
}

/** Tells one file from another in its place; undefined when there is none. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
