import { callsOf, noUsage, type Finish, type Message, type Reply, type Usage } from "../../protocol/facts/message.ts";
import type { Model, ModelScope } from "../model.ts";
import { createAssembly, cutShort, streamError } from "./assembly.ts";
import { showImages, takesFiles, takesImages, type LoadImage, type ShownImage } from "../images.ts";
import { type WireOptions, createPost, withCacheKey } from "./post.ts";
import { createWrittenBytes, createWrittenTools, isBlank, joinBody, joinList } from "./written.ts";

/** OpenAI's Chat Completions, which a great many servers speak. `baseURL` goes up to and includes /v1. */
export function openai(given: WireOptions & { baseURL: string }): Model {
  const { modelId, baseURL, apiKey, name = "openai", headers, idleTimeoutMs, env } = given;
  const { images: takes = takesImages(modelId), files = takesFiles(modelId) } = given;
  const id = `${name}/${modelId}`;
  const post = createPost({
    url: `${baseURL.replace(/\/+$/, "")}/chat/completions`,
    headers: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...headers },
    idleTimeoutMs,
    env,
  });
  const write = createWrittenBytes((message, load) => messagesOf(message, { id, provider: name, takes, files, load }));
  const tools = createWrittenTools((offers) =>
    offers.map(({ name: tool, description, inputSchema }) => ({
      type: "function",
      function: { name: tool, description, parameters: inputSchema },
    })),
  );
  return {
    id,
    async reply({ system, messages, image, tools: offers, options, cacheKey }, scope) {
      const { maxOutputTokens: max_tokens, temperature, effort: reasoning_effort } = options;
      const first = system === "" ? undefined : JSON.stringify({ role: "system", content: system });
      const body = joinBody(
        {
          model: modelId,
          max_tokens,
          temperature,
          reasoning_effort,
          ...withCacheKey(baseURL, cacheKey),
          stream: true,
          stream_options: { include_usage: true },
        },
        {
          messages: joinList(first, write({ messages, ...(image && { image }) })),
          tools: offers.length > 0 ? tools(offers) : undefined,
        },
      );
      const reader = createReader(scope, name);
      await post(body, reader.read, scope.signal);
      return reader.end(id);
    },
  };
}

type Writing = { id: string; provider: string; takes: boolean; files: boolean; load: LoadImage | undefined };

