import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Model, ModelRequest } from "../model.ts";
import { collect } from "./collect.ts";
import { createPrompts, toTool } from "./prompt.ts";

/** The differences between providers of the AI SDK. */
export type LanguageModelOptions = {
  /** provider/model, by default as the model names itself. Reasoning of a message with another id is never sent. */
  id?: string;
  /** Does the model take pictures? By default its name tells. */
  images?: boolean;
  /** Does it take PDF files? By default its name tells. */
  files?: boolean;
  /** Call ids of another provider in the form this one accepts. */
  callId?(id: string): string;
  /** The last touch on what is sent. */
  adapt?(options: LanguageModelV4CallOptions, request: ModelRequest): LanguageModelV4CallOptions;
};

export function fromLanguageModel(model: LanguageModelV4, options: LanguageModelOptions = {}): Model {
  const { id = `${model.provider}/${model.modelId}`, adapt = (given) => given } = options;
  const toPrompt = createPrompts({ ...options, id });
  return {
    id,
    async reply(request, scope) {
      const { maxOutputTokens, temperature, effort } = request.options;
      const { stream } = await model.doStream(
        adapt(
          {
            prompt: toPrompt(request),
            tools: request.tools.map(toTool),
            abortSignal: scope.signal,
            ...(maxOutputTokens !== undefined && { maxOutputTokens }),
            ...(temperature !== undefined && { temperature }),
            ...(effort && { reasoning: effort }),
          },
          request,
        ),
      );
      return { ...(await collect(stream, scope)), model: id };
    },
  };
}
