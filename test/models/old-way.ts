// The AI SDK's providers, as Sage used them before it had wire clients of its own: for comparing.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { fromLanguageModel } from "../../src/models/ai-sdk/language-model.ts";
import type { Model, ModelRequest } from "../../src/models/model.ts";

type Address = { modelId: string; baseURL: string };

export const oldWay = {
  anthropic({ modelId, baseURL }: Address): Model {
    const provider = createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: "k" });
    const callId = (id: string) => id.replace(/[^\w-]/g, "_");
    return fromLanguageModel(provider(modelId), { id: `anthropic/${modelId}`, callId, adapt: adaptAnthropic });
  },
  chat({ modelId, baseURL }: Address): Model {
    const provider = createOpenAICompatible({ name: "openai", baseURL, includeUsage: true, apiKey: "k" });
    return fromLanguageModel(provider.chatModel(modelId), { id: `openai/${modelId}` });
  },
  responses({ modelId, baseURL }: Address): Model {
    const provider = createOpenAI({ baseURL, apiKey: "k" });
    const openai = { store: false, include: ["reasoning.encrypted_content"], reasoningSummary: "auto" };
    const adapt = (options: LanguageModelV4CallOptions) => ({ ...options, providerOptions: { openai } });
    return fromLanguageModel(provider.responses(modelId), { id: `openai/${modelId}`, adapt });
  },
};

const cached: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

function adaptAnthropic(options: LanguageModelV4CallOptions, request: ModelRequest): LanguageModelV4CallOptions {
  const { thinkingTokens = 0 } = request.options;
  const thinks = thinkingTokens > 0 && mayThink(options.prompt);
  return {
    ...options,
    prompt: withBreakpoints(options.prompt),
    tools:
      options.tools?.map((tool, n, all) => (n === all.length - 1 ? { ...tool, providerOptions: cached } : tool)) ?? [],
    providerOptions: {
      anthropic: {
        toolStreaming: false,
        ...(thinks && { thinking: { type: "enabled", budgetTokens: thinkingTokens } }),
      },
    },
  };
}

function withBreakpoints(prompt: LanguageModelV4Message[]): LanguageModelV4Message[] {
  const end = prompt.length - 1;
  const previousEnd = prompt.findLastIndex(({ role }) => role === "assistant") - 1;
  return prompt.map((message, n) =>
    message.role === "system" || n === end || n === previousEnd ? { ...message, providerOptions: cached } : message,
  );
}

function mayThink(prompt: LanguageModelV4Message[]): boolean {
  const last = prompt.findLast((message) => message.role === "assistant");
  return !last?.content.some(({ type }) => type === "tool-call") || last.content[0]?.type === "reasoning";
}