function messagesOf(message: Message, { id, provider, ...seeing }: Writing): object[] {
  switch (message.role) {
    case "user": {
      const pictures = showImages(message.images, seeing).map(imageContent);
      const words = isBlank(message.text) ? [] : [{ type: "text", text: message.text }];
      if (pictures.length > 0) return [{ role: "user", content: [...words, ...pictures] }];
      return words.map(({ text }) => ({ role: "user", content: text }));
    }
    case "assistant": {
      const spoken = (type: "text" | "reasoning") =>
        message.parts
          .flatMap((part) => (part.type === type && !(type === "text" && isBlank(part.text)) ? part.text : []))
          .join("");
      const text = spoken("text");
      const reasoning = message.model === id ? spoken("reasoning") : "";
      const calls = callsOf(message).map(({ id: call, tool, input, metadata }) => {
        const signature = metadata?.[provider]?.["thoughtSignature"] ?? metadata?.["google"]?.["thoughtSignature"];
        return {
          id: call,
          type: "function",
          function: { name: tool, arguments: JSON.stringify(input) },
          ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
        };
      });
      // Nothing is left of a reply that was only another model's reasoning, and servers refuse empty messages.
      if (text === "" && reasoning === "" && calls.length === 0) return [];
      return [
        {
          role: "assistant",
          content: calls.length > 0 ? text || null : text,
          ...(reasoning !== "" && { reasoning_content: reasoning }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
      ];
    }
    case "tool":
      return [
        ...message.results.map(({ call, result }) => ({ role: "tool", tool_call_id: call, content: result.text })),
        ...resultImages(message, seeing),
      ];
    default:
      return message satisfies never;
  }
}

/** A result here is text alone, so its pictures follow in a message of their own. */
function resultImages(
  message: Message & { role: "tool" },
  seeing: Pick<Writing, "takes" | "files" | "load">,
): object[] {
  const images = message.results.flatMap(({ result }) => (result.ok ? (result.images ?? []) : []));
  if (images.length === 0) return [];
  const lead = { type: "text", text: "(From Sage, not from the person: the pictures of the results above, in order.)" };
  return [{ role: "user", content: [lead, ...showImages(images, seeing).map(imageContent)] }];
}

function imageContent(image: ShownImage): object {
  if (image.type === "text") return image;
  const url = `data:${image.mime};base64,${image.data}`;
  return image.type === "file"
    ? { type: "file", file: { filename: image.name, file_data: url } }
    : { type: "image_url", image_url: { url } };
}

type CallDelta = {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | null } | null;
  extra_content?: { google?: { thought_signature?: string | null } | null } | null;
};

type Chunk = {
  error?: { message?: string; code?: unknown };
  usage?: {
    prompt_tokens?: number | null;
    completion_tokens?: number | null;
    prompt_tokens_details?: { cached_tokens?: number | null } | null;
  } | null;
  choices?: {
    finish_reason?: string | null;
    delta?: {
      content?: string | null;
      refusal?: string | null;
      reasoning_content?: string | null;
      reasoning?: string | null;
      tool_calls?: CallDelta[] | null;
    } | null;
  }[];
};

const finishes: Record<string, Finish> = {
  stop: "stop",
  length: "length",
  content_filter: "filtered",
  tool_calls: "calls",
  function_call: "calls",
};

/** `early`: arguments that came before the name. */
type OpenCall = { id: string; place: string; name: string; early: string };

function createReader(scope: ModelScope, provider: string) {
  const assembly = createAssembly(scope);
  let speaking: { type: "text" | "reasoning"; id: string } | undefined;
  let parts = 0;
  let finish: Finish | undefined;
  let usage: Usage = noUsage;
  let isRefused = false;
  const calls: OpenCall[] = [];
  const byIndex = new Map<number, OpenCall>();

  const speak = (type: "text" | "reasoning", delta: string) => {
    if (speaking?.type !== type) {
      speaking = { type, id: `${type}${parts++}` };
      assembly.begin(type, speaking.id);
    }
    assembly.extend(speaking.id, delta);
  };
  const takeCall = ({ index, id, function: said, extra_content: extra }: CallDelta) => {
    let call =
      typeof index === "number" ? byIndex.get(index) : id ? calls.find((known) => known.id === id) : calls.at(-1);
    // Some servers number every call of a reply 0: another id is another call.
    if (!call || (id && call.id !== "" && call.id !== id))
      calls.push((call = { id: "", place: `call${parts++}`, name: "", early: "" }));
    if (typeof index === "number") byIndex.set(index, call);
    call.id ||= id ?? "";
    const text = said?.arguments ?? "";
    if (call.name !== "") return assembly.extendCall(call.place, text);
    call.early += text;
    if (!said?.name) return;
    call.name = said.name;
    const signature = extra?.google?.thought_signature;
    const metadata = signature ? { [provider]: { thoughtSignature: signature } } : undefined;
    assembly.beginCall(call.place, { id: call.id || call.place, tool: call.name, metadata });
    assembly.extendCall(call.place, call.early);
  };

  return {
    read(data: unknown): void {
      const { error, usage: used, choices = [] } = data as Chunk;
      if (error) throw streamError(error.message, typeof error.code === "number" ? error.code : undefined);
      if (used)
        usage = {
          ...noUsage,
          inputTokens: used.prompt_tokens ?? 0,
          outputTokens: used.completion_tokens ?? 0,
          cacheReadTokens: used.prompt_tokens_details?.cached_tokens ?? 0,
        };
      const [choice] = choices;
      if (choice?.finish_reason) finish = finishes[choice.finish_reason] ?? "other";
      const delta = choice?.delta;
      if (!delta) return;
      const thought = delta.reasoning_content ?? delta.reasoning;
      if (thought) speak("reasoning", thought);
      if (delta.content) speak("text", delta.content);
      if (delta.refusal) {
        isRefused = true;
        speak("text", delta.refusal);
      }
      for (const call of delta.tool_calls ?? []) takeCall(call);
    },
    end(model: string): Reply {
      const isNameless = calls.some(({ name }) => name === "");
      if (finish === undefined || isNameless) throw cutShort();
      return assembly.end(finish === "stop" && isRefused ? "filtered" : finish, usage, model);
    },
  };
}
