/** Sentences for people about a result whose text is written for the model. */
export type CallReasonArgs = {
  // A command.
  "no-output": {};
  "exit-code": { code: number };
  "ended-by-signal": { signal: string };
  "exit-unknown": {};
  "command-stopped": {};
  "command-closed": {};
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

/** Why a yes does not count, or does not count yet, where a request takes more than one. */
export type ConsentReasonArgs = {
  /** Nothing but people may answer it with yes. */
  "needs-people": { approvals: number };
  /** Nobody can tell which person of the settings this is. */
  "approver-unknown": { by: string };
  "asker-may-not-approve": { by: string };
  "asker-unknown": { by: string };
  "consent-takes-no-rules": {};
  "edited-anew": { by: string };
  /** Refuses one request of a list that one answer was meant for. */
  "answered-by-itself": { request: string };
};
