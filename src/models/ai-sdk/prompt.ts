import type { LanguageModelV4FunctionTool, LanguageModelV4Message, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { Message, Part } from "../../protocol/index.ts";
import type { ToolOffer } from "../model.ts";

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** Converts each message object once, so that a step costs what is new in it. */
export function createPrompts({ id, callId = (call) => call }: { id: string; callId?(call: string): string }) {
  const converted = new WeakMap<Message, LanguageModelV4Message>();

  function convert(message: Message): LanguageModelV4Message {
    switch (message.role) {
      case "user":
        return { role: "user", content: isBlank(message.text) ? [] : [{ type: "text", text: message.text }] };
      case "assistant":
        return { role: "assistant", content: message.parts.flatMap((part) => toPart(part, message.model)) };
      case "tool":
        return {
          role: "tool",
          content: message.results.map(({ call, tool, result }) => ({
            type: "tool-result",
            toolCallId: callId(call),
            toolName: tool,
            output: { type: result.ok ? "text" : "error-text", value: result.text },
          })),
        };
      default:
        return message satisfies never;
    }
  }

  function toPart(part: Part, model: string): AssistantContent {
    const providerOptions = part.metadata && { providerOptions: part.metadata as SharedV4ProviderOptions };
    switch (part.type) {
      case "text":
        return isBlank(part.text) ? [] : [{ type: "text", text: part.text, ...providerOptions }];
      case "reasoning":
        return model === id ? [{ type: "reasoning", text: part.text, ...providerOptions }] : [];
      case "call":
        return [
          {
            type: "tool-call",
            toolCallId: callId(part.id),
            toolName: part.tool,
            input: part.input,
            ...providerOptions,
          },
        ];
      default:
        return part satisfies never;
    }
  }

  return (system: string, messages: readonly Message[]): LanguageModelV4Message[] => {
    const prompt: LanguageModelV4Message[] = system === "" ? [] : [{ role: "system", content: system }];
    for (const message of messages) {
      let item = converted.get(message);
      if (!item) converted.set(message, (item = convert(message)));
      // Nothing is left of a reply that was only another model's reasoning, and providers refuse empty messages.
      if (item.content.length > 0) prompt.push(item);
    }
    return prompt;
  };
}

export function toTool({ name, description, inputSchema }: ToolOffer): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema };
}

/** Providers refuse text without a visible character, even when they wrote it themselves. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}
