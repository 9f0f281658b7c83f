import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";
import { MAX_STATE_BYTES, readSmallFile } from "./small-file.ts";

const TIMEOUT_MS = 5_000;

/** The lock of the files in one folder. Files in a project are locked in Sage's home: a lock has no place in a repository. */
export function lockIn(folder: string): string {
  return join(folder, "lock.db");
}

/** Changes a small file under a lock. `change` gets the present text ("" for no file); the same text back writes nothing. */
export function changeFile(path: string, change: (text: string) => string, lock = lockIn(dirname(path))): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  using _held = acquire(lock);
  const before = readSmallFile(path, MAX_STATE_BYTES) ?? "";
  const after = change(before);
  if (after !== before) replace(path, after);
}

/** The write lock of an empty SQLite database: the kernel releases it with its process, so no lock outlives a kill. */
function acquire(lock: string): Disposable {
  mkdirSync(dirname(lock), { recursive: true, mode: 0o700 });
  closeSync(openSync(lock, "a", 0o600)); // SQLite would create it readable by others
  const database = new DatabaseSync(lock, { timeout: TIMEOUT_MS });
  try {
    database.exec("BEGIN IMMEDIATE");
  } catch (error) {
    database.close();
    throw new SageError("journal-locked", reason("file-busy", { path: lock, problem: messageOf(error) }), {
      retryable: true,
      cause: error,
    });
  }
  return { [Symbol.dispose]: () => database.close() };
}

function replace(path: string, text: string): void {
  const beside = `${path}.tmp`; // one name: a leftover of a killed process is overwritten by the next one that holds the lock
  const fd = openSync(beside, "w", 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  try {
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}
