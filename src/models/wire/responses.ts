import type { Finish, Message, Part, ProviderMetadata, Reply, Usage } from "../../protocol/facts/message.ts";
import { noUsage } from "../../protocol/facts/message.ts";
import type { ImagePart } from "../../protocol/image.ts";
import type { Model, ModelScope } from "../model.ts";
import { createAssembly, cutShort, streamError } from "./assembly.ts";
import { showImages, takesFiles, takesImages, type LoadImage, type ShownImage } from "../images.ts";
import { type WireOptions, createPost, withCacheKey } from "./post.ts";
import { createWrittenBytes, createWrittenTools, isBlank, joinBody, joinList } from "./written.ts";

/** OpenAI itself, whose newer models take tools only here; others' servers: chat.ts. `baseURL` goes up to and includes /v1. */
export function responses(options: WireOptions): Model {
  const { modelId, baseURL = "https://api.openai.com/v1", apiKey = "", name: provider = "openai" } = options;
  const { headers, idleTimeoutMs, env, images: takes = takesImages(modelId), files = takesFiles(modelId) } = options;
  const id = `${provider}/${modelId}`;
  const post = createPost({
    url: `${baseURL.replace(/\/+$/, "")}/responses`,
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    idleTimeoutMs,
    env,
  });
  const write = createWrittenBytes((message, load) => itemsOf(message, { id, takes, files, load }));
  const tools = createWrittenTools((offers) =>
    offers.map(({ name, description, inputSchema }) => ({
      type: "function",
      name,
      description,
      parameters: inputSchema,
      strict: false,
    })),
  );
  const reasons = isReasoning(modelId);
  return {
    id,
    async reply({ system, messages, image, tools: offers, options: asked, cacheKey }, scope) {
      const role = reasons ? "developer" : "system";
      const first = system === "" ? undefined : JSON.stringify({ role, content: system });
      const body = joinBody(
        {
          model: modelId,
          temperature: reasons ? undefined : asked.temperature,
          max_output_tokens: asked.maxOutputTokens,
          // The conversation is ours and stays on this machine: nothing is kept there, so reasoning travels with it, sealed.
          store: false,
          include: ["reasoning.encrypted_content"],
          ...withCacheKey(baseURL, cacheKey),
          ...(reasons && { reasoning: { summary: "auto", effort: asked.effort } }),
          stream: true,
        },
        {
          input: joinList(first, write({ messages, ...(image && { image }) })),
          tools: offers.length > 0 ? tools(offers) : undefined,
        },
      );
      const reader = createReader(scope);
      await post(body, reader.read, scope.signal);
      return reader.end(id);
    },
  };
}

/** Models that think first: they take no temperature, and a developer's words in place of a system's. */
function isReasoning(modelId: string): boolean {
  if (/^o\d/.test(modelId)) return true;
  const [, major = "0", rest = ""] = /^gpt-(\d+)(.*)$/.exec(modelId) ?? [];
  return Number(major) >= 5 && !rest.startsWith("-chat");
}

type Writing = { id: string; takes: boolean; files: boolean; load: LoadImage | undefined };

function itemsOf(message: Message, { id, ...seeing }: Writing): object[] {
  const pictures = (images: readonly ImagePart[] | undefined) => showImages(images, seeing).map(imageContent);
  switch (message.role) {
    case "user": {
      const words = isBlank(message.text) ? [] : [{ type: "input_text", text: message.text }];
      const content = [...words, ...pictures(message.images)];
      return content.length === 0 ? [] : [{ role: "user", content }];
    }
    case "assistant":
      return message.parts.flatMap((part, n) => itemOf(part, message.parts.slice(0, n), message, id));
    case "tool":
      return message.results.map(({ call, result: { ok, text, images } }) => ({
        type: "function_call_output",
        call_id: call,
        output: !ok
          ? JSON.stringify({ error: text })
          : images
            ? [{ type: "input_text", text }, ...pictures(images)]
            : text,
      }));
    default:
      return message satisfies never;
  }
}

function imageContent(image: ShownImage): object {
  if (image.type === "text") return { type: "input_text", text: image.text };
  const url = `data:${image.mime};base64,${image.data}`;
  return image.type === "file"
    ? { type: "input_file", filename: image.name, file_data: url }
    : { type: "input_image", image_url: url, detail: "auto" };
}

function itemOf(part: Part, before: readonly Part[], message: Message & { role: "assistant" }, id: string): object[] {
  const { itemId, phase } = ownData(part);
  switch (part.type) {
    case "text":
      if (isBlank(part.text)) return [];
      return [{ role: "assistant", content: part.text, ...(phase !== undefined && { phase }) }];
    case "call":
      return [{ type: "function_call", call_id: part.id, name: part.tool, arguments: JSON.stringify(part.input) }];
    case "reasoning": {
      // Several summaries of one thought are one item.
      const isContinued = itemId !== undefined && before.some((other) => ownData(other).itemId === itemId);
      if (message.model !== id || isContinued) return [];
      const all = itemId === undefined ? [part] : message.parts.filter((other) => ownData(other).itemId === itemId);
      const sealed = all
        .map((other) => ownData(other).reasoningEncryptedContent)
        .findLast((text) => typeof text === "string");
      if (sealed === undefined) return [];
      const summary = all.flatMap((other) =>
        other.type === "reasoning" && other.text !== "" ? [{ type: "summary_text", text: other.text }] : [],
      );
      return [{ type: "reasoning", ...(itemId !== undefined && { id: itemId }), encrypted_content: sealed, summary }];
    }
    default:
      return part satisfies never;
  }
}

