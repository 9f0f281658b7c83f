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
  "list-changed": {};
};
