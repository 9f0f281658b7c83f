import type { WholeAnswer } from "../facts/answer.ts";
import type { InputRequest } from "../facts/request.ts";
import type { AskerPolicy, RequestTimeout } from "../facts/silence.ts";
import type { Sender } from "../sender.ts";

/** Answers in a person's place. If it throws, or its answer does not fit, the request is refused. */
export type AutoResponder = (request: InputRequest) => ResponderAnswer | Promise<ResponderAnswer>;

/** A whole response; to one question also a label of it, or several, and to a text its words. */
export type ResponderAnswer = WholeAnswer | string | readonly string[];

/**
 * The answer where nobody is. `default` grants nothing and says why, `alwaysAllow` grants ordinary permissions, `alwaysDeny`
 * refuses every request; none of the three answers a question. A function decides for itself.
 */
export type AutoResponse = "default" | "alwaysAllow" | "alwaysDeny" | AutoResponder;

/** A run waits for a person, answers by itself, or stops where a person is needed. */
export type ExecutionMode =
  /** Waits for a person. */
  | { type: "interactive" }
  | {
      type: "nonInteractive";
      autoResponse: AutoResponse;
      /** Sender of a custom responder's answers; `auto` by default. */
      sender?: Sender;
    }
  /** Nobody can be asked: the run ends in `needs-input` and the turn stays open. */
  | { type: "batch" };

/** Hours of the day in which a person is not called, in minutes after midnight on this machine's clock; `to` may be on the next day. */
export type QuietHours = { from: number; to: number };

/** People whose quiet hours count, and everybody who may approve, by their names in the settings. */
export type Quiet = { hours: Record<string, QuietHours>; approvers: readonly string[] };

/** Options that go to the provider as they are. */
export type LlmOptions = {
  maxOutputTokens?: number;
  temperature?: number;
  thinkingTokens?: number;
  /** How long a model that can think does so; by default it decides itself. */
  effort?: Effort;
};

export const efforts = ["low", "medium", "high"] as const;
/** How hard a model thinks, from least to most. */
export type Effort = (typeof efforts)[number];

/** Settings of one run, complete. `executionOptions` fills in the defaults. */
export type ExecutionOptions = {
  mode: ExecutionMode;
  maxSteps: number;
  /** Active time only: waiting for a person never counts. */
  executionTimeout?: number;
  /** How long a request waits for a person, in ms; none by default. */
  promptTimeout?: number;
  /** Policy for that moment; the turn fails by default. A request that a default answer does not fit is refused. */
  timeoutPolicy?: AskerPolicy;
  /** Interval at which people who were asked are reminded, in ms; without it, once, late in the wait. */
  remindEvery?: number;
  /** The same for requests of single tools, by name: before the word of the run or of a chat, after that of the asker or a rule. */
  silence?: Record<string, RequestTimeout>;
  /** Requests whose yes has to be signed: those that only a person may answer, or every permission. */
  signed?: readonly ("hard" | "permission")[];
  /** When people are not called. */
  quiet?: Quiet;
  /** Tokens that fit into one prompt; by default the known window of the model. */
  maxContextTokens?: number;
  /** The share of it at which room is made. */
  autoCompactThreshold: number;
  workingDirectory: string;
  llmOptions: LlmOptions;
};

/** Options of a caller who says undefined for what they leave out: defaults count for it. */
export function withoutUndefined<Options extends object>(given: Options): Options {
  if (!Object.values(given).includes(undefined)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Options;
}
