// Our own wire clients send what the AI SDK's providers would send, and understand what those understand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as fc from "../support/properties.ts";
import { anthropic } from "../../src/models/wire/anthropic.ts";
import { openai } from "../../src/models/wire/chat.ts";
import { responses } from "../../src/models/wire/responses.ts";
import type { Model, ModelRequest, ModelScope } from "../../src/models/model.ts";
import type { Message, Part, ProviderMetadata } from "../../src/protocol/facts/message.ts";
import { aiSdkModel, SageAgentSDK } from "../../src/sdk/index.ts";
import { modelServer, type ServedReply } from "../support/model-server.ts";
import { oldWay } from "./old-way.ts";

type Server = Awaited<ReturnType<typeof modelServer>>;
type Wire = keyof typeof oldWay;

const models: Record<Wire, string[]> = {
  anthropic: [
    ...["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5", "claude-fable-5-1"],
    ...[
      "claude-opus-5",
      "claude-sonnet-5",
      "claude-opus-4-8",
      "claude-opus-4-7",
      "claude-opus-4-6",
      "claude-sonnet-4-6",
    ],
    ...["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-1", "claude-sonnet-4-20250514"],
    ...["claude-opus-4-20250514", "claude-3-haiku-20240307", "claude-3-opus", "claude-next", "glm-9"],
  ],
  chat: ["qwen", "gpt-6.1-sol"],
  responses: ["gpt-6.1-sol", "gpt-5", "gpt-5-chat-latest", "gpt-5.1-codex", "gpt-4o", "gpt-4.1", "o4-mini", "other"],
};

function both(wire: Wire, server: Server, modelId: string): { ours: Model; theirs: Model } {
  const address = { modelId, apiKey: "k", baseURL: wire === "anthropic" ? server.anthropicURL : server.openaiURL };
  const ours = wire === "anthropic" ? anthropic(address) : wire === "chat" ? openai(address) : responses(address);
  return { ours, theirs: oldWay[wire](address) };
}

const silent: ModelScope = { signal: new AbortController().signal, text() {}, reasoning() {}, retry() {} };
const hello: ServedReply = { text: "hi" };

/** The bodies that both send for one request, and what both make of the reply. */
async function compare(server: Server, pair: { ours: Model; theirs: Model }, request: ModelRequest, reply = hello) {
  server.requests.length = 0;
  server.plays.push(reply, reply);
  const [ours, theirs] = [await pair.ours.reply(request, silent), await pair.theirs.reply(request, silent)];
  assert.deepEqual(server.requests[0]?.body, server.requests[1]?.body);
  assert.equal(server.requests[0]?.path, server.requests[1]?.path);
  assert.deepEqual(ours, theirs);
}

