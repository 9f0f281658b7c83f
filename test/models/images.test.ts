// How pictures look on every wire, and what a model reads that takes none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { takesImages } from "../../src/models/images.ts";
import type { Model, ModelScope } from "../../src/models/model.ts";
import { anthropic } from "../../src/models/wire/anthropic.ts";
import { openai } from "../../src/models/wire/chat.ts";
import { responses } from "../../src/models/wire/responses.ts";
import type { Message } from "../../src/protocol/facts/message.ts";
import type { ImagePart } from "../../src/protocol/image.ts";
import { modelServer } from "../support/model-server.ts";
import { oldWay } from "./old-way.ts";

const silent: ModelScope = { signal: new AbortController().signal, text() {}, reasoning() {}, retry() {} };
const shot: ImagePart = { type: "image", mime: "image/png", sha256: "a", bytes: 120_000, name: "shot.png" };
const gone: ImagePart = { ...shot, sha256: "b", mime: "image/jpeg", name: "gone.jpg" };
const call = { type: "call", id: "c1", tool: "Read", input: {} } as const;
const messages: Message[] = [
  { role: "user", text: "What is this?", images: [shot, gone] },
  { role: "assistant", parts: [call], model: "x" },
  { role: "tool", results: [{ call: "c1", tool: "Read", result: { ok: true, text: "(a picture)", images: [shot] } }] },
];
const image = ({ sha256 }: ImagePart) => (sha256 === "a" ? "QUFB" : undefined);
const missing = "[image gone.jpg, 120 kB: its file is gone]";

async function bodyOf(make: (address: { openaiURL: string; anthropicURL: string }) => Model): Promise<string> {
  await using server = await modelServer();
  server.plays.push({ text: "hi" });
  await make(server).reply({ system: "", messages, image, tools: [], options: {}, agent: [] }, silent);
  return JSON.stringify(server.requests[0]?.body);
}

const has = (body: string, value: object) => assert.ok(body.includes(JSON.stringify(value).slice(1, -1)), body);

test("Messages carry pictures as blocks, in results too", async () => {
  const body = await bodyOf(({ anthropicURL }) =>
    anthropic({ modelId: "claude-sonnet-5-5", baseURL: anthropicURL, apiKey: "k" }),
  );
  const block = { type: "image", source: { type: "base64", media_type: "image/png", data: "QUFB" } };
  has(body, [block, { type: "text", text: missing }]);
  has(body, { content: [{ type: "text", text: "(a picture)" }, block] });
});

test("Chat Completions carry them as addresses; those of results follow in a message of their own", async () => {
  const body = await bodyOf(({ openaiURL }) => openai({ modelId: "gpt-4o", baseURL: openaiURL }));
  const url = { type: "image_url", image_url: { url: "data:image/png;base64,QUFB" } };
  has(body, [{ type: "text", text: "What is this?" }, url, { type: "text", text: missing }]);
  has(body, { role: "tool", tool_call_id: "c1", content: "(a picture)" });
  has(body, [
    { type: "text", text: "(From Sage, not from the person: the pictures of the results above, in order.)" },
    url,
  ]);
});

test("Responses carry them as input images", async () => {
  const body = await bodyOf(({ openaiURL }) => responses({ modelId: "gpt-6.1-sol", baseURL: openaiURL, apiKey: "k" }));
  const input = { type: "input_image", image_url: "data:image/png;base64,QUFB", detail: "auto" };
  has(body, [{ type: "input_text", text: "What is this?" }, input, { type: "input_text", text: missing }]);
  has(body, { output: [{ type: "input_text", text: "(a picture)" }, input] });
});

test("a provider of the AI SDK gets them as files", async () => {
  const body = await bodyOf(({ anthropicURL }) =>
    oldWay.anthropic({ modelId: "claude-sonnet-5-5", baseURL: anthropicURL }),
  );
  assert.equal(body.split('"data":"QUFB"').length, 3, body);
});

test("a model that takes no pictures reads that there are some", async () => {
  const words = "[image shot.png, 120 kB: this model takes no pictures]";
  for (const body of [
    await bodyOf(({ openaiURL }) => openai({ modelId: "deepseek-chat", baseURL: openaiURL })),
    await bodyOf(({ openaiURL }) => openai({ modelId: "gpt-4o", baseURL: openaiURL, images: false })),
    await bodyOf(({ anthropicURL }) => anthropic({ modelId: "glm-9", baseURL: anthropicURL, apiKey: "k" })),
  ]) {
    assert.equal(body.split(words).length, 3, body);
    assert.doesNotMatch(body, /QUFB/);
  }
  const told = await bodyOf(({ openaiURL }) => openai({ modelId: "my-own", baseURL: openaiURL, images: true }));
  assert.match(told, /QUFB/);
});

test("names of models tell whether they take pictures", () => {
  const seeing = ["claude-sonnet-5-5", "claude-3-haiku-20240307", "gpt-4o", "gpt-6.1-sol", "o4-mini", "qwen3-vl-30b"];
  assert.deepEqual(
    [...seeing, "google/gemini-3-pro", "llava:13b", "gemma3:27b"].filter((id) => !takesImages(id)),
    [],
  );
  const blind = ["deepseek-chat", "gpt-3.5-turbo", "gpt-oss-120b", "o3-mini", "qwen3-coder", "glm-4.6", "claude-2.1"];
  assert.deepEqual(blind.filter(takesImages), []);
});
