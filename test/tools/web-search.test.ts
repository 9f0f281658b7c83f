import assert from "node:assert/strict";
import { test } from "node:test";
import { searchEngine, type SearchSettings } from "../../src/host/assembly/search-engine.ts";
import type { SearchEngine } from "../../src/tools/web/web-search.ts";
import { webServer } from "../support/web-server.ts";

const { signal } = new AbortController();
const usable = (settings: SearchSettings, env: Record<string, string> = {}): SearchEngine => {
  const engine = searchEngine(settings, env);
  assert.ok(engine && "search" in engine);
  return engine;
};

test("engines and providers are asked in their own words, and their answers read", async () => {
  const asked: { path: string; key: string | undefined; body: string }[] = [];
  const json =
    (answer: unknown, keyHeader: string) =>
    (response: import("node:http").ServerResponse, request: import("node:http").IncomingMessage) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        asked.push({ path: request.url ?? "", key: request.headers[keyHeader] as string | undefined, body });
        response.writeHead(200).end(JSON.stringify(answer));
      });
    };
  await using server = await webServer({
    "/res/v1/web/search": json(
      { web: { results: [{ title: "B", url: "https://b.org/", description: "brave" }] } },
      "x-subscription-token",
    ),
    "/search": json({ results: [{ title: "T", url: "https://t.org/", content: "tavily" }, 7, null] }, "authorization"),
    "/v1/messages": json(
      {
        content: [
          { type: "server_tool_use", name: "web_search" },
          {
            type: "web_search_tool_result",
            content: [{ type: "web_search_result", url: "https://a.org/", title: "A" }],
          },
          { type: "web_search_tool_result", content: { type: "web_search_tool_result_error" } },
          { type: "text", text: "It is so." },
        ],
      },
      "x-api-key",
    ),
    "/v1/responses": json(
      {
        output: [
          { type: "web_search_call" },
          {
            content: [{ text: "So.", annotations: [{ url: "https://o.org/", title: "O" }, { url: "https://o.org/" }] }],
          },
        ],
      },
      "authorization",
    ),
    "/v1beta/models/gemini-x:generateContent": json(
      {
        candidates: [
          {
            content: { parts: [{ text: "hm", thought: true }, { text: "Yes." }] },
            groundingMetadata: { groundingChunks: [{ web: { uri: "https://g.org/", title: "G" } }, {}] },
          },
        ],
      },
      "x-goog-api-key",
    ),
  });
  const base = server.at("127.0.0.1", "");
  const by = async (settings: SearchSettings, env: Record<string, string>) =>
    usable(settings, env).search("a b", signal);
  assert.deepEqual(await by({ webSearch: { engine: "brave", baseURL: base } }, { BRAVE_API_KEY: "kb" }), {
    found: [{ title: "B", url: "https://b.org/", text: "brave" }],
  });
  assert.deepEqual(await by({ webSearch: { engine: "tavily", baseURL: base, apiKeyEnv: "MINE" } }, { MINE: "kt" }), {
    found: [{ title: "T", url: "https://t.org/", text: "tavily" }],
  });
  const provider = (model: string, at: string, key: string) =>
    by(
      { webSearch: { engine: "model", model }, providers: { [model.split("/")[0] ?? ""]: { baseURL: base + at } } },
      {
        [key]: "kp",
      },
    );
  assert.deepEqual(await provider("anthropic/claude-x", "", "ANTHROPIC_API_KEY"), {
    found: [{ title: "A", url: "https://a.org/", text: "" }],
    summary: "It is so.",
  });
  assert.deepEqual((await provider("openai/gpt-x", "/v1", "OPENAI_API_KEY")).summary, "So.");
  assert.deepEqual(await provider("google/gemini-x", "/v1beta", "GEMINI_API_KEY"), {
    found: [{ title: "G", url: "https://g.org/", text: "" }],
    summary: "Yes.",
  });
  assert.deepEqual(
    asked.map(({ path, key }) => [path.split("?")[0], key]),
    [
      ["/res/v1/web/search", "kb"],
      ["/search", "Bearer kt"],
      ["/v1/messages", "kp"],
      ["/v1/responses", "Bearer kp"],
      ["/v1beta/models/gemini-x:generateContent", "kp"],
    ],
  );
  assert.match(asked[0]?.path ?? "", /\?q=a\+b&/);
});

test("an engine without a key, a model without a search of its own and a refusing server say so", async () => {
  const problem = (settings: SearchSettings, env = {}) => {
    const engine = searchEngine(settings, env);
    return engine && "problem" in engine ? engine.problem : undefined;
  };
  assert.equal(searchEngine({}, {}), undefined);
  assert.deepEqual(problem({ webSearch: { engine: "tavily" } })?.args, {
    engine: "tavily",
    variable: "TAVILY_API_KEY",
  });
  const local = { providers: { local: { baseURL: "http://127.0.0.1:1/v1" } } };
  assert.equal(problem({ webSearch: { engine: "model", model: "local/x" }, ...local })?.code, "search-provider-unfit");
  assert.equal(problem({ webSearch: { engine: "model" } })?.code, "search-provider-unfit");
  await using server = await webServer({});
  const engine = usable({ webSearch: { engine: "searxng", baseURL: server.at("127.0.0.1", "/") } });
  await assert.rejects(engine.search("x", signal), /Not Found/);
});
