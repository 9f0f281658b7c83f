import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { Model, ModelRequest, ToolOffer, ModelScope } from "../model.ts";
import type { Message, Part, Call, Finish, ProviderMetadata, Reply, Usage } from "../../protocol/facts/message.ts";
import type { ImagePart } from "../../protocol/image.ts";
import { type LoadImage, showImages, takesFiles, takesImages } from "../images.ts";
import { cutShort, parseInput, settle } from "../wire/assembly.ts";

type LanguageModelOptions = {
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

/** Converts each message object once, so that a step costs what is new in it. */
function createPrompts(options: { id: string; callId?(call: string): string; images?: boolean; files?: boolean }) {
  const { id, callId = (call) => call, images: takes = takesImages(id), files = takesFiles(id) } = options;
  const converted = new WeakMap<Message, LanguageModelV4Message>();

  const pictures = (images: readonly ImagePart[] | undefined, load: LoadImage | undefined) =>
    showImages(images, { takes, files, load }).map((image) =>
      image.type === "text"
        ? image
        : ({
            type: "file",
            mediaType: image.mime,
            filename: image.name,
            data: { type: "data", data: image.data },
          } as const),
    );

  function convert(message: Message, load: LoadImage | undefined): LanguageModelV4Message {
    switch (message.role) {
      case "user":
        return {
          role: "user",
          content: [
            ...(isBlank(message.text) ? [] : [{ type: "text" as const, text: message.text }]),
            ...pictures(message.images, load),
          ],
        };
      case "assistant":
        return { role: "assistant", content: message.parts.flatMap((part) => toPart(part, message.model)) };
      case "tool":
        return {
          role: "tool",
          content: message.results.map(({ call, tool, result }) => ({
            type: "tool-result",
            toolCallId: callId(call),
            toolName: tool,
            output:
              result.ok && result.images
                ? {
                    type: "content",
                    value: [{ type: "text", text: result.text }, ...pictures(result.images, load)],
                  }
                : { type: result.ok ? "text" : "error-text", value: result.text },
          })),
        };
      default:
        return message satisfies never;
    }
  }

  function toPart(part: Part, model: string): Extract<LanguageModelV4Message, { role: "assistant" }>["content"] {
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

  return ({ system, messages, image }: Pick<ModelRequest, "system" | "messages" | "image">) => {
    const prompt: LanguageModelV4Message[] = system === "" ? [] : [{ role: "system", content: system }];
    for (const message of messages) {
      let item = converted.get(message);
      if (!item) converted.set(message, (item = convert(message, image)));
      // Nothing is left of a reply that was only another model's reasoning, and providers refuse empty messages.
      if (item.content.length > 0) prompt.push(item);
    }
    return prompt;
  };
}

function toTool({ name, description, inputSchema }: ToolOffer): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema };
}

/** Providers refuse text without a visible character, even when they wrote it themselves. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}

type Spoken = Exclude<Part, Call>;
type Piece = { id: string; delta?: string; providerMetadata?: ProviderMetadata };

/** A stream as a whole reply, shown while it comes. */
async function collect(
  stream: AsyncIterable<LanguageModelV4StreamPart>,
  scope: ModelScope,
): Promise<Omit<Reply, "model">> {
  const parts: Part[] = [];
  const open = new Map<string, Spoken>();
  let end: { finish: Finish; usage: Usage } | undefined;

  const begin = (type: "text" | "reasoning", { id, providerMetadata }: Piece) => {
    const part: Spoken = { type, text: "", ...(providerMetadata && { metadata: providerMetadata }) };
    open.set(id, part);
    parts.push(part);
  };
  const extend = ({ id, delta = "", providerMetadata }: Piece) => {
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
      case "tool-input-start":
        scope.calling?.(part.toolName);
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
