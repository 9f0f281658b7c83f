import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import {
  callsOf,
  SageError,
  type Call,
  type Finish,
  type Message,
  type Part,
  type ProviderMetadata,
  type Reply,
  type ToolInput,
  type Usage,
} from "../protocol/index.ts";
import type { Model, ModelRequest, ModelScope, ToolOffer } from "./model.ts";

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** What makes one provider different from the others. */
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
  const toPrompt = createConverter(provider);
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

/** Converts each message object once, so that a step costs what is new in it. */
function createConverter({ id, callId = (call) => call }: Provider) {
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

/** Providers refuse text without a visible character, even when they wrote it themselves. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}

function toTool({ name, description, inputSchema }: ToolOffer): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema };
}

async function collect(
  stream: AsyncIterable<LanguageModelV4StreamPart>,
  scope: ModelScope,
): Promise<Omit<Reply, "model">> {
  const parts: Part[] = [];
  const open = new Map<string, Exclude<Part, Call>>();
  let end: { finish: Finish; usage: Usage } | undefined;

  const begin = (
    type: "text" | "reasoning",
    { id, providerMetadata }: { id: string; providerMetadata?: ProviderMetadata },
  ) => {
    const part: Exclude<Part, Call> = { type, text: "", ...(providerMetadata && { metadata: providerMetadata }) };
    open.set(id, part);
    parts.push(part);
  };
  const extend = ({
    id,
    delta = "",
    providerMetadata,
  }: {
    id: string;
    delta?: string;
    providerMetadata?: ProviderMetadata;
  }) => {
    const part = open.get(id);
    if (!part) return;
    part.text += delta;
    if (providerMetadata) part.metadata = providerMetadata;
    if (delta !== "") scope[part.type](delta);
  };

  for await (const part of stream) {
    switch (part.type) {
      case "text-start":
        begin("text", part);
        break;
      case "reasoning-start":
        begin("reasoning", part);
        break;
      case "text-delta":
      case "text-end":
      case "reasoning-delta":
      case "reasoning-end":
        extend(part);
        break;
      case "tool-call":
        parts.push(toCall(part));
        break;
      case "finish":
        end = { finish: toFinish(part.finishReason), usage: toUsage(part.usage) };
        break;
      case "error":
        throw toError(part.error);
      default: // New kinds of parts appear with every version of a provider.
    }
  }
  if (!end) throw cutShort();
  return { ...end, ...settle(parts, end.finish) };
}

function toCall({ toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall): Call {
  const parsed = parseInput(input);
  return {
    type: "call",
    id: toolCallId,
    tool: toolName,
    input: parsed ?? {},
    ...(!parsed && { malformed: input }),
    ...(providerMetadata && { metadata: providerMetadata }),
  };
}

/** Some servers send nothing at all for a call without arguments. */
function parseInput(raw: string): ToolInput | undefined {
  if (isBlank(raw)) return {};
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ToolInput) : undefined;
  } catch {
    return undefined;
  }
}

function settle(parts: Part[], finish: Finish): { parts: Part[]; finish: Finish } {
  const kept = parts.filter((part) => part.type === "call" || part.text !== "" || part.metadata);
  const calls = callsOf({ parts: kept });
  const last = calls.at(-1);
  // The token limit may have struck before the first argument: an empty input is then no input.
  if (finish === "length" && last && Object.keys(last.input).length === 0) last.malformed ??= "{}";
  // Compatible servers say "stop" beside calls.
  return { parts: kept, finish: finish === "stop" && last ? "calls" : finish };
}

function toFinish({ unified }: LanguageModelV4FinishReason): Finish {
  switch (unified) {
    case "stop":
    case "length":
    case "other":
      return unified;
    case "tool-calls":
      return "calls";
    case "content-filter":
      return "filtered";
    case "error":
    case "interrupted":
      throw cutShort();
    default:
      return unified satisfies never;
  }
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    cacheReadTokens: inputTokens.cacheRead ?? 0,
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
  };
}

/** Errors inside a stream come as plain objects. One that does not say better is the server's trouble and worth another try. */
function toError(error: unknown): Error {
  const { message, statusCode, code, isRetryable } = Object(error) as {
    message?: string;
    statusCode?: number;
    code?: unknown;
    isRetryable?: boolean;
  };
  const status = statusCode ?? (typeof code === "number" ? code : undefined);
  return Object.assign(new Error(message ?? String(error), { cause: error }), {
    statusCode: status,
    isRetryable: isRetryable ?? status === undefined,
  });
}

function cutShort(): SageError {
  return new SageError("model-unavailable", "the reply was cut off before it was complete", { retryable: true });
}
