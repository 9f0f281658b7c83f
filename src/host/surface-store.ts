import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { SharedStore, SurfaceStore } from "../protocol/host/surface-store.ts";
import { reason, messageOf, SageError } from "../protocol/reasons/reason.ts";

const SWEEP_MS = 60_000;

/** The memory of all surfaces, in a file of its own: losing it costs a repeated question, never an answer. */
type SurfaceStores = {
  of(surface: string): SurfaceStore;
  close(): void;
};

export function openSurfaceStores(path: string, now: () => number = Date.now): SurfaceStores {
  const db = open(path);
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string) => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
  const run = (sql: string, ...values: SQLInputValue[]) => Number(prepared(sql).run(...values).changes);
  let sweptAt = 0;
  /** Expired entries are never read; now and then they are deleted. */
  const sweep = () => {
    if (now() - sweptAt < SWEEP_MS) return;
    sweptAt = now();
    run("DELETE FROM entry WHERE expires <= ?", now());
  };
  const atomically = <T>(work: () => T): T => {
    if (db.isTransaction) return work();
    prepared("BEGIN IMMEDIATE").run();
    try {
      const value = work();
      prepared("COMMIT").run();
      return value;
    } catch (error) {
      if (db.isTransaction) prepared("ROLLBACK").run();
      throw error;
    }
  };
  const of = (surface: string): SurfaceStore => ({
    get(key) {
      const row = prepared("SELECT value FROM entry WHERE surface=? AND key=? AND expires > ?").get(
        surface,
        key,
        now(),
      );
      return row === undefined ? undefined : (JSON.parse(row["value"] as string) as unknown);
    },
    set(key, value, { ttlMs = Infinity } = {}) {
      atomically(() => {
        sweep();
        run(
          "INSERT INTO entry VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET value=excluded.value, expires=excluded.expires",
          surface,
          key,
          JSON.stringify(value),
          now() + ttlMs,
        );
      });
    },
    delete: (key) => run("DELETE FROM entry WHERE surface=? AND key=?", surface, key) > 0,
    list(prefix) {
      const rows = prepared(
        "SELECT key, value FROM entry WHERE surface=? AND key >= ? AND key < ? AND expires > ? ORDER BY key",
      ).all(surface, prefix, `${prefix}\u{10ffff}`, now()) as { key: string; value: string }[];
      return rows.map(({ key, value }) => ({ key, value: JSON.parse(value) as unknown }));
    },
    claim: (key, ttlMs) =>
      atomically(() => {
        sweep();
        run("DELETE FROM entry WHERE surface=? AND key=? AND expires <= ?", surface, key, now());
        return run("INSERT OR IGNORE INTO entry VALUES(?,?,?,?)", surface, key, "true", now() + ttlMs) > 0;
      }),
    atomically,
  });
  return { of, close: () => db.close() };
}

/** A store in a file is everybody's on this machine as it is: what is read is the newest. */
export function shareFile(store: SurfaceStore): SharedStore {
  return {
    get: store.get,
    list: store.list,
    change: async (work) => store.atomically(() => work(store)),
    refresh: async () => {},
    isCurrent: () => true,
  };
}

function open(path: string): DatabaseSync {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600)); // SQLite would create it readable by others
    const db = new DatabaseSync(path, { timeout: 2_000 });
    try {
      db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
        CREATE TABLE IF NOT EXISTS entry(surface TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires REAL NOT NULL,
          PRIMARY KEY(surface, key)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS entry_expires ON entry(expires);`);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw new SageError("config-invalid", reason("file-unusable", { path, problem: messageOf(error) }), {
      cause: error,
    });
  }
}
