import { randomUUID } from "node:crypto";
import { noUsage, type Finish, type Message, type Part, type Reply, type Usage } from "../../protocol/facts/message.ts";
import type { Effort } from "../../protocol/host/options.ts";
import type { ImagePart } from "../../protocol/image.ts";
import { showImages, takesFiles, takesImages, type LoadImage, type ShownImage } from "../images.ts";
import type { Model, ModelRequest, ModelScope } from "../model.ts";
import { createAssembly, cutShort, streamError } from "./assembly.ts";
import { type WireOptions, createPost } from "./post.ts";
import { createWritten, createWrittenTools, isBlank, joinBody } from "./written.ts";

export const GOOGLE_URL = "https://generativelanguage.googleapis.com/v1beta";

export function google(options: WireOptions): Model {
  const { modelId, baseURL = GOOGLE_URL, apiKey = "", name = "google", headers, idleTimeoutMs, env } = options;
  const { images: takes = takesImages(modelId), files = takesFiles(modelId) } = options;
  const id = `${name}/${modelId}`;
  const post = createPost({
    url: `${baseURL.replace(/\/+$/, "")}/models/${encodeURIComponent(modelId)}:streamGenerateContent?alt=sse`,
    headers: { "x-goog-api-key": apiKey, ...headers },
    idleTimeoutMs,
    env,
  });
  const write = createWritten((message, load) => written(message, { id, takes, files, load }));
  const tools = createWrittenTools((offers) => [
    {
      functionDeclarations: offers.map(({ name: tool, description, inputSchema }) => ({
        name: tool,
        description,
        parametersJsonSchema: inputSchema,
      })),
    },
  ]);
  return {
    id,
    async reply(request, scope) {
      const { system, tools: offers } = request;
      const body = joinBody(
        { generationConfig: generation(modelId, request.options) },
        {
          systemInstruction: system === "" ? undefined : JSON.stringify({ parts: [{ text: system }] }),
          contents: contents(write(request)),
          tools: offers.length > 0 ? tools(offers) : undefined,
        },
      );
      const reader = createReader(scope);
      await post(body, reader.read, scope.signal);
      return reader.end(id);
    },
  };
}

function generation(modelId: string, options: ModelRequest["options"]): object {
  const { maxOutputTokens, temperature, thinkingTokens, effort } = options;
  return { maxOutputTokens, temperature, ...thinking(modelId, thinkingTokens, effort) };
}

const budgets: Record<Effort, number> = { low: 1_024, medium: 8_192, high: 24_576 };

/** Gemini 2.5 takes a token budget, later models a level; earlier ones and Gemma do not think and reject the parameter. */
function thinking(modelId: string, tokens: number | undefined, effort: Effort | undefined): object {
  const [, major = "", minor = "0"] = /gemini-(\d+)(?:\.(\d+))?/.exec(modelId) ?? [];
  if (!modelId.includes("gemini") || (major !== "" && Number(major) < 3 && minor !== "5")) return {};
  const budget = tokens ?? (effort && budgets[effort]);
  const told =
    major === "2"
      ? budget !== undefined && { thinkingBudget: budget }
      : tokens === undefined
        ? effort && { thinkingLevel: effort }
        : { thinkingBudget: tokens };
  return { thinkingConfig: { includeThoughts: true, ...told } };
}

type Written = { role: "user" | "model"; parts: string[] };
type Writing = { id: string; takes: boolean; files: boolean; load: LoadImage | undefined };

/** Messages of one role in a row are one. */
function contents(all: readonly Written[]): string {
  const groups: Written[] = [];
  for (const { role, parts } of all) {
    if (parts.length === 0) continue;
    const group = groups.at(-1);
    if (group?.role === role) group.parts.push(...parts);
    else groups.push({ role, parts: [...parts] });
  }
  return `[${groups.map(({ role, parts }) => `{"role":"${role}","parts":[${parts.join(",")}]}`).join(",")}]`;
}

function written(message: Message, writing: Writing): Written {
  const role = message.role === "assistant" ? "model" : "user";
  return { role, parts: writeParts(message, writing).map((part) => JSON.stringify(part)) };
}

