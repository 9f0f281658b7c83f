/** Why something could not be recorded, read or continued. */
export type JournalReasonArgs = {
  "journal-busy": { path: string };
  /** The server of a shared journal cannot be reached. */
  "database-away": { path: string; problem: string };
  "login-refused": { path: string; problem: string };
  "database-missing": { path: string; problem: string };
  /** The login of another part would do: a worker's cannot answer. */
  "login-may-not": { path: string; problem: string };
  "disk-full": { path: string; problem: string };
  "journal-unwritable": { path: string };
  "journal-damaged": { path: string; problem: string };
  "worker-may-not-write": {};
  /** A worker whose login was made for other places. */
  "place-not-served": { place: string };
  /** The file was removed, or another one is in its place, while this process had it open. */
  "journal-gone": { path: string };
  "record-damaged": { seq: number; key: string; session: string };
  "record-changed": { key: string; session: string; path: string };
  "taken-over": { session: string };
  /** Sessions of a shared journal are run by workers. */
  "runs-elsewhere": { session: string };
  /** Nothing is kept of this call's output, or not here any more. */
  "output-missing": { call: string };
  /** It is kept where the session runs, and nobody is there. */
  "output-away": { place: string };
  /** Nobody runs sessions of this place now. */
  "no-worker": { place: string };
  "run-by-process": { session: string; pid: number };

  // Notices while nothing can be written.
  "recorded-now": {};
  /** This process leaves with facts that were never written. */
  "left-unrecorded": { facts: number };
};
