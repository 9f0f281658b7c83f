import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { checkProviders } from "../../src/cli/setup/doctor/providers.ts";
import { readSettings } from "../../src/config/settings/settings.ts";
import { Machine } from "../support/cli.ts";
import { modelServer } from "../support/model-server.ts";
import { webServer } from "../support/web-server.ts";

const machine = new Machine();
after(() => machine[Symbol.dispose]());
const home = machine.env["SAGE_HOME"]!;

function settings(content: object): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "settings.json"), JSON.stringify(content), { mode: 0o600 });
}

/** A provider package as the AI SDK has them, with an answer that shows what it was made with. */
function install(name: string, source: string): void {
  const folder = join(home, "node_modules", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, type: "module", exports: "./index.js" }));
  writeFileSync(join(folder, "index.js"), source);
}

const groq = `
export const createId = 1;
export function createGroq(options) {
  const stream = async function* ({ prompt, reasoning }) {
    yield { type: "text-start", id: "1" };
    const { name, apiKey, headers, region } = options;
    yield { type: "text-delta", id: "1", delta: JSON.stringify({ name, apiKey, headers, region, reasoning }) };
    yield { type: "text-end", id: "1" };
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    yield { type: "finish", finishReason: { unified: "stop" }, usage };
  };
  const languageModel = (modelId) => ({
    specificationVersion: modelId === "old" ? "v2" : "v4",
    provider: "groq",
    modelId,
    doStream: async (call) => ({ stream: stream(call) }),
  });
  return { languageModel };
}
`;

test("a model of Google and one of a package answer over the command line, with effort and headers", async () => {
  await using server = await modelServer({ text: "from Gemini" });
  settings({ effort: "low", providers: { google: { headers: { "x-team": "tools" } } } });
  const env = { GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: server.googleURL };
  const first = await machine.sage(["-p", "hello", "--model", "google/gemini-3-pro", "--effort", "high"], { env });
  assert.deepEqual([first.code, first.out], [0, "from Gemini\n"], first.err);
  const { headers, body } = server.requests[0]!;
  assert.equal(headers["x-team"], "tools");
  assert.match(
    JSON.stringify(body["generationConfig"]),
    /"thinkingLevel":"high"/,
    "the flag counts for more than the setting",
  );

  const groqOf = (more: object) => ({
    effort: "high",
    providers: { groq: { package: "@ai-sdk/groq", apiKeyEnv: "GROQ_API_KEY", headers: { "x-a": "b" }, ...more } },
  });
  settings(groqOf({ options: { region: "eu" } }));
  const run = (model = "groq/fast") => machine.sage(["-p", "hello", "--model", model], { env: { GROQ_API_KEY: "gk" } });
  const missing = await run();
  assert.equal(missing.code, 2);
  assert.match(missing.err, /the package @ai-sdk\/groq is not installed; run `npm install --prefix \S+ @ai-sdk\/groq`/);
  // One in the folder of the project is not looked at.
  const planted = join(machine.cwd, "node_modules/@ai-sdk/groq");
  mkdirSync(planted, { recursive: true });
  writeFileSync(join(planted, "index.js"), "process.exit(99)");
  assert.equal((await run()).code, 2);
  install("@ai-sdk/groq", groq);
  const second = await run();
  assert.deepEqual(
    [second.code, JSON.parse(second.out || "0")],
    [0, { name: "groq", apiKey: "gk", headers: { "x-a": "b" }, region: "eu", reasoning: "high" }],
  );
  assert.match((await run("groq/old")).err, /speaks version v2 of the AI SDK's interface and Sage version v4/);
});

test("without any model, the list is empty, says why and fails", async () => {
  using machine = new Machine();
  const { code, out, err } = await machine.sage(["models"]);
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, /^sage: /);
});

test("models are listed with what is known of them; doctor says which provider answers and whose key is refused", async () => {
  const json = (answer: unknown) => (response: import("node:http").ServerResponse) =>
    void response.writeHead(200).end(JSON.stringify(answer));
  await using server = await webServer({
    "/v1beta/models": json({
      models: [
        { name: "models/gemini-3-pro", supportedGenerationMethods: ["generateContent"] },
        { name: "models/embedding-1", supportedGenerationMethods: ["embedContent"] },
      ],
    }),
    "/v1/models": json({ data: [{ id: "qwen3-coder" }, { id: "qwen3-vl" }, { id: 7 }] }),
    "/refused/v1/models": (response) =>
      void response.writeHead(401).end(JSON.stringify({ error: { message: "bad key" } })),
  });
  install("@ai-sdk/groq", groq);
  const base = server.at("127.0.0.1", "");
  settings({
    model: "local/qwen3-coder",
    providers: {
      google: { baseURL: `${base}/v1beta` },
      local: { baseURL: `${base}/v1` },
      gateway: { baseURL: `${base}/refused`, format: "messages" },
      groq: { package: "@ai-sdk/groq" },
    },
    prices: { "local/qwen3-coder": { input: 0.5, output: 1 } },
    webSearch: { engine: "tavily" },
  });
  const listed = await machine.sage(["models"]);
  assert.equal(listed.code, 0, listed.err);
  assert.match(listed.out, /^google\/gemini-3-pro +1000k +\? +pictures, PDF$/m);
  assert.match(listed.out, /^local\/qwen3-coder +\? +\$0\.5 \/ \$1 +\(in use\)$/m);
  assert.doesNotMatch(listed.out, /embedding/);
  assert.match(listed.err, /provider gateway: The key is refused|provider gateway: .*401/i);
  const asJson = JSON.parse((await machine.sage(["models", "VL", "--json"])).out) as unknown;
  assert.deepEqual(asJson, [{ model: "local/qwen3-vl", images: true, files: false, used: false }]);

  const doctor = await machine.sage(["doctor"]);
  assert.equal(doctor.code, 1);
  assert.match(doctor.out, /✗ provider gateway: .*401/);
  assert.match(doctor.out, /✓ provider google answers: 1 model\n/);
  assert.match(doctor.out, /✓ provider groq is ready \(@ai-sdk\/groq\)/);
  assert.match(doctor.out, /✓ provider local answers: 2 models/);
  assert.match(doctor.out, /✗ WebSearch is not offered: tavily needs a key in TAVILY_API_KEY/);
  assert.doesNotMatch(doctor.out, /does not list/);

  const notes: string[] = [];
  const report = { ok() {}, bad: assert.fail, note: (text: string) => void notes.push(text) };
  settings({ model: "local/qwen4", providers: { local: { baseURL: `${base}/v1` } } });
  await checkProviders({ settings: readSettings(join(home, "settings.json")), env: {} }, report, "zh");
  assert.deepEqual(notes, ["local 没有列出正在使用的模型 qwen4；可用 `sage models` 查看它有哪些"]);
});