function writeParts(message: Message, { id, ...seeing }: Writing): object[] {
  const pictures = (images: readonly ImagePart[] | undefined) => showImages(images, seeing).map(inline);
  switch (message.role) {
    case "user":
      return [...pictures(message.images), ...(isBlank(message.text) ? [] : [{ text: message.text }])];
    case "assistant":
      return message.parts.flatMap((part) => writePart(part, message.model === id));
    case "tool":
      return message.results.flatMap(({ tool, result }) => [
        { functionResponse: { name: tool, response: result.ok ? { output: result.text } : { error: result.text } } },
        ...(result.ok ? pictures(result.images) : []),
      ]);
    default:
      return message satisfies never;
  }
}

function inline(image: ShownImage): object {
  return image.type === "text" ? { text: image.text } : { inlineData: { mimeType: image.mime, data: image.data } };
}

/** Thoughts are not sent back, only their signatures, and only to the model that issued them. */
function writePart(part: Part, isOwn: boolean): object[] {
  const signature = isOwn ? part.metadata?.["google"]?.["thoughtSignature"] : undefined;
  const signed = typeof signature === "string" ? { thoughtSignature: signature } : {};
  switch (part.type) {
    case "text":
      return isBlank(part.text) ? [] : [{ text: part.text, ...signed }];
    case "call":
      return [{ functionCall: { name: part.tool, args: part.input }, ...signed }];
    case "reasoning":
      return [];
    default:
      return part satisfies never;
  }
}

type Chunk = {
  error?: { message?: string; code?: number };
  promptFeedback?: { blockReason?: string | null } | null;
  usageMetadata?: {
    promptTokenCount?: number | null;
    candidatesTokenCount?: number | null;
    thoughtsTokenCount?: number | null;
    cachedContentTokenCount?: number | null;
  } | null;
  candidates?: {
    finishReason?: string | null;
    finishMessage?: string | null;
    content?: { parts?: ServedPart[] | null } | null;
  }[];
};

type ServedPart = {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name?: string; args?: unknown };
};

const finishes: Record<string, Finish> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "filtered",
  RECITATION: "filtered",
  LANGUAGE: "filtered",
  BLOCKLIST: "filtered",
  PROHIBITED_CONTENT: "filtered",
  SPII: "filtered",
  IMAGE_SAFETY: "filtered",
};

/** The model wrote a call that nobody could read: it may do better the next time. */
const unreadable: ReadonlySet<string> = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]);

function createReader(scope: ModelScope) {
  const assembly = createAssembly(scope);
  let speaking: { type: "text" | "reasoning"; id: string } | undefined;
  let parts = 0;
  let finish: Finish | undefined;
  let usage: Usage = noUsage;
  let isNameless = false;

  const speak = (type: "text" | "reasoning", { text = "", thoughtSignature }: ServedPart) => {
    if (speaking?.type !== type) {
      speaking = { type, id: `${type}${parts++}` };
      assembly.begin(type, speaking.id);
    }
    assembly.extend(speaking.id, text);
    if (thoughtSignature !== undefined) {
      assembly.mark(speaking.id, { google: { thoughtSignature } });
      speaking = undefined; // a signature belongs to the words before it
    }
  };
  const take = (part: ServedPart) => {
    const { functionCall: call, thoughtSignature } = part;
    if (!call) return part.text === undefined ? undefined : speak(part.thought === true ? "reasoning" : "text", part);
    speaking = undefined;
    if (!call.name) return (isNameless = true);
    const place = `call${parts++}`;
    const metadata = thoughtSignature === undefined ? undefined : { google: { thoughtSignature } };
    assembly.beginCall(place, { id: call.id ?? randomUUID(), tool: call.name, metadata });
    assembly.extendCall(place, call.args === undefined ? "" : JSON.stringify(call.args));
    return undefined;
  };

  return {
    read(data: unknown): void {
      const { error, promptFeedback, usageMetadata: used, candidates: [candidate] = [] } = data as Chunk;
      if (error) throw streamError(error.message, error.code);
      if (used)
        usage = {
          ...noUsage,
          inputTokens: used.promptTokenCount ?? 0,
          outputTokens: (used.candidatesTokenCount ?? 0) + (used.thoughtsTokenCount ?? 0),
          cacheReadTokens: used.cachedContentTokenCount ?? 0,
        };
      if (promptFeedback?.blockReason) finish = "filtered";
      for (const part of candidate?.content?.parts ?? []) take(part);
      const said = candidate?.finishReason;
      if (said && unreadable.has(said)) throw streamError(candidate.finishMessage ?? said, undefined);
      if (said) finish = finishes[said] ?? "other";
    },
    end(model: string): Reply {
      if (finish === undefined || isNameless) throw cutShort();
      return assembly.end(finish, usage, model);
    },
  };
}
