import type { InputResponse, LooseAnswers } from "./answer.ts";

/** Policy for silence: the turn fails or is cancelled, or the request is refused; with `escalate`, after these people were called in turn. */
export type TimeoutPolicy = SilentEnd | { escalate: string[]; end: SilentEnd };
/** End of a request that nobody answers: the turn fails or is cancelled, or the request is refused. */
export type SilentEnd = "fail" | "cancel" | "deny";

/**
 * Words of an asker or of a run for what happens when nobody answers: `wait` (no deadline at all), a `TimeoutPolicy`, or a default
 * answer. A default answer never grants: a permission may only be refused by it.
 */
export type AskerPolicy = "wait" | TimeoutPolicy | DeadlinePolicy | { default: DefaultAnswer };

/** A default answer in short form, without the id of a request. */
export type DefaultAnswer =
  | { type: "answers"; answers: LooseAnswers; remark?: string; partial?: boolean }
  | { type: "denied"; reason?: string }
  | { type: "text"; text: string };

/** How long one request waits, by the word of its asker; what is left out is as the run says. */
export type RequestTimeout = {
  timeoutMs?: number;
  timeoutPolicy?: AskerPolicy;
  /** Interval at which people who were asked are reminded, in ms; at most ten times. */
  remindEvery?: number;
};

/** Time limits of a message's turn, kept with the message and across restarts; what is left out is as configured. */
export type TurnLimits = {
  /** How long each request of the turn waits for a person, in ms. */
  promptTimeout?: number;
  /** Policy for requests that nobody answers; the turn fails by default. */
  timeoutPolicy?: TimeoutPolicy;
  /** Active time only, in ms. */
  executionTimeout?: number;
};

/** When the deadline passes, the turn fails, the turn is cancelled, the request is refused, or this answer is used. */
export type DeadlinePolicy = "fail" | "cancel" | "deny" | { default: InputResponse };

/** Deadline of a request. `at` is wall time and counts only across restarts; a living process measures `timeoutMs`. */
export type Deadline = {
  at: number;
  timeoutMs: number;
  policy: DeadlinePolicy;
  /** Further people who are called before it passes, by the names of the settings, and when. */
  escalation?: { to: string; at: number }[];
};
