import { reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { looksSecret } from "../../permission/text/secret.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { describe } from "../definition/describe.ts";
import { failed, asData } from "../definition/result.ts";
import type { Tool } from "../definition/tool.ts";

/** Longer ones are more than words to look for. */
const MAX_QUERY_LENGTH = 256;
const MAX_RESULTS = 10;
const MAX_TEXT_LENGTH = 600;
const MAX_ADDRESS_LENGTH = 2_000;
const MAX_SUMMARY_LENGTH = 15_000;
const TIMEOUT_MS = 60_000;

type Input = { query: string };

export function createWebSearch({ name, search }: SearchEngine): Tool<Input> {
  return {
    name: "WebSearch",
    description: describe("web/web-search"),
    inputSchema: z.strictObject({ query: z.string().min(1).max(2_000).describe("Words to look for") }),
    effect: "reads",
    checkPermissions({ query }) {
      if (query.length > MAX_QUERY_LENGTH)
        return { behavior: "ask", hard: true, reason: reason("search-long", { length: query.length }) };
      if (looksSecret(query)) return { behavior: "ask", hard: true, reason: reason("search-secret", {}) };
      return { behavior: "passthrough", reason: "" };
    },
    async execute({ query }, { signal }) {
      const late = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const { found, summary: words = "" } = await search(query, AbortSignal.any([signal, late]));
        const summary = words.slice(0, MAX_SUMMARY_LENGTH).toWellFormed();
        const list = found.filter(isPage).slice(0, MAX_RESULTS).map(entry);
        if (list.length === 0 && summary === "") return { ok: true, text: `${name} found nothing for "${query}".` };
        const text = [...(summary === "" ? [] : [summary]), ...list].join("\n\n");
        return { ok: true, text: asData(`Results of ${name} for "${query}"`, text) };
      } catch (error) {
        signal.throwIfAborted();
        const why = late.aborted ? `no answer within ${TIMEOUT_MS / 1000} seconds` : thrownText(error);
        return failed(`${name} could not search: ${why}`);
      }
    },
  };
}

function isPage({ url }: SearchHit): boolean {
  return url.length <= MAX_ADDRESS_LENGTH && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

function entry({ title, url, text }: SearchHit, n: number): string {
  const { href } = new URL(url);
  return `${n + 1}. ${line(title) || href}\n${href}\n${line(text)}`.trim();
}

function line(words: string): string {
  const plain = words.slice(0, 4 * MAX_TEXT_LENGTH).replace(/<[^>]{0,40}>/g, "");
  return plain.replace(/\s+/g, " ").trim().slice(0, MAX_TEXT_LENGTH).toWellFormed();
}

/** A page that was found. */
/** A page that was found. */
export type SearchHit = { title: string; url: string; text: string };

/** A search engine, by the name that results give it. `summary`: words of its own about what it found. */
export type SearchEngine = {
  name: string;
  search(query: string, signal: AbortSignal): Promise<{ found: readonly SearchHit[]; summary?: string }>;
};

/** A request to a server that the person named; the body of its answer, as JSON. Throws where the server refuses. */
type FetchJson = (
  url: string,
  options: { headers?: Record<string, string>; body?: object; signal: AbortSignal },
) => Promise<unknown>;

/** SearXNG, with its JSON format switched on. */
export function searxng(baseURL: string, fetchJson: FetchJson): SearchEngine {
  const url = new URL(`${baseURL.replace(/\/+$/, "")}/search`);
  return {
    name: `SearXNG (${url.host})`,
    async search(query, signal) {
      const asked = new URL(url);
      asked.search = new URLSearchParams({ q: query, format: "json" }).toString();
      const { results } = (await fetchJson(asked.href, { signal })) as { results?: unknown };
      return { found: list(results, "content") };
    },
  };
}

export function brave(key: string, fetchJson: FetchJson, baseURL = "https://api.search.brave.com"): SearchEngine {
  return {
    name: "Brave",
    async search(query, signal) {
      const url = `${baseURL}/res/v1/web/search?${new URLSearchParams({ q: query, count: "10" })}`;
      const headers = { "x-subscription-token": key, accept: "application/json" };
      const { web } = (await fetchJson(url, { headers, signal })) as { web?: { results?: unknown } };
      return { found: list(web?.results, "description") };
    },
  };
}

export function tavily(key: string, fetchJson: FetchJson, baseURL = "https://api.tavily.com"): SearchEngine {
  return {
    name: "Tavily",
    async search(query, signal) {
      const headers = { authorization: `Bearer ${key}` };
      const body = { query, max_results: 10 };
      const { results } = (await fetchJson(`${baseURL}/search`, { headers, body, signal })) as { results?: unknown };
      return { found: list(results, "content") };
    },
  };
}

/** Results of a server; entries without a web address are none. */
function list(results: unknown, text: string): SearchHit[] {
  if (!Array.isArray(results)) return [];
  return (results as Record<string, unknown>[]).flatMap((result) => {
    const words = (field: string) => (typeof result?.[field] === "string" ? result[field] : "");
    const url = URL.parse(words("url"));
    if (!url || !/^https?:$/.test(url.protocol)) return [];
    return [{ title: words("title"), url: url.href, text: words(text) }];
  });
}