type OwnData = { itemId?: string; phase?: string; reasoningEncryptedContent?: string | null };

function ownData({ metadata }: Part): OwnData {
  return metadata?.["openai"] ?? {};
}

type Item = {
  type: string;
  id: string;
  phase?: string | null;
  call_id?: string;
  name?: string;
  arguments?: string;
  encrypted_content?: string | null;
};

type StreamEvent = {
  type: string;
  item?: Item;
  item_id?: string;
  summary_index?: number;
  delta?: string;
  message?: string;
  code?: string | null;
  error?: StreamFailure;
  response?: {
    error?: StreamFailure | null;
    incomplete_details?: { reason?: string } | null;
    usage?: {
      input_tokens?: number;
      output_tokens?: number;
      input_tokens_details?: { cached_tokens?: number } | null;
    } | null;
  };
};

type StreamFailure = { message?: string; type?: string | null; code?: string | number | null };

function createReader(scope: ModelScope) {
  const assembly = createAssembly(scope);
  let end: { finish: Finish; usage: Usage } | undefined;
  let isRefused = false;
  let calls = 0;
  const thoughts = new Map<string, string[]>();

  const sealed = ({ id, encrypted_content: content = null }: Item): ProviderMetadata => ({
    openai: { itemId: id, reasoningEncryptedContent: content },
  });
  const said = ({ id, phase }: Item): ProviderMetadata => ({
    openai: { itemId: id, ...(typeof phase === "string" && { phase }) },
  });
  const beginThought = (itemId: string, summary: number, metadata: ProviderMetadata) => {
    const place = `${itemId}:${summary}`;
    const places = thoughts.get(itemId) ?? [];
    if (places.includes(place)) return;
    thoughts.set(itemId, [...places, place]);
    assembly.begin("reasoning", place, metadata);
  };
  const added = (item: Item) => {
    if (item.type === "message") assembly.begin("text", item.id, said(item));
    if (item.type === "reasoning") beginThought(item.id, 0, sealed(item));
  };
  const done = (item: Item) => {
    if (item.type === "message") assembly.mark(item.id, said(item));
    for (const place of thoughts.get(item.id) ?? []) assembly.mark(place, sealed(item));
    if (item.type !== "function_call") return;
    calls++;
    const metadata = { openai: { itemId: item.id } };
    assembly.beginCall(item.id, { id: item.call_id ?? item.id, tool: item.name ?? "", metadata });
    assembly.extendCall(item.id, item.arguments ?? "");
  };

  return {
    read(data: unknown): void {
      const event = data as StreamEvent;
      const { item, item_id: id = "", delta = "", response } = event;
      switch (event.type) {
        case "response.output_item.added":
          if (item) added(item);
          break;
        case "response.output_item.done":
          if (item) done(item);
          break;
        case "response.refusal.delta":
          isRefused = true;
          assembly.extend(id, delta);
          break;
        case "response.output_text.delta":
          assembly.extend(id, delta);
          break;
        case "response.reasoning_summary_part.added":
          beginThought(id, event.summary_index ?? 0, { openai: { itemId: id, reasoningEncryptedContent: null } });
          break;
        case "response.reasoning_summary_text.delta":
          assembly.extend(`${id}:${event.summary_index ?? 0}`, delta);
          break;
        case "response.completed":
        case "response.incomplete":
          end = {
            finish: readFinish(response?.incomplete_details?.reason, calls > 0, isRefused),
            usage: readUsage(event),
          };
          break;
        case "response.failed":
          throw failure(response?.error ?? {});
        case "error":
          throw failure(
            event.error ?? { ...(event.message !== undefined && { message: event.message }), code: event.code ?? null },
          );
        default: // New kinds of events appear all the time.
      }
    },
    end(model: string): Reply {
      if (!end) throw cutShort();
      return assembly.end(end.finish, end.usage, model);
    },
  };
}

function readFinish(reason: string | undefined, hasCalls: boolean, isRefused: boolean): Finish {
  switch (reason) {
    case undefined:
      return hasCalls ? "calls" : isRefused ? "filtered" : "stop";
    case "max_output_tokens":
      return "length";
    case "content_filter":
      return "filtered";
    default:
      return hasCalls ? "calls" : "other";
  }
}

function readUsage({ response }: StreamEvent): Usage {
  const { input_tokens = 0, output_tokens = 0, input_tokens_details: details } = response?.usage ?? {};
  return {
    ...noUsage,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    cacheReadTokens: details?.cached_tokens ?? 0,
  };
}

/** Errors inside of a stream have a name and no status. */
const statuses: readonly [RegExp, number][] = [
  [/insufficient_quota/, 403],
  [/rate_limit/, 429],
  [/context_length|invalid|bad_request/, 400],
  [/authentication|api_key/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/overload/, 503],
  [/timeout/, 504],
];

function failure({ message, type, code }: StreamFailure): Error {
  if (typeof code === "number") return streamError(message, code);
  const name = `${type ?? ""} ${code ?? ""}`;
  return streamError(message, statuses.find(([pattern]) => pattern.test(name))?.[1]);
}
