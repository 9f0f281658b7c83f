import type { InputRequest, InputResponse } from "./request.ts";

/** Answers in a person's place. Whatever it does wrong ends as a refusal. */
export type AutoResponder = (request: InputRequest) => InputResponse | Promise<InputResponse>;

export type AutoResponse = "default" | "alwaysAllow" | "alwaysDeny" | AutoResponder;

export type ExecutionMode =
  /** Waits for a person. */
  | { type: "interactive" }
  | { type: "nonInteractive"; autoResponse: AutoResponse }
  /** Nobody may be asked: ends in `needs-input`, and the turn stays open. */
  | { type: "batch" };

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
