import { noUsage, type Finish, type Message, type Part, type Reply, type Usage } from "../../protocol/facts/message.ts";
import type { Effort } from "../../protocol/host/options.ts";
import type { ImagePart } from "../../protocol/image.ts";
import type { Model, ModelRequest, ModelScope } from "../model.ts";
import { createAssembly, cutShort, streamError } from "./assembly.ts";
import { type WireOptions, createPost } from "./post.ts";
import { showImages, takesFiles, takesImages, type LoadImage, type ShownImage } from "../images.ts";
import { createWritten, createWrittenTools, isBlank, joinBody } from "./written.ts";

/** Anthropic's Messages. `baseURL` is with or without the final /v1: Anthropic's own tools leave it out. */
export function anthropic(options: WireOptions): Model {
  const { modelId, baseURL = "https://api.anthropic.com", apiKey = "", name = "anthropic" } = options;
  const { headers, idleTimeoutMs, env, images: takes = takesImages(modelId), files = takesFiles(modelId) } = options;
  const id = `${name}/${modelId}`;
  const post = createPost({
    url: `${baseURL.replace(/(\/v1)?\/*$/, "/v1")}/messages`,
    headers: {
      "anthropic-version": "2023-06-01",
      "x-api-key": apiKey,
      // Later models think between calls by themselves.
      ...(thinksByDefault(modelId) &&
        claudeOf(modelId).budget && { "anthropic-beta": "interleaved-thinking-2025-05-14" }),
      ...headers,
    },
    idleTimeoutMs,
    env,
  });
  const write = createWritten((message, load) => written(message, { id, takes, files, load }));
  const tools = createWrittenTools((offers) =>
    offers.map(({ name: tool, description, inputSchema }, n) => ({
      name: tool,
      description,
      input_schema: inputSchema,
      ...(n === offers.length - 1 && cached),
    })),
  );
  return {
    id,
    async reply(request, scope) {
      const all = write(request).filter(({ blocks }) => blocks.length > 0);
      const { system, tools: offers } = request;
      const body = joinBody(
        {
          model: modelId,
          ...limits(modelId, request.options, { mayThinkNow: mayThink(all), works: offers.length > 0 }),
        },
        {
          system: system === "" ? undefined : JSON.stringify([{ type: "text", text: system, ...cached }]),
          messages: conversation(all, request.fleeting),
          tools: offers.length > 0 ? tools(offers) : undefined,
          stream: "true",
        },
      );
      const reader = createReader(scope);
      await post(body, reader.read, scope.signal);
      return reader.end(id);
    },
  };
}

const cached = { cache_control: { type: "ephemeral" } };

function limits(
  modelId: string,
  { maxOutputTokens, temperature, effort, thinkingTokens }: ModelRequest["options"],
  { mayThinkNow, works }: { mayThinkNow: boolean; works: boolean },
) {
  const claude = claudeOf(modelId);
  // A summary or a title is no work; and a temperature, or 0 tokens, says that no thinking is wanted.
  const byDefault = works && [effort, thinkingTokens, temperature].every((given) => given === undefined);
  const thinksAnyway = byDefault && thinksByDefault(modelId);
  const tokensToThink = thinkingTokens ?? (thinksAnyway ? budgets.medium : 0);
  const asked = tokensToThink === 0 && effort !== undefined && thinksAtAll(modelId) ? effort : undefined;
  const budget = asked ? Math.min(budgets[asked], Math.floor(claude.output / 2)) : tokensToThink;
  const thinks = budget > 0 && mayThinkNow;
  // Thinking comes out of the same limit as the reply.
  const tokens = (maxOutputTokens ?? claude.output) + (thinks && claude.budget ? budget : 0);
  return {
    max_tokens: claude.isKnown ? Math.min(tokens, claude.output) : tokens,
    ...(temperature !== undefined &&
      claude.temperature &&
      !thinks && { temperature: Math.min(Math.max(temperature, 0), 1) }),
    ...(thinks && {
      thinking: claude.budget ? { type: "enabled", budget_tokens: budget } : { type: "adaptive" },
    }),
    ...(asked && !claude.budget && { output_config: { effort: asked } }),
  };
}

const budgets: Record<Effort, number> = { low: 4_000, medium: 16_000, high: 32_000 };

/** Thinking is refused while the results of a call are handed over that was made without it, or by another model. */
function mayThink(all: readonly Written[]): boolean {
  const last = all.findLast(({ role }) => role === "assistant")?.blocks ?? [];
  return !last.some(isCall) || isThinking(last[0] ?? "");
}

