import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Model } from "../model.ts";
import { fromLanguageModel } from "./language-model.ts";

/** A language model of the AI SDK (`LanguageModelV4`), as far as Sage looks at it. */
export type AiSdkLanguageModel = {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ stream: unknown }>;
};

/**
 * A model of any provider of the AI SDK, such as Gemini or Bedrock. Anthropic, OpenAI and servers like them need none. `id` is
 * provider/model, by default as the model names itself. `images`: does it take pictures? By default its name tells.
 */
export function aiSdkModel(model: AiSdkLanguageModel, options: { id?: string; images?: boolean } = {}): Model {
  return fromLanguageModel(model as unknown as LanguageModelV4, options);
}
