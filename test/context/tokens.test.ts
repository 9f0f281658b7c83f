import assert from "node:assert/strict";
import { test } from "node:test";
import { estimateTokens, messageTokens, totalTokens } from "../../src/context/compaction.ts";
import { classify, giveUp } from "../../src/models/failure.ts";
import { contextWindow, isOverflow } from "../../src/models/window.ts";
import type { Message } from "../../src/protocol/facts/message.ts";
import { reason, said, reasonOf, SageError } from "../../src/protocol/reasons/reason.ts";

test("text is estimated by its characters, Chinese ones counting almost three times as much", () => {
  assert.equal(estimateTokens(""), 0);
  assert.equal(estimateTokens("等待"), 1.5);
  assert.equal(estimateTokens("，。"), 1.5);
  assert.ok(Math.abs(estimateTokens("a".repeat(100)) - 27) < 1e-9);
});

test("a message is counted once, and a list from where it was counted last", () => {
  const spoken: Message = { role: "user", text: "x".repeat(1_000) };
  const before = messageTokens(spoken);
  assert.equal(before, 274);
  (spoken as { text: string }).text = "";
  assert.equal(messageTokens(spoken), before, "messages never change, so the first count stands");
  assert.equal(totalTokens([spoken, spoken, spoken], 1), 2 * before);
});

test("a prompt that was too long is told from everything else a provider refuses", () => {
  const refused = (told: string) => {
    const [, status, message] = /^(\d+): (.*)$/.exec(told) ?? [];
    return giveUp("x/y", classify(Object.assign(new Error(message), { statusCode: Number(status) })));
  };
  const behind = (problem: SageError, fallback: SageError) =>
    new SageError(
      "model-unavailable",
      reason("fallback-failed", { problem: reasonOf(problem), fallback: reasonOf(fallback) }),
    );
  const limited = refused("429: Request too large for this model: maximum context of tokens per minute");
  const long = refused("400: prompt is too long: 210000 tokens > 200000 maximum");
  for (const error of [
    long,
    behind(limited, long),
    refused("400: This model's maximum context length is 128000 tokens"),
    refused("400: Your input exceeds the context window of this model"),
    refused("400: the request exceeds the available context size. exceed_context_size_error"),
    refused("413: request_too_large"),
    Object.assign(new Error("Payload Too Large"), { statusCode: 413 }),
  ])
    assert.equal(isOverflow(error), true, error.message);
  for (const error of [
    limited,
    refused("401: invalid x-api-key"),
    new Error("prompt is too long"),
    new SageError("model-unavailable", said("x/y: The server refused the request (413: prompt is too long).")),
    undefined,
  ])
    assert.equal(isOverflow(error), false, String(error));
});

test("what fits is known by the model's name, and assumed otherwise", () => {
  assert.deepEqual(
    ["anthropic/claude-sonnet-5-5", "openai/gpt-5-mini", "openai/gpt-4o", "local/qwen"].map(contextWindow),
    [200_000, 272_000, 128_000, 200_000],
  );
});
