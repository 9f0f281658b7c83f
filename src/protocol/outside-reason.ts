/** Requests of programs outside of Sage. `agent` is the name under which one asks. */
export type OutsideReasonArgs = {
  /** Why a person is asked: `words` are the agent's own. */
  "outside-asks": { agent: string; words?: string };
  "answered-there": { agent: string; allowed?: boolean };
  "outside-gone": { agent: string };
  "outside-withdrew": { agent: string; words?: string };
  /** No loop runs such a session. */
  "outside-session": { session: string };
  "outside-yes-or-no": { agent: string };
  "outside-no-reply": { agent: string };
  "not-outside": { request: string };
  "agent-name-unfit": { given: string };
  "ask-id-unfit": { given: string };
  "ask-differs": { id: string };
  "ask-too-long": { limit: number; length: number };
  "ask-unfit": { problem: string };
  "asks-too-many": { agent: string; limit: number };
};
