import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { collect } from "./collect.ts";
import type { Model, ModelRequest } from "./model.ts";
import { createPrompts, toTool } from "./prompt.ts";

/** The differences between providers. */
export type Provider = {
  /** provider/model: reasoning of a message with another id is never sent. */
  id: string;
  model: LanguageModelV4;
  /** Call ids of another provider in the form this one accepts. */
  callId?(id: string): string;
  /** The last touch on what is sent. */
  adapt?(options: LanguageModelV4CallOptions, request: ModelRequest): LanguageModelV4CallOptions;
};

/** No bytes for so long means that the server hangs. */
export const idleTimeoutMs = 5 * 60_000;

export function fromProvider(provider: Provider): Model {
  const { id, model, adapt = (options) => options } = provider;
  const toPrompt = createPrompts(provider);
  return {
    id,
    async reply(request, scope) {
      const { maxOutputTokens, temperature } = request.options;
      const { stream } = await model.doStream(
        adapt(
          {
            prompt: toPrompt(request.system, request.messages),
            tools: request.tools.map(toTool),
            abortSignal: scope.signal,
            ...(maxOutputTokens !== undefined && { maxOutputTokens }),
            ...(temperature !== undefined && { temperature }),
          },
          request,
        ),
      );
      return { ...(await collect(stream, scope)), model: id };
    },
  };
}
