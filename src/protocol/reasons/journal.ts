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
  "journal-is-folder": { path: string };
  "journal-foreign": { path: string };
  "journal-not-for-tests": { path: string };
  "worker-may-not-write": {};
  /** A worker whose login was made for other places. */
  "place-not-served": { place: string };
  "engine-unprepared": { path: string };
  /** The functions in the database are of another version than this program. */
  "functions-older": { path: string; revision: number; needs: number };
  "functions-newer": { path: string; revision: number; knows: number };
  "journal-newer": { path: string; format: number; knows: number };
  /** An older Sage that still runs would not understand what this one writes. */
  "journal-in-use": { path: string; pid: number };
  /** A file of 0 bytes: its content was lost. */
  "journal-empty": { path: string };
  /** The log of a journal lies there without the journal. */
  "journal-missing": { path: string };
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
  /** An embedder's run of a session that another process runs. */
  "runs-in-another": { session: string };
  "run-by-process": { session: string; pid: number };

  // Notices while nothing can be written.
  "recorded-now": {};
  /** This process leaves with facts that were never written. */
  "left-unrecorded": { facts: number };
};
