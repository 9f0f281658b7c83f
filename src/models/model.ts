import type { LoadImage } from "./images.ts";
import type { Message, Reply } from "../protocol/facts/message.ts";
import type { LlmOptions } from "../protocol/host/options.ts";
import type { Reason } from "../protocol/reasons/reason.ts";

/** A tool as the model sees it. */
export type ToolOffer = { name: string; description: string; inputSchema: Record<string, unknown> };

/** The prompt for one reply. */
export type ModelRequest = {
  system: string;
  messages: readonly Message[];
  tools: readonly ToolOffer[];
  /** Without it pictures are described in words. */
  image?: LoadImage;
  options: LlmOptions;
  /** Names the conversation, for providers that look for what they have cached where it was before. */
  cacheKey?: string;
  /** Number of messages at the end that the next prompt will not have: caching ends before them. */
  fleeting?: number;
  /** Names of the agents from the root down to the asker. */
  agent: readonly string[];
};

/** Ways for a model to tell what it does while it replies. */
export type ModelScope = {
  readonly signal: AbortSignal;
  text(delta: string): void;
  reasoning(delta: string): void;
  /** A call of this tool begins; its input is still to come. */
  calling?(tool: string): void;
  /** A new attempt begins, for this reason: text that was shown so far is void. */
  retry(reason: Reason): void;
};

/** A model: one whole reply to each request. A stream that was cut is an error, never a shorter reply. */
export interface Model {
  readonly id: string;
  reply(request: ModelRequest, scope: ModelScope): Promise<Reply>;
}
