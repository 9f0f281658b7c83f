import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { createFetch } from "./http-fetch.ts";
import type { Model, ModelRequest } from "./model.ts";
import { fromProvider, idleTimeoutMs } from "./provider.ts";
import type { Env } from "./proxy.ts";

export type AnthropicOptions = {
  modelId: string;
  /** With or without the final /v1: Anthropic's own tools leave it out. */
  baseURL?: string;
  apiKey?: string;
  idleTimeoutMs?: number;
  /** Where a proxy is named; by default the environment of this process. */
  env?: Env;
};

export function anthropic(options: AnthropicOptions): Model {
  const { modelId, baseURL = "https://api.anthropic.com", apiKey = "" } = options;
  const provider = createAnthropic({
    baseURL: baseURL.replace(/(\/v1)?\/*$/, "/v1"),
    apiKey,
    fetch: createFetch(options.idleTimeoutMs ?? idleTimeoutMs, options.env),
  });
  return fromProvider({
    id: `anthropic/${modelId}`,
    model: provider(modelId),
    callId: (id) => id.replace(/[^\w-]/g, "_"),
    adapt,
  });
}

const cached: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

function adapt(options: LanguageModelV4CallOptions, request: ModelRequest): LanguageModelV4CallOptions {
  const { thinkingTokens = 0 } = request.options;
  return {
    ...options,
    prompt: withBreakpoints(options.prompt),
    tools:
      options.tools?.map((tool, n, all) => (n === all.length - 1 ? { ...tool, providerOptions: cached } : tool)) ?? [],
    providerOptions: {
      anthropic: {
        // Arguments streamed eagerly may be invalid JSON, and nobody watches them grow.
        toolStreaming: false,
        ...(thinkingTokens > 0 &&
          mayThink(options.prompt) && { thinking: { type: "enabled", budgetTokens: thinkingTokens } }),
      },
    },
  };
}

/**
 * Anthropic allows four: the last tool, the system prompt, the end of this prompt, and the end of the last one, which is where
 * this prompt meets the cache however many results came in between.
 */
function withBreakpoints(prompt: LanguageModelV4Message[]): LanguageModelV4Message[] {
  const end = prompt.length - 1;
  const previousEnd = prompt.findLastIndex(({ role }) => role === "assistant") - 1;
  return prompt.map((message, n) =>
    message.role === "system" || n === end || n === previousEnd ? { ...message, providerOptions: cached } : message,
  );
}

/** Thinking is refused while the results of a call are handed over that was made without it, or by another model. */
function mayThink(prompt: LanguageModelV4Message[]): boolean {
  const last = prompt.findLast((message) => message.role === "assistant");
  return !last?.content.some(({ type }) => type === "tool-call") || last.content[0]?.type === "reasoning";
}
