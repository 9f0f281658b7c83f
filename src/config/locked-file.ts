import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { SageError } from "../protocol/index.ts";

const STALE_MS = 10_000;
const PATIENCE_MS = 5_000;

/**
 * Changes a small file so that two processes never lose each other's change: lock, read, write beside, rename.
 * `change` sees what is there now ("" for nothing) and gives what should be; the same text back means nothing to do.
 */
export function changeFile(path: string, change: (text: string) => string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const lock = `${path}.lock`;
  acquire(lock);
  try {
    const before = read(path);
    const after = change(before);
    if (after !== before) replace(path, after);
  } finally {
    rmSync(lock, { force: true });
  }
}

function acquire(lock: string): void {
  const giveUp = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      closeSync(openSync(lock, "wx", 0o600));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      // Whoever held it was killed: nobody needs ten seconds for a file of this size.
      if (age(lock) > STALE_MS) rmSync(lock, { force: true });
      else if (Date.now() > giveUp)
        throw new SageError("journal-locked", `${lock} is held by another process; try again`, { retryable: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function age(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0; // released in between
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

function replace(path: string, text: string): void {
  const beside = `${path}.${process.pid}.tmp`;
  const fd = openSync(beside, "w", 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, path);
}
