import assert from "node:assert/strict";
import { test } from "node:test";
import type { Model, ModelRequest } from "../../src/models/model.ts";
import { anthropic } from "../../src/models/wire/anthropic.ts";
import { openai } from "../../src/models/wire/chat.ts";
import { google } from "../../src/models/wire/google.ts";
import { responses } from "../../src/models/wire/responses.ts";
import type { Message } from "../../src/protocol/facts/message.ts";
import type { Effort } from "../../src/protocol/host/options.ts";
import type { ImagePart } from "../../src/protocol/image.ts";
import { modelServer } from "../support/model-server.ts";

const ask = (model: Model, request: Partial<ModelRequest>) => {
  const { signal } = new AbortController();
  const full = { system: "", messages: [], tools: [], options: {}, agent: [], ...request };
  return model.reply(full, { signal, text() {}, reasoning() {}, retry() {} });
};

test("Google: a conversation with calls, results, pictures and signatures, in its own words", async () => {
  await using server = await modelServer({
    thinking: { text: "let me see", signature: "c2ln" },
    text: "I look.",
    calls: [{ id: "", tool: "Bash", arguments: '{"command":"ls"}' }],
    usage: { input: 12, output: 3, cacheRead: 4 },
  });
  const model = google({
    modelId: "gemini-3-pro",
    baseURL: `${server.googleURL}/`,
    apiKey: "k",
    headers: { "x-a": "b" },
  });
  const reply = await ask(model, { messages: [{ role: "user", text: "go" }] });
  const call = reply.parts[2];
  assert.deepEqual(reply.parts.slice(0, 2), [
    { type: "reasoning", text: "let me see" },
    { type: "text", text: "I look." },
  ]);
  assert.deepEqual(call?.type === "call" && [call.tool, call.input, call.metadata], [
    "Bash",
    { command: "ls" },
    { google: { thoughtSignature: "c2ln" } },
  ]);
  assert.deepEqual(
    [reply.finish, reply.model, reply.usage],
    ["calls", "google/gemini-3-pro", { inputTokens: 12, outputTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 0 }],
  );

  server.plays.push({ text: "done" });
  const image: ImagePart = { type: "image", mime: "image/png", sha256: "x", bytes: 3, name: "a.png" };
  const messages: Message[] = [
    { role: "user", text: "go" },
    { role: "assistant", parts: reply.parts, model: reply.model },
    {
      role: "tool",
      results: [
        { call: "1", tool: "Bash", result: { ok: true, text: "a.txt", images: [image] } },
        { call: "2", tool: "Bash", result: { ok: false, text: "no" } },
      ],
    },
    { role: "user", text: "and?" },
  ];
  await ask(model, {
    system: "be brief",
    messages,
    image: () => "QUJD",
    tools: [{ name: "Bash", description: "runs", inputSchema: { type: "object" } }],
    options: { maxOutputTokens: 9, temperature: 0.5, effort: "low" },
  });
  const { path, headers, body } = server.requests[1]!;
  assert.equal(path, "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
  assert.deepEqual([headers["x-goog-api-key"], headers["x-a"]], ["k", "b"]);
  assert.deepEqual(body, {
    generationConfig: {
      maxOutputTokens: 9,
      temperature: 0.5,
      thinkingConfig: { includeThoughts: true, thinkingLevel: "low" },
    },
    systemInstruction: { parts: [{ text: "be brief" }] },
    contents: [
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { text: "I look." },
          { functionCall: { name: "Bash", args: { command: "ls" } }, thoughtSignature: "c2ln" },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "Bash", response: { output: "a.txt" } } },
          { inlineData: { mimeType: "image/png", data: "QUJD" } },
          { functionResponse: { name: "Bash", response: { error: "no" } } },
          { text: "and?" },
        ],
      },
    ],
    tools: [
      { functionDeclarations: [{ name: "Bash", description: "runs", parametersJsonSchema: { type: "object" } }] },
    ],
  });
});

