import { join } from "node:path";

/** Folder of a session's long output. Only that session reads there without asking. */
export function keptFor(output: string, session: string): string {
  return join(output, "kept", session);
}

/** Folder of the files that were sent to a session, for the same readers. Without a session: the folder of all of them. */
export function receivedFor(output: string, session = ""): string {
  return join(output, "received", session);
}