/** A message as the blocks of its content, each of them JSON already. */
type Written = { role: "user" | "assistant"; blocks: string[] };

type Writing = { id: string; takes: boolean; files: boolean; load: LoadImage | undefined };

function written(message: Message, writing: Writing): Written {
  const role = message.role === "assistant" ? "assistant" : "user";
  return { role, blocks: blocksOf(message, writing).map((block) => JSON.stringify(block)) };
}

function blocksOf(message: Message, { id, ...seeing }: Writing): object[] {
  const pictures = (images: readonly ImagePart[] | undefined) => showImages(images, seeing).map(imageBlock);
  switch (message.role) {
    case "user":
      return [...pictures(message.images), ...(isBlank(message.text) ? [] : [{ type: "text", text: message.text }])];
    case "assistant":
      return message.parts.flatMap((part) => (part.type === "reasoning" && message.model !== id ? [] : blockOf(part)));
    case "tool":
      return message.results.map(({ call, result: { ok, text, images } }) => ({
        type: "tool_result",
        tool_use_id: callId(call),
        content: ok && images ? [{ type: "text", text }, ...pictures(images)] : text,
        ...(!ok && { is_error: true }),
      }));
    default:
      return message satisfies never;
  }
}

function imageBlock(image: ShownImage): object {
  if (image.type === "text") return image;
  const source = { type: "base64", media_type: image.mime, data: image.data };
  return image.type === "file" ? { type: "document", source, title: image.name } : { type: "image", source };
}

function blockOf(part: Part): object[] {
  switch (part.type) {
    case "text":
      return isBlank(part.text) ? [] : [{ type: "text", text: part.text }];
    case "call":
      return [{ type: "tool_use", id: callId(part.id), name: part.tool, input: part.input }];
    case "reasoning": {
      const { signature, redactedData } = part.metadata?.["anthropic"] ?? {};
      if (signature !== undefined) return [{ type: "thinking", thinking: part.text, signature }];
      return redactedData === undefined ? [] : [{ type: "redacted_thinking", data: redactedData }];
    }
    default:
      return part satisfies never;
  }
}

/** Call ids of another provider in the form this one accepts. */
function callId(id: string): string {
  return id.replace(/[^\w-]/g, "_");
}

/** Of four cache breakpoints: tools, system, this prompt's end and the last one's, where this prompt meets the cache. Joins equal roles. */
function conversation(all: readonly Written[], fleeting = 0): string {
  const end = all.length - 1 - fleeting;
  const previousEnd = all.findLastIndex(({ role }) => role === "assistant") - 1;
  const groups: { role: string; blocks: string[] }[] = [];
  for (const [n, { role, blocks }] of all.entries()) {
    const marked =
      n === end || n === previousEnd ? [...blocks.slice(0, -1), withBreakpoint(blocks.at(-1) ?? "")] : blocks;
    const group = groups.at(-1);
    if (group?.role === role) group.blocks.push(...marked);
    else groups.push({ role, blocks: [...marked] });
  }
  return `[${groups.map(({ role, blocks }) => `{"role":"${role}","content":[${callsLast(blocks).join(",")}]}`).join(",")}]`;
}

/** Results must follow their calls at once, so words that came after a call go before it. Thinking stays where it was. */
function callsLast(blocks: readonly string[]): string[] {
  const sorted: string[] = [];
  let calls: string[] = [];
  for (const block of blocks) {
    if (isCall(block)) calls.push(block);
    else if (isThinking(block)) {
      sorted.push(...calls, block);
      calls = [];
    } else sorted.push(block);
  }
  return [...sorted, ...calls];
}

/** Thinking takes none. */
function withBreakpoint(block: string): string {
  return isThinking(block) ? block : `${block.slice(0, -1)},${JSON.stringify(cached).slice(1)}`;
}

function isCall(block: string): boolean {
  return block.startsWith('{"type":"tool_use"');
}

function isThinking(block: string): boolean {
  return /^\{"type":"(redacted_)?thinking"/.test(block);
}

type Tokens = {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
};

type StreamEvent = {
  type: string;
  index?: number;
  message?: { usage?: Tokens };
  usage?: Tokens;
  content_block?: {
    type: string;
    id?: string;
    name?: string;
    input?: object;
    text?: string;
    thinking?: string;
    data?: string;
  };
  delta?: {
    type?: string;
    text?: string;
    thinking?: string;
    signature?: string;
    partial_json?: string;
    stop_reason?: string | null;
  };
  error?: { type?: string; message?: string };
};

const finishes: Record<string, Finish> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "filtered",
};

