import { realpathSync, statSync } from "node:fs";
import { reason, SageError } from "../../protocol/reasons/reason.ts";

/** The folder of a session, past every link. Throws what to do where it was moved or removed. */
export function sessionFolder({ id, cwd }: { id: string; cwd: string }): string {
  if (isFolder(cwd)) return realpathSync(cwd);
  throw new SageError("config-invalid", reason("session-folder-gone", { session: id, path: cwd }));
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
