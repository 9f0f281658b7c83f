import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createFetch } from "./http-fetch.ts";
import type { Model } from "./model.ts";
import { fromProvider, idleTimeoutMs } from "./provider.ts";
import type { Env } from "./proxy.ts";

export type OpenAIOptions = {
  modelId: string;
  /** Up to and including /v1. Any server that speaks Chat Completions will do. */
  baseURL: string;
  apiKey?: string;
  /** The provider's name in the model's id. */
  name?: string;
  idleTimeoutMs?: number;
  /** Where a proxy is named; by default the environment of this process. */
  env?: Env;
};

export function openai(options: OpenAIOptions): Model {
  const { modelId, baseURL, apiKey, name = "openai" } = options;
  const provider = createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    fetch: createFetch(options.idleTimeoutMs ?? idleTimeoutMs, options.env),
    ...(apiKey !== undefined && { apiKey }),
  });
  return fromProvider({ id: `${name}/${modelId}`, model: provider.chatModel(modelId) });
}
