/** Sentences for people about a result whose text is written for the model. */
export type CallReasonArgs = {
  // A command.
  "no-output": {};
  "exit-code": { code: number };
  "ended-by-signal": { signal: string };
  "exit-unknown": {};
  "command-stopped": {};
  "command-timed-out": { ms: number };
  "left-processes-ended": {};
  /** Nobody could type what it waited for. */
  "waited-for-answer": { question: string };
  "task-started": { id: string };
  "too-many-tasks": { count: number };

  "no-matches": {};

  // A file that an edit does not fit.
  "file-missing": { path: string };
  "file-unread": { path: string };
  "file-changed-since": { path: string };
  "text-not-found": { path: string };
  "text-found-often": { path: string; times: number };
};
