/** Reasons that come with another agent in Sage's place. `words` are the agent's own. */
export type GuestReasonArgs = {
  "guest-asks": { agent: string; tool: string; words?: string };
  /** It asks about a call, such as a patch of its subagent, and does not tell what the call would change. */
  "guest-asks-untold": { agent: string; tool: string; words?: string };
  /** It took its prompt back: somebody answered it elsewhere, or the call is gone. */
  "guest-withdrew": { agent: string };
  /** It was stopped between the start of a call and its result. */
  "guest-knows-end": { agent: string };
  /** It was stopped while it asked: the answer goes to it in words. */
  "guest-carried": { agent: string };
  /** It said that it had something to do, and did not begin in time. */
  "guest-silent": { agent: string };
  /** The answer to its request about this tool got lost on the way, and is told in words; and: now it was read. */
  "guest-answer-lost": { agent: string; tool: string };
  "guest-answer-read": { agent: string; tool: string };
  "guest-not-started": { agent: string; words: string };
  "guest-failed": { agent: string; words: string };
  "guest-died": { agent: string; words: string };
  "guest-stopped": { agent: string };
  /** Something that its own conversation does not allow: `compact`, `rewind`, `fork`, an inquiry. */
  "guest-own-conversation": { agent: string };
  /** The person allowed another input, as JSON, than the one that it would run. */
  "guest-takes-no-edit": { agent: string; input: string };
  /** An edited input was sent for a call that its agent runs as it is. */
  "input-fixed": { agent: string };
  "guest-unknown": { agent: string; known: readonly string[] };
  /** The folder has settings of the agent's own, which nobody trusted. */
  "guest-untrusted": { agent: string; folder: string; files: readonly string[] };
};

/** Requests of programs outside of Sage. `agent` is the name under which one asks. */
export type OutsideReasonArgs = {
  /** Why a person is asked: `words` are the agent's own. */
  "outside-asks": { agent: string; words?: string };
  "answered-there": { agent: string; allowed?: boolean };
  "outside-gone": { agent: string };
  /** Its process is gone, and nothing said so before. */
  "asker-gone": { agent: string };
  "outside-withdrew": { agent: string; words?: string };
  /** No loop runs such a session. */
  "outside-session": { session: string };
  "outside-yes-or-no": { agent: string };
  "outside-no-comment": { agent: string };
  "outside-no-reply": { agent: string };
  "not-outside": { request: string };
  "agent-name-unfit": { given: string };
  "ask-id-unfit": { given: string };
  "ask-differs": { id: string };
  "ask-too-long": { limit: number; length: number };
  "ask-unfit": { problem: string };
  "asks-too-many": { agent: string; limit: number };
};
