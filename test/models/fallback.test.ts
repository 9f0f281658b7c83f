import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseModel } from "../../src/models/choice/choose.ts";
import type { ModelRequest, ModelScope } from "../../src/models/model.ts";
import { costOf } from "../../src/models/prices.ts";
import { noUsage, type Message } from "../../src/protocol/facts/message.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { modelServer, type Play } from "../support/model-server.ts";
import { worded } from "../support/worded.ts";

const busy: Play = { status: 429, headers: { "retry-after": "600" }, message: "Later" };
const user: Message = { role: "user", text: "hello" };

const request = (messages: Message[]): ModelRequest => ({ system: "", messages, tools: [], options: {}, agent: [] });

function listener() {
  const notices: string[] = [];
  const scope: ModelScope = {
    signal: new AbortController().signal,
    text() {},
    reasoning() {},
    retry: (why) => void notices.push(sentence(why, "en")),
  };
  return { scope, notices };
}

async function pair() {
  const server = await modelServer();
  const settings = {
    fallbackModel: "second/b",
    providers: { first: { baseURL: server.openaiURL }, second: { baseURL: server.openaiURL } },
  };
  const model = await chooseModel({ spec: "first/a", env: {}, settings })!.load();
  return { server, model };
}

test("where the first model cannot be had the second goes on, to the end of the turn, and the person knows", async () => {
  const { server, model } = await pair();
  await using _ = server;
  const { scope, notices } = listener();
  server.plays.push(busy, { text: "one" }, { text: "two" }, { text: "three" });
  const one = await model.reply(request([user]), scope);
  assert.match(notices.join("\n"), /^first\/a: Rate limit reached .* Continuing with second\/b for this turn\.$/);
  const said: Message = { role: "assistant", parts: one.parts, model: one.model };
  const two = await model.reply(request([user, said, { role: "tool", results: [] }]), scope);
  const three = await model.reply(request([user, said, user]), scope);
  assert.deepEqual([one.model, two.model, three.model], ["second/b", "second/b", "first/a"]);
  assert.deepEqual(
    server.requests.map(({ body }) => body.model),
    ["a", "b", "b", "a"],
  );
  assert.equal(notices.length, 1);
});

test("what the person has to mend is not hidden by the fallback, and two failures are both told", async () => {
  const { server, model } = await pair();
  await using _ = server;
  const { scope } = listener();
  server.plays.push({ status: 401, message: "no such key" });
  await assert.rejects(model.reply(request([user]), scope), worded(/first\/a: The server refused the key/));
  server.plays.push(busy, { status: 404, message: "what?" });
  await assert.rejects(
    model.reply(request([user]), scope),
    worded(/^SageError: first\/a: Rate limit reached .* The fallback failed too: second\/b: The server does not know/),
  );
});

test("a fallback that cannot work is refused at the start", () => {
  const env = { ANTHROPIC_API_KEY: "k" };
  const choose = (fallback: string) => () => chooseModel({ spec: "anthropic/x", fallback, env });
  assert.throws(choose("openai/y"), worded(/openai\/y needs a key/));
  assert.throws(choose("anthropic/x"), worded(/the fallback should be another model/));
});

test("a cost is known only where the price is", () => {
  const usage = { inputTokens: 1_000_000, cacheReadTokens: 600_000, cacheWriteTokens: 100_000, outputTokens: 10_000 };
  const prices = { "local/x": { input: 1, output: 2 }, "openai/gpt-6.1-sol": { input: 0, output: 0 } };
  assert.equal(costOf(usage, "local/x", prices), 1.02);
  assert.equal(costOf(usage, "anthropic/claude-sonnet-5-5"), 0.6 + 0.12 + 0.25 + 0.1);
  assert.equal(costOf(usage, "openai/gpt-6.1-sol", prices), 0, "the person's own price wins");
  assert.equal(costOf(noUsage, "scripted", prices), undefined);
  assert.equal(costOf(usage, "toString", prices), undefined);
});
