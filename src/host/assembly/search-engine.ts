import type { WebSearchSettings } from "../../config/settings/model-settings.ts";
import { providerAddress, chooseModel, type ModelSettings } from "../../models/choice/choose.ts";
import type { Env } from "../../models/proxy.ts";
import type { ProviderSearch } from "../../models/wire/search.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import type { SearchEngine } from "../../tools/web/web-search.ts";

/** Providers that search by themselves, with the address of each. */
const searching = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
};

export type SearchSettings = ModelSettings & { webSearch?: WebSearchSettings | undefined };

/** The engine that the settings name, or why it cannot search. Undefined: none is named. Nothing is loaded before it searches. */
export function searchEngine(settings: SearchSettings, env: Env): SearchEngine | { problem: Reason } | undefined {
  const { webSearch } = settings;
  if (!webSearch) return undefined;
  const { engine, baseURL = "", apiKeyEnv } = webSearch;
  if (engine === "model") return ofProvider(webSearch.model, settings, env);
  const variable = apiKeyEnv ?? `${engine.toUpperCase()}_API_KEY`;
  const key = env[variable] ?? "";
  if (engine !== "searxng" && key === "") return { problem: reason("search-key-missing", { engine, variable }) };
  const made = async () => {
    const [engines, { fetchJson }] = await Promise.all([
      import("../../tools/web/web-search.ts"),
      import("../../models/wire/search.ts"),
    ]);
    const fetch: Parameters<typeof engines.searxng>[1] = (url, options) => fetchJson(url, { ...options, env });
    if (engine === "searxng") return engines.searxng(baseURL, fetch);
    return engines[engine](key, fetch, webSearch.baseURL);
  };
  const name = { searxng: "SearXNG", brave: "Brave", tavily: "Tavily" }[engine];
  return { name, search: async (query, signal) => (await made()).search(query, signal) };
}

function ofProvider(spec: string | undefined, settings: ModelSettings, env: Env): SearchEngine | { problem: Reason } {
  const { model, providers } = settings;
  const choice = chooseModel({ spec: spec ?? model, env, settings: { ...(providers && { providers }) } });
  const provider = choice?.provider ?? "";
  if (!choice || !isSearching(provider))
    return { problem: reason("search-provider-unfit", { provider, providers: Object.keys(searching) }) };
  const { baseURL = searching[provider], apiKey = "" } = providerAddress(provider, env, settings);
  const means: ProviderSearch = { provider, modelId: choice.modelId, baseURL, apiKey, env };
  return {
    name: `${provider}/${choice.modelId}`,
    search: async (query, signal) => (await import("../../models/wire/search.ts")).searchWith(query, means, signal),
  };
}

function isSearching(provider: string): provider is keyof typeof searching {
  return Object.hasOwn(searching, provider);
}
