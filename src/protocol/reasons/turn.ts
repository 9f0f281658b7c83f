/** Why a call was refused or allowed outside of the rules, why a request opened or ended, and why a turn stopped. */
export type TurnReasonArgs = OwnQuestionArgs & {
  // Time that commands take.
  "task-runs": { id: string; seconds: number };
  "command-took": { seconds: number };

  // A malformed call, or one that is not permitted here.
  "unknown-tool": { tool: string; tools: readonly string[]; /** The nearest name. */ meant?: string };
  "malformed-arguments": { tool: string; text: string };
  "subagent-may-not-ask": { tool: string };
  "skill-limits-tools": { tools: readonly string[] };
  "refused-before": {};

  // A person's approval, and what became of it until the call ran.
  "approved-edited": {};
  "approved-unchanged": {};
  /** A yes to a request of a turn that did not live to use it. */
  "approved-earlier": { request: string };

  // Tools that are allowed or ask by what they are.
  "asks-person": {};
  "reads-skill": {};
  "hands-on-task": {};

  // Hooks.
  "hook-decided": { command: string; decision: "allow" | "deny" | "ask" };
  "hook-changed": { path: string };
  "hook-late": { timeoutMs: number };
  "hook-interrupted": {};
  "hook-flooded": {};
  "hook-exited": { code: number | string; output: string };

  // How a request ended that nobody answered.
  "no-answer-within": { timeoutMs: number };
  "nobody-to-ask": {};
  "run-declines-questions": {};
  "run-denies-permissions": {};
  "only-a-person-may-allow": {};
  "one-request-at-a-time": {};
  "channel-closed": {};
  "decided-by-rule": { rule: string };
  "ask-rule-removed": { rule: string };
  /** The agent took its request back after a person had asked about it. */
  "withdrawn-by-agent": { why: string };

  // A person's question about a request that stays without a reply.
  "inquiry-without-reply": {};
  "inquiry-limit": { limit: number };
  "turn-ended": {};
  "session-deleted": {};
  "forked-here": {};
  /** A synthetic request of a channel: the agent is idle. */
  idle: {};

  // An answer that does not fit its request.
  "empty-text": {};
  "empty-answer": {};
  "not-an-option": { given: string; question?: string; options: readonly string[] };
  "not-asked": { question: string; questions: readonly string[] };
  "answers-missing": { answered: number; of: number };
  "chosen-twice": { question: string };
  "mode-without-plan": {};
  "rewind-turn-open": {};
  "rewind-no-turn": { turn: string };
  "takes-one": { question: string; count: number };
  "unfit-response": { kind: "question" | "permission" | "text"; got: string };
  "unknown-response": { got: string };

  // A person without the role for it.
  "may-not-talk": { by: string };
  "may-not-approve": { by: string };
  "persona-outside-test": { by: string };

  // Causes that stop a turn.
  "person-stopped": {};
  "stopped-by": { by: string };
  "interrupted-by": { by: string };
  "read-now": { by: string; text: string };
  interrupted: {};
  leaving: {};
  "time-up": { limitMs: number };
  "repeated-itself": {};
  "limit-reached": LimitReached;
  "stopped-at-limit": {};
  "limit-unanswered": {};
  "nobody-said-go-on": { times: number };
  "refused-in-a-row": { times: number };
  "stopped-after-loss": {};
  "tool-missing": { tool: string };
  "settings-untrusted": { folder: string };

  // A call whose end is unknown.
  "end-unknown": {};
  "may-run-elsewhere": {};
  outlived: { groups: readonly number[] };
  "outlived-and-killed": {};
  "outlived-and-ended": {};

  // An agent that does the same again and again.
  spinning: { times: number; calls: readonly { tool: string; input: string }[] };

  // Notices for people.
  "command-waits": { question: string };
  /** A command in the background; without a code it is not known how it ended. */
  "skill-injected": { name: string };
  "task-ended": { id: string; command: string; code?: number };
};

/** Questions that Sage itself asks. Each has a fixed set of options, see `texts/questions.ts`. */
export type OwnQuestionArgs = {
  /** A call was cut off, and how it ended is not known. */
  lost: { tool: string; what: string };
  /** A command outlived the process that had started it. */
  "lost-running": { tool: string; what: string };
  "go-on-repeating": {};
  "go-on-spending": {};
  /** An MCP server wants the person to open an address, or to agree to something. */
  "elicits-url": { server: string; url: string; host: string };
  "elicits-confirm": { server: string; message: string };
};

/** Changes in the working directory since a call was started, by it or by others. */
export type Changes =
  | { problem: string }
  | {
      files: Listed;
      /** Folders in which something was removed or renamed. */
      folders: Listed;
      /** Number of files examined. */
      looked: number;
      /** Not all of it was seen. */
      missed?: "too-many" | "unreadable";
    };

/** The first of some names, and how many there are beside them. */
export type Listed = { names: readonly string[]; more: number };

/** A limit of the person's settings that was reached. */
export type LimitReached = {
  scope: "turn" | "session" | "person" | "day";
  unit: "tokens" | "usd";
  spent: number;
  limit: number;
};