const offers = [
  {
    name: "Read",
    description: "Reads a file",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
  { name: "Bash", description: "Runs a command", inputSchema: { type: "object" } },
];

const text = fc.constantFrom("hello", "文件 ü", 'a "quoted" line\nand another', " ", "");
const sealed = fc.constantFrom<ProviderMetadata | undefined>(
  undefined,
  { anthropic: { signature: "c2ln+/bmF0dXJl==" } },
  { anthropic: { redactedData: "x" } },
  { openai: { itemId: "rs_1", reasoningEncryptedContent: "enc" } },
  { openai: { itemId: "rs_2", reasoningEncryptedContent: null } },
);
const part = (n: number): fc.Arbitrary<Part> =>
  fc.oneof(
    fc.record({ type: fc.constant("text" as const), text }),
    fc.record({
      type: fc.constant("text" as const),
      text,
      metadata: fc.constant({ openai: { itemId: "msg_1", phase: "commentary" } }),
    }),
    fc
      .tuple(text, sealed)
      .map(([said, metadata]): Part => ({ type: "reasoning", text: said, ...(metadata && { metadata }) })),
    fc.constantFrom({}, { command: "ls", 深: [1, null, { a: true }] }).map((input): Part => ({
      type: "call",
      id: `call:${n}`,
      tool: "Bash",
      input,
      metadata: { openai: { itemId: "fc_1" } },
    })),
  );

/** Only what a provider really gives: Anthropic seals every thought of its own, and nobody thinks without words or a seal. */
function ownPart(part: Part, place: string, wire: Wire | undefined): Part[] {
  if (part.type === "call") return [{ ...part, id: `${part.id}_${place}` }];
  const isReal =
    part.type === "text" ||
    wire === undefined ||
    (wire === "anthropic" ? part.metadata?.["anthropic"] !== undefined : wire === "responses" || part.text !== "");
  return isReal ? [part] : [];
}

/** A conversation as the loop makes it: after a reply with calls come their results, and a person has the last word. */
const conversation = (wire: Wire, id: string) =>
  fc
    .array(
      fc.tuple(text, fc.boolean(), fc.array(fc.nat({ max: 9 }).chain(part), { maxLength: 4 }), text, fc.boolean()),
      {
        maxLength: 4,
      },
    )
    .map((rounds) => {
      const messages: Message[] = [{ role: "user", text: "begin" }];
      for (const [said, isOurs, parts, result, ok] of rounds) {
        messages.push({ role: "user", text: said });
        const own = parts.flatMap((one, n) => ownPart(one, `${messages.length}_${n}`, isOurs ? wire : undefined));
        messages.push({ role: "assistant", parts: own, model: isOurs ? id : "other/x" });
        const results = own.flatMap((one) =>
          one.type === "call" ? [{ call: one.id, tool: one.tool, result: { ok, text: result } }] : [],
        );
        if (results.length > 0) messages.push({ role: "tool", results });
      }
      return [...messages, { role: "user" as const, text: "go on" }];
    });

const options = fc.record(
  {
    maxOutputTokens: fc.constantFrom(1, 500, 200_000),
    temperature: fc.constantFrom(0, 0.5, 1),
    thinkingTokens: fc.constantFrom(0, 2_000),
  },
  { requiredKeys: [] },
);

for (const wire of Object.keys(oldWay) as Wire[])
  test(`${wire}: the body of every request is the one that the AI SDK would send`, { timeout: 120_000 }, async () => {
    await using server = await modelServer();
    const pairs = models[wire].map((modelId) => both(wire, server, modelId));
    for (const pair of pairs)
      await fc.assert(
        fc.asyncProperty(
          conversation(wire, pair.ours.id),
          options,
          fc.constantFrom("You are Sage.", ""),
          fc.constantFrom(offers, []),
          async (messages, asked, system, tools) =>
            compare(server, pair, { system, messages, tools, options: asked, agent: [] }),
        ),
        { numRuns: Math.ceil(120 / pairs.length) },
      );
  });

test("what servers reply is understood as the AI SDK understands it", { timeout: 60_000 }, async () => {
  const thinking = { text: "Files first, 文件", signature: "c2ln+/bmF0dXJl==" };
  const call = (n: number, text = '{"command":"ls"}') => ({ id: `call_${n}`, tool: "Bash", arguments: text });
  const replies: ServedReply[] = [
    hello,
    { thinking, text: "I will look.", calls: [call(1), call(2, "")], usage: { input: 100, output: 20, cacheRead: 7 } },
    { calls: [call(1, "{"), call(2, "[1]"), call(3, "null")] },
    { thinking },
    { text: "", calls: [call(1)] },
    { text: "x", usage: { input: 5, output: 6, cacheWrite: 3 } },
  ];
  await using server = await modelServer();
  for (const wire of Object.keys(oldWay) as Wire[]) {
    const pair = both(wire, server, models[wire][0] ?? "");
    const request = {
      system: "",
      messages: [{ role: "user" as const, text: "hi" }],
      tools: offers,
      options: { thinkingTokens: 0 }, // the AI SDK lets no model think by default
      agent: [],
    };
    for (const reply of replies) await compare(server, pair, request, reply);
  }
});

test("a model of any AI SDK provider is a model of ours", async () => {
  await using server = await modelServer({ text: "hi" });
  const provider = createOpenAICompatible({ name: "other", baseURL: server.openaiURL, includeUsage: true });
  const sage = new SageAgentSDK({ model: aiSdkModel(provider.chatModel("m"), { id: "other/m" }) });
  const { text, messages } = await sage.run("hello");
  assert.equal(text, "hi");
  const last = messages.at(-1);
  assert.equal(last?.role === "assistant" && last.model, "other/m");
  await sage.close();
});
