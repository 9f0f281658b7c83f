/** A page that was found. */
export type SearchHit = { title: string; url: string; text: string };

/** A search engine, by the name that results give it. `summary`: words of its own about what it found. */
export type SearchEngine = {
  name: string;
  search(query: string, signal: AbortSignal): Promise<{ found: readonly SearchHit[]; summary?: string }>;
};

/** A request to a server that the person named; the body of its answer, as JSON. Throws where the server refuses. */
export type FetchJson = (
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
  return (results as Record<string, unknown>[]).flatMap((one) => {
    const words = (field: string) => (typeof one?.[field] === "string" ? one[field] : "");
    const url = URL.parse(words("url"));
    if (!url || !/^https?:$/.test(url.protocol)) return [];
    return [{ title: words("title"), url: url.href, text: words(text) }];
  });
}
