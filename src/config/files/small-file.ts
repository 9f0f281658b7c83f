import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";

/** Settings are short. */
const MAX_FILE_BYTES = 1024 * 1024;
/** Trusted folders are stored with what was trusted in them. */
export const MAX_STATE_BYTES = 64 * MAX_FILE_BYTES;

/** Text of a settings file, or undefined. A pipe or a device would never end: only a regular file is read, up to the limit. */
export function readSmallFile(path: string, largest = MAX_FILE_BYTES): string | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      return readWhole(path, file, largest);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof SageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new SageError("config-invalid", reason("file-unreadable", { path, problem: messageOf(error) }));
  }
}

function readWhole(path: string, file: number, largest: number): string {
  const found = fstatSync(file);
  if (!found.isFile()) throw new SageError("config-invalid", reason("file-not-regular", { path }));
  // Reads a byte more than the file says it has, so that one which lies about its size, or grows, is noticed.
  const bytes = Buffer.allocUnsafe(Math.min(largest, Math.max(found.size, 64 * 1024)) + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = readSync(file, bytes, length, bytes.length - length, null);
  if (length === bytes.length)
    throw new SageError("config-invalid", reason("file-too-large", { path, limitMb: largest / 1024 / 1024 }));
  return bytes.toString("utf8", 0, length);
}
