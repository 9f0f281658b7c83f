import type { Env } from "../proxy.ts";
import { request, readBody } from "./request.ts";

const TIMEOUT_MS = 60_000;

type Answer = { found: { title: string; url: string; text: string }[]; summary?: string };

/** Lets the provider of a model search: it has a search of its own, and bills it. */
export type ProviderSearch = {
  provider: "anthropic" | "openai" | "google";
  modelId: string;
  baseURL: string;
  apiKey: string;
  env: Env;
};

/** JSON from a server, with its own reason where it refuses. */
export async function fetchJson(
  url: string,
  {
    headers = {},
    body,
    env,
    signal,
  }: { headers?: Record<string, string>; body?: object; env: Env; signal: AbortSignal },
): Promise<unknown> {
  const incoming = await request(new URL(url), {
    method: body ? "POST" : "GET",
    headers: { "user-agent": "sage-agent", ...(body && { "content-type": "application/json" }), ...headers },
    ...(body && { body: [JSON.stringify(body)] }),
    idleTimeoutMs: TIMEOUT_MS,
    env,
    signal,
  });
  return JSON.parse(await readBody(incoming)) as unknown;
}

export function searchWith(query: string, means: ProviderSearch, signal: AbortSignal): Promise<Answer> {
  switch (means.provider) {
    case "anthropic":
      return searchAnthropic(query, means, signal);
    case "openai":
      return searchOpenAI(query, means, signal);
    case "google":
      return searchGoogle(query, means, signal);
    default:
      return means.provider satisfies never;
  }
}

const task = (query: string) =>
  `Search the web for the following and report what you find, briefly, with the pages it comes from. Search for: ${query}`;

async function searchAnthropic(query: string, { modelId, baseURL, apiKey, env }: ProviderSearch, signal: AbortSignal) {
  const url = `${baseURL.replace(/(\/v1)?\/*$/, "/v1")}/messages`;
  const { content = [] } = (await fetchJson(url, {
    headers: { "anthropic-version": "2023-06-01", "x-api-key": apiKey },
    body: {
      model: modelId,
      max_tokens: 2_048,
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }],
      messages: [{ role: "user", content: task(query) }],
    },
    env,
    signal,
  })) as { content?: AnthropicBlock[] };
  const answer: Answer = { found: [], summary: "" };
  for (const block of content) {
    answer.summary += block.type === "text" ? (block.text ?? "") : "";
    if (block.type !== "web_search_tool_result" || !Array.isArray(block.content)) continue;
    for (const { url: at, title = "", page_age: age } of block.content)
      if (at !== undefined) answer.found.push({ title, url: at, text: age ?? "" });
  }
  return answer;
}

type AnthropicBlock = {
  type: string;
  text?: string;
  content?: { url?: string; title?: string; page_age?: string | null }[] | object;
};

async function searchOpenAI(query: string, { modelId, baseURL, apiKey, env }: ProviderSearch, signal: AbortSignal) {
  const { output = [] } = (await fetchJson(`${baseURL.replace(/\/+$/, "")}/responses`, {
    headers: { authorization: `Bearer ${apiKey}` },
    body: { model: modelId, store: false, tools: [{ type: "web_search" }], input: task(query) },
    env,
    signal,
  })) as { output?: { content?: { text?: string; annotations?: { url?: string; title?: string }[] }[] }[] };
  const parts = output.flatMap(({ content = [] }) => content);
  return cited(
    parts.map(({ text = "" }) => text).join(""),
    parts.flatMap(({ annotations = [] }) => annotations),
  );
}

async function searchGoogle(query: string, { modelId, baseURL, apiKey, env }: ProviderSearch, signal: AbortSignal) {
  const url = `${baseURL.replace(/\/+$/, "")}/models/${encodeURIComponent(modelId)}:generateContent`;
  const { candidates: [candidate] = [] } = (await fetchJson(url, {
    headers: { "x-goog-api-key": apiKey },
    body: { contents: [{ role: "user", parts: [{ text: task(query) }] }], tools: [{ google_search: {} }] },
    env,
    signal,
  })) as {
    candidates?: {
      content?: { parts?: { text?: string; thought?: boolean }[] };
      groundingMetadata?: { groundingChunks?: { web?: { uri?: string; title?: string } }[] };
    }[];
  };
  const spoken = (candidate?.content?.parts ?? []).filter(({ thought }) => thought !== true);
  const chunks = candidate?.groundingMetadata?.groundingChunks ?? [];
  return cited(
    spoken.map(({ text = "" }) => text).join(""),
    chunks.map(({ web }) => ({ ...(web?.uri && { url: web.uri }), ...(web?.title && { title: web.title }) })),
  );
}

/** Each page once. */
function cited(summary: string, pages: readonly { url?: string; title?: string }[]): Answer {
  const found = new Map<string, Answer["found"][number]>();
  for (const { url, title = "" } of pages) if (url !== undefined) found.set(url, { title, url, text: "" });
  return { found: [...found.values()], summary };
}
