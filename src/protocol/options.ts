import type { Sender } from "./host.ts";
import type { InputRequest, InputResponse } from "./request.ts";

/** Answers in a person's place. Whatever it does wrong ends as a refusal. */
export type AutoResponder = (request: InputRequest) => InputResponse | Promise<InputResponse>;

export type AutoResponse = "default" | "alwaysAllow" | "alwaysDeny" | AutoResponder;

export type ExecutionMode =
  /** Waits for a person. */
  | { type: "interactive" }
  | {
      type: "nonInteractive";
      autoResponse: AutoResponse;
      /** In whose name a responder of one's own answers; `auto` by default. */
      sender?: Sender;
    }
  /** Nobody may be asked: ends in `needs-input`, and the turn stays open. */
  | { type: "batch" };

/**
 * How long the turn may take that a message begins; what the message leaves out is as configured. Kept with the message, so that
 * it holds after a restart, too.
 */
export type TurnLimits = {
  /** How long each request of the turn waits for a person, in ms. */
  promptTimeout?: number;
  /** What happens when nobody answers; the turn fails if nothing is said. */
  timeoutPolicy?: "fail" | "cancel";
  /** Active time only, in ms. */
  executionTimeout?: number;
};

/** Passed on to the provider as they are. */
export type LlmOptions = { maxOutputTokens?: number; temperature?: number; thinkingTokens?: number };

export type ExecutionOptions = {
  mode: ExecutionMode;
  maxSteps: number;
  /** Active time only: waiting for a person never counts. */
  executionTimeout?: number;
  /** How long a request waits for a person, in ms; none by default. */
  promptTimeout?: number;
  /** What fits into one prompt; by default what the model is known to take. */
  maxContextTokens?: number;
  /** The share of it at which room is made. */
  autoCompactThreshold: number;
  workingDirectory: string;
  llmOptions: LlmOptions;
};
