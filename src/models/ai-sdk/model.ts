import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Model } from "../model.ts";
import { fromLanguageModel } from "./language-model.ts";

/** The part of the AI SDK's `LanguageModelV4` that Sage uses. */
export type AiSdkLanguageModel = {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ stream: unknown }>;
};

/**
 * A model of any provider of the AI SDK, such as Gemini or Bedrock. Anthropic, OpenAI and compatible servers do not need it. `id` is
 * provider/model, by default the model's own. `images`: does it take pictures? By default guessed from its name.
 */
export function aiSdkModel(model: AiSdkLanguageModel, options: { id?: string; images?: boolean } = {}): Model {
  return fromLanguageModel(model as unknown as LanguageModelV4, options);
}
