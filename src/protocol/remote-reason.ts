/** Why something was not found, or cannot be asked of this host. */
export type RemoteReasonArgs = {
  /** A host that an embedder made knows sessions, and nothing about this. */
  "not-here": { command: string };
  /** No session begins like this. */
  "no-session-like": { given: string };
  "no-session-in": { cwd: string };
  /** Several sessions begin like this: their ids and titles. */
  "sessions-alike": { given: string; candidates: readonly string[] };
  /** No session, call or file is called this. */
  "receipts-unknown": { given: string };
};
