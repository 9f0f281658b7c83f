import assert from "node:assert/strict";
import { test } from "node:test";
import { isOpenAI } from "../../src/models/choice/choose.ts";
import type { Model, ModelScope } from "../../src/models/model.ts";
import { responses } from "../../src/models/wire/responses.ts";
import { noUsage, type Message, type Reply } from "../../src/protocol/facts/message.ts";
import { chunksOf, modelServer, type ServedReply } from "../support/model-server.ts";

type Server = Awaited<ReturnType<typeof modelServer>>;

const connect = (server: Server, apiKey = "secret") =>
  responses({ modelId: "m", baseURL: server.openaiURL, apiKey, idleTimeoutMs: 5_000 });

const hello: Message = { role: "user", text: "hello" };
const bash = { name: "Bash", description: "Runs a command", inputSchema: { type: "object", properties: {} } };

function ask(model: Model, messages: Message[] = [hello], shown: Partial<ModelScope> = {}): Promise<Reply> {
  const scope: ModelScope = {
    signal: new AbortController().signal,
    text() {},
    reasoning() {},
    retry: () => assert.fail("a provider does not retry"),
    ...shown,
  };
  return model.reply({ system: "You are Sage.", messages, tools: [bash], options: {}, agent: [] }, scope);
}

const listing: ServedReply = {
  thinking: { text: "Files first, 文件", signature: "c2VhbGVk" },
  text: "I will look.",
  calls: [
    { id: "call_1", tool: "Bash", arguments: '{"command":"ls"}' },
    { id: "call_2", tool: "Bash", arguments: "{" },
  ],
  usage: { input: 100, output: 20, cacheRead: 7 },
};

test("OpenAI: text and thinking are shown while they come, and the reply is whole", async () => {
  await using server = await modelServer(listing);
  const shown: string[] = [];
  const show = (text: string) => void shown.push(text);
  const reply = await ask(connect(server), [hello], { text: show, reasoning: show });
  assert.deepEqual(shown, ["Files fi", "rst, 文件", "I will", " look."]);
  assert.deepEqual(
    reply.parts.map((part) => (part.type === "call" ? [part.id, part.input, part.malformed] : [part.type, part.text])),
    [
      ["reasoning", "Files first, 文件"],
      ["text", "I will look."],
      ["call_1", { command: "ls" }, undefined],
      ["call_2", {}, "{"],
    ],
  );
  assert.deepEqual(
    [reply.finish, reply.model, reply.usage],
    ["calls", "openai/m", { ...noUsage, inputTokens: 100, outputTokens: 20, cacheReadTokens: 7 }],
  );
});

test("OpenAI keeps nothing: the conversation goes whole each time, its reasoning sealed as it came", async () => {
  await using server = await modelServer(listing, { text: "Done." });
  const model = connect(server);
  const reply = await ask(model);
  const results = ["a.ts", "not JSON"].map((text, n) => ({
    call: `call_${n + 1}`,
    tool: "Bash",
    result: { ok: n === 0, text },
  }));
  await ask(model, [hello, { role: "assistant", parts: reply.parts, model: reply.model }, { role: "tool", results }]);
  for (const { path, headers, body } of server.requests) {
    assert.deepEqual([path, headers.authorization], ["/v1/responses", "Bearer secret"]);
    assert.deepEqual([body["store"], body["include"]], [false, ["reasoning.encrypted_content"]]);
  }
  const input = server.requests[1]?.body["input"] as { type?: string; role?: string; [field: string]: unknown }[];
  const kinds = input.slice(1).map(({ type, role }) => type ?? role);
  assert.deepEqual(kinds, [
    "user",
    "reasoning",
    "assistant",
    ...["function_call", "function_call", "function_call_output", "function_call_output"],
  ]);
  assert.equal(input[2]?.["encrypted_content"], "c2VhbGVk");
  assert.equal(JSON.stringify(input).includes("item_reference"), false);
});

test("OpenAI: a stream that stops anywhere is an error, never a shorter reply", { timeout: 60_000 }, async () => {
  await using server = await modelServer();
  const model = connect(server);
  const needed = chunksOf("responses", listing).length;
  for (let at = 0; at < needed; at++) {
    for (const ending of ["cut", "end"] as const) {
      server.plays.push({ reply: listing, at, ending });
      await assert.rejects(
        ask(model),
        (error: { isRetryable?: boolean; retryable?: boolean }) => error.isRetryable ?? error.retryable ?? false,
        `${ending} at ${at}`,
      );
    }
  }
});

test("OpenAI: an error in the middle of a stream is an error, and the token limit is told", async () => {
  const busy = { type: "server_error", message: "Too busy", code: "server_error" };
  await using server = await modelServer(
    { reply: listing, at: 4, ending: busy },
    { text: "I wi", stop: "max_output_tokens" },
  );
  const model = connect(server);
  await assert.rejects(ask(model), { message: "Too busy" });
  assert.equal((await ask(model)).finish, "length");
});

test("only OpenAI's own host speaks Responses", () => {
  assert.equal(isOpenAI("openai", undefined), true);
  assert.equal(isOpenAI("openai", "https://api.openai.com/v1"), true);
  assert.equal(isOpenAI("openai", "http://127.0.0.1:11434/v1"), false);
  assert.equal(isOpenAI("local", undefined), false);
});
