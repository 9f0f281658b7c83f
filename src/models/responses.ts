import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { createFetch } from "./http-fetch.ts";
import type { Model } from "./model.ts";
import { fromProvider, idleTimeoutMs } from "./provider.ts";
import type { Env } from "./proxy.ts";

export type ResponsesOptions = {
  modelId: string;
  /** Up to and including /v1. */
  baseURL?: string;
  apiKey?: string;
  idleTimeoutMs?: number;
  /** Where a proxy is named; by default the environment of this process. */
  env?: Env;
};

/** OpenAI itself: its newer models take tools only over Responses. Servers that speak its older format are in openai.ts. */
export function responses(options: ResponsesOptions): Model {
  const { modelId, baseURL = "https://api.openai.com/v1", apiKey = "" } = options;
  const provider = createOpenAI({
    baseURL,
    apiKey,
    fetch: createFetch(options.idleTimeoutMs ?? idleTimeoutMs, options.env),
  });
  return fromProvider({ id: `openai/${modelId}`, model: provider.responses(modelId), adapt });
}

function adapt(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  return {
    ...options,
    providerOptions: {
      openai: {
        // The conversation is ours and stays on this machine: nothing is kept there, so reasoning travels with it, sealed.
        store: false,
        include: ["reasoning.encrypted_content"],
        reasoningSummary: "auto",
      },
    },
  };
}