test("effort goes to each format in its own words, and not to models that cannot think", async () => {
  await using server = await modelServer();
  server.always.play = () => ({ text: "ok" });
  const base = { anthropic: server.anthropicURL, openai: server.openaiURL, google: server.googleURL };
  const sent = async (model: Model, effort?: Effort) => {
    await ask(model, { messages: [{ role: "user", text: "x" }], options: effort ? { effort } : {} });
    return server.requests.at(-1)!.body;
  };
  const claude = (modelId: string) => anthropic({ modelId, baseURL: base.anthropic });
  const newest = await sent(claude("claude-sonnet-5-5"), "low");
  assert.deepEqual([newest["thinking"], newest["output_config"]], [{ type: "adaptive" }, { effort: "low" }]);
  const budgeted = await sent(claude("claude-opus-4-1"), "high");
  assert.deepEqual(budgeted["thinking"], { type: "enabled", budget_tokens: 16_000 });
  assert.ok(Number(budgeted["max_tokens"]) > 16_000);
  assert.equal((await sent(claude("claude-3-5-haiku-latest"), "high"))["thinking"], undefined);
  assert.equal((await sent(claude("claude-sonnet-5-5")))["output_config"], undefined);

  // By default: with tools only, where the model is known to think, and not against a temperature or a plain no.
  const offered = [{ name: "Bash", description: "runs", inputSchema: { type: "object" } }];
  const byDefault = async (modelId: string, options = {}, tools = offered) => {
    await ask(claude(modelId), { messages: [{ role: "user", text: "x" }], tools, options });
    const { headers, body } = server.requests.at(-1)!;
    return [body["thinking"], headers["anthropic-beta"]];
  };
  const between = "interleaved-thinking-2025-05-14";
  assert.deepEqual(await byDefault("claude-sonnet-5-5"), [{ type: "adaptive" }, undefined]);
  assert.deepEqual(await byDefault("claude-opus-4-1"), [{ type: "enabled", budget_tokens: 16_000 }, between]);
  assert.deepEqual(await byDefault("claude-opus-4-1", {}, []), [undefined, between]);
  assert.deepEqual(await byDefault("claude-opus-4-1", { thinkingTokens: 0 }), [undefined, between]);
  assert.deepEqual(await byDefault("claude-opus-4-1", { temperature: 0.2 }), [undefined, between]);
  assert.deepEqual(await byDefault("claude-3-5-haiku-latest"), [undefined, undefined]);
  assert.deepEqual(await byDefault("some-other-model"), [undefined, undefined]);

  const reasoning = async (modelId: string, effort?: Effort) =>
    (await sent(responses({ modelId, baseURL: base.openai }), effort))["reasoning"];
  assert.deepEqual(await reasoning("gpt-6.1-sol", "medium"), { summary: "auto", effort: "medium" });
  assert.deepEqual(await reasoning("gpt-6.1-sol"), { summary: "auto" });
  assert.equal(await reasoning("gpt-4o", "medium"), undefined);

  const chat = openai({ modelId: "m", baseURL: base.openai });
  assert.equal((await sent(chat, "high"))["reasoning_effort"], "high");
  assert.ok(!("reasoning_effort" in (await sent(chat))));

  const thinking = async (modelId: string, effort?: Effort) =>
    (await sent(google({ modelId, baseURL: base.google }), effort))["generationConfig"];
  assert.deepEqual(await thinking("gemini-2.5-flash", "medium"), {
    thinkingConfig: { includeThoughts: true, thinkingBudget: 8_192 },
  });
  assert.deepEqual(await thinking("gemini-pro-latest"), { thinkingConfig: { includeThoughts: true } });
  assert.deepEqual(await thinking("gemini-2.0-flash", "high"), {});
  assert.deepEqual(await thinking("gemma-3-27b-it", "high"), {});
});

test("a PDF goes to models that read it, as each format carries it; others are told", async () => {
  await using server = await modelServer();
  server.always.play = () => ({ text: "ok" });
  const file: ImagePart = { type: "image", mime: "application/pdf", sha256: "x", bytes: 3_000, name: "a.pdf" };
  const sent = async (model: Model) => {
    await ask(model, { messages: [{ role: "user", text: "read", images: [file] }], image: () => "QUJD" });
    return JSON.stringify(server.requests.at(-1)!.body);
  };
  const [at, files] = [server.openaiURL, true];
  const data = "data:application/pdf;base64,QUJD";
  assert.ok(
    (await sent(anthropic({ modelId: "claude-sonnet-5-5", baseURL: server.anthropicURL }))).includes(
      '{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"},"title":"a.pdf"}',
    ),
  );
  assert.ok(
    (await sent(openai({ modelId: "m", baseURL: at, files }))).includes(
      `{"type":"file","file":{"filename":"a.pdf","file_data":"${data}"}}`,
    ),
  );
  assert.ok(
    (await sent(responses({ modelId: "gpt-6.1-sol", baseURL: at }))).includes(
      `{"type":"input_file","filename":"a.pdf","file_data":"${data}"}`,
    ),
  );
  assert.ok(
    (await sent(google({ modelId: "gemini-3-pro", baseURL: server.googleURL }))).includes(
      '{"inlineData":{"mimeType":"application/pdf","data":"QUJD"}}',
    ),
  );
  assert.ok(
    (await sent(openai({ modelId: "m", baseURL: at }))).includes("[file a.pdf, 3 kB: this model takes no PDF files]"),
  );
});
