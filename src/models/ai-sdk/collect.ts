import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { Call, Finish, Part, ProviderMetadata, Reply, Usage } from "../../protocol/facts/message.ts";
import type { ModelScope } from "../model.ts";
import { cutShort, parseInput, settle } from "../wire/assembly.ts";

type Spoken = Exclude<Part, Call>;
type Piece = { id: string; delta?: string; providerMetadata?: ProviderMetadata };

/** A stream as a whole reply, shown while it comes. */
export async function collect(
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
