import type { LlmOptions, Message, Reply } from "../protocol/index.ts";

/** A tool as the model sees it. */
export type ToolOffer = { name: string; description: string; inputSchema: Record<string, unknown> };

export type ModelRequest = {
  system: string;
  messages: readonly Message[];
  tools: readonly ToolOffer[];
  options: LlmOptions;
  /** Names of the agents from the root down to the asker. */
  agent: readonly string[];
};

export type ModelScope = {
  readonly signal: AbortSignal;
  text(delta: string): void;
  reasoning(delta: string): void;
  /** What was shown so far is void: a new attempt begins, for this reason. */
  retry(reason: string): void;
};

/** One reply. Resolves only with a whole one: a stream that was cut is an error, never a shorter reply. */
export interface Model {
  readonly id: string;
  reply(request: ModelRequest, scope: ModelScope): Promise<Reply>;
}
