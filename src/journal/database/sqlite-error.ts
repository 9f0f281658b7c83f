import { messageOf, SageError } from "../../protocol/reasons/error.ts";
import { reason } from "../../protocol/reasons/reason.ts";

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
export function isUnopenable(error: unknown): boolean {
  const code = primaryCode(error instanceof SageError ? error.cause : error);
  return code === 8 || code === 14;
}

function primaryCode(error: unknown): number {
  const { errcode, syscall, code: name } = (error ?? {}) as { errcode?: number; syscall?: string; code?: string };
  if (syscall === undefined) return (errcode ?? 0) & 0xff;
  return name === "ENOSPC" ? 13 : 14; // the file system's own refusals, while the folder or the file is made
}