function createReader(scope: ModelScope) {
  const assembly = createAssembly(scope);
  let used: Tokens = {};
  let finish: Finish | undefined;
  let isOver = false;
  /** Arguments that came with the beginning of a call: they count unless the call's own stream brings some. */
  const given = new Map<number, string>();

  const begin = (index: number, block: NonNullable<StreamEvent["content_block"]>) => {
    if (block.type === "text") assembly.begin("text", index);
    else if (block.type === "thinking") assembly.begin("reasoning", index);
    else if (block.type === "redacted_thinking")
      assembly.begin("reasoning", index, { anthropic: { redactedData: block.data } });
    else if (block.type === "tool_use") {
      assembly.beginCall(index, { id: block.id ?? "", tool: block.name ?? "" });
      if (Object.keys(block.input ?? {}).length > 0) given.set(index, JSON.stringify(block.input));
    }
    assembly.extend(index, block.text ?? block.thinking ?? "");
  };
  const extend = (index: number, delta: NonNullable<StreamEvent["delta"]>) => {
    if (delta.signature !== undefined) assembly.mark(index, { anthropic: { signature: delta.signature } });
    if (delta.partial_json !== undefined && delta.partial_json !== "") given.delete(index);
    assembly.extendCall(index, delta.partial_json ?? "");
    assembly.extend(index, delta.text ?? delta.thinking ?? "");
  };

  return {
    read(data: unknown): void {
      const { type, index = 0, message, usage, content_block: block, delta, error } = data as StreamEvent;
      switch (type) {
        case "message_start":
          used = { ...message?.usage };
          break;
        case "content_block_start":
          if (block) begin(index, block);
          break;
        case "content_block_delta":
          if (delta) extend(index, delta);
          break;
        case "content_block_stop":
          assembly.extendCall(index, given.get(index) ?? "");
          break;
        case "message_delta":
          for (const [name, count] of Object.entries(usage ?? {}))
            if (typeof count === "number") used = { ...used, [name]: count };
          if (delta?.stop_reason) finish = finishes[delta.stop_reason] ?? "other";
          break;
        case "message_stop":
          isOver = true;
          break;
        case "error":
          throw streamError(error?.message, statuses[error?.type ?? ""]);
        default: // New kinds of events appear all the time.
      }
    },
    end(model: string): Reply {
      if (!isOver || finish === undefined) throw cutShort();
      return assembly.end(finish, readUsage(used), model);
    },
  };
}

/** Cached tokens are counted separately from the rest of the input. */
function readUsage(used: Tokens): Usage {
  const cacheReadTokens = used.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = used.cache_creation_input_tokens ?? 0;
  return {
    ...noUsage,
    inputTokens: (used.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: used.output_tokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

/** Errors inside of a stream have a name and no status. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** Limits of a model. `output`: tokens of one reply. `budget`: thinking is told how long it may be, else the model decides. */
type Claude = { output: number; temperature: boolean; budget: boolean; isKnown: boolean };

const newest: Claude = { output: 128_000, temperature: false, budget: false, isKnown: true };

/** Claude models by a pattern of their name; the first that fits counts. */
const claudes: readonly [RegExp, Claude][] = [
  [/claude-(sonnet|opus|haiku)-5-5|claude-fable-5/, newest],
  [/claude-(sonnet|opus)-5|claude-opus-4-[78]/, { ...newest, budget: true }],
  [/claude-(sonnet|opus)-4-6/, { ...newest, budget: true, temperature: true }],
  [
    /claude-(sonnet|opus|haiku)-4-5|claude-sonnet-4[-@]/,
    { output: 64_000, temperature: true, budget: true, isKnown: true },
  ],
  [/claude-opus-4[-@]/, { output: 32_000, temperature: true, budget: true, isKnown: true }],
  [/claude-3-haiku/, { output: 4_096, temperature: true, budget: true, isKnown: true }],
  [/claude-(instant|v?[23])([-.:]|$)/, { output: 4_096, temperature: true, budget: true, isKnown: false }],
  [/claude-/, { ...newest, budget: true, isKnown: false }],
];

/** Servers that only speak Anthropic's format have models of other names, and limits that nobody knows. */
function claudeOf(modelId: string): Claude {
  const other: Claude = { output: 4_096, temperature: true, budget: true, isKnown: false };
  return claudes.find(([name]) => name.test(modelId))?.[1] ?? other;
}

function thinksByDefault(modelId: string): boolean {
  return claudeOf(modelId).isKnown && thinksAtAll(modelId);
}

/** Earlier models reject a thinking parameter. */
function thinksAtAll(modelId: string): boolean {
  return !/claude-(instant|v?2|3-(haiku|opus|sonnet|5))/.test(modelId);
}
