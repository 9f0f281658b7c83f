import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import {
  askOfHook,
  askOfPrompt,
  readEnd,
  hookReply,
  promptReply,
  readResults,
  readSpent,
  saidOf,
} from "../../src/guest/claude/map.ts";
import { claudeDriver } from "../../src/guest/claude/claude.ts";
import type { GuestAnswer, GuestEvent } from "../../src/guest/driver.ts";
import type { Json } from "../../src/guest/peer.ts";
import { question, workspace } from "../support/sage.ts";
import { no, played, yes } from "../support/guests/listen.ts";

const hook = (tool: string, input: object, more: object = {}) =>
  askOfHook("r1", { input: { tool_name: tool, tool_input: input, tool_use_id: "t1", ...more } });

test("what was cached is part of the input; totals of the conversation come with the end of a turn, over all of its models", () => {
  const usage = { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: 20, cache_creation_input_tokens: 7 };
  const message = { message: { id: "m", content: "hi", model: "x", usage } };
  const counted = { inputTokens: 30, outputTokens: 1, cacheReadTokens: 20, cacheWriteTokens: 7 };
  assert.deepEqual(saidOf(message, () => false)?.usage, counted);
  const model = { inputTokens: 3, outputTokens: 50, cacheReadInputTokens: 20, cacheCreationInputTokens: 7, costUSD: 1 };
  assert.deepEqual(readSpent({ total_cost_usd: 0.25, modelUsage: { one: model, two: { inputTokens: 1 } } }), {
    spent: { usage: { ...counted, inputTokens: 31, outputTokens: 50 }, usd: 0.25 },
  });
  assert.equal(readSpent({ total_cost_usd: 0 }), undefined, "a version that does not tell them");
});

test("calls are judged by the fields that Sage knows, and shown whole", () => {
  const input = { command: "ls", timeout: 5, run_in_background: true };
  const call = { type: "call", id: "t1", tool: "Bash", input };
  assert.deepEqual(hook("Bash", input), {
    id: "r1",
    call,
    judged: [{ tool: "Bash", input: { command: "ls" } }],
    agent: [],
  });
  const free = { command: "ls", dangerouslyDisableSandbox: true };
  assert.deepEqual(hook("Bash", free).judged, [], "no rule is about leaving its sandbox");
  assert.deepEqual(hook("mcp__db__drop", { a: 1 }).judged, [{ tool: "mcp__db__drop", input: { a: 1 } }]);
  assert.deepEqual(
    [hook("NotebookEdit", {}).judged, hook("AskUserQuestion", { questions: "no list" }).questions],
    [[], undefined],
  );
  assert.deepEqual(hook("Bash", input, { agent_id: "a1", agent_type: "Explore" }).agent, ["Explore"]);
  assert.deepEqual(hook("AskUserQuestion", { questions: [question("哪个？")] }).questions, [question("哪个？")]);
  const prompt = askOfPrompt("r2", { tool_name: "Bash", input, tool_use_id: "t1", decision_reason: "a rule" });
  assert.deepEqual([prompt.insists, prompt.why, prompt.call], [true, "a rule", call]);
});

test("answers by table: to the callback and to a prompt, never with rules", () => {
  const ask = hook("Bash", { command: "ls", x: 1 });
  const asked = hook("AskUserQuestion", { questions: [question("Q?")] });
  const decision = (permissionDecision: string, more: object = {}) => ({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more },
  });
  const edited: GuestAnswer = { type: "allowed", by: "person", input: { command: "pwd", x: 1 } };
  assert.deepEqual(hookReply(ask, "defer"), decision("defer"));
  assert.deepEqual(hookReply(ask, yes), decision("allow"));
  assert.deepEqual(hookReply(ask, edited), decision("allow", { updatedInput: { command: "pwd", x: 1 } }));
  assert.deepEqual(hookReply(ask, no("Not run.")), decision("deny", { permissionDecisionReason: "Not run." }));
  assert.deepEqual(promptReply(ask, yes), { behavior: "allow", updatedInput: { command: "ls", x: 1 } });
  assert.deepEqual(promptReply(ask, no("Not run.")), { behavior: "deny", message: "Not run." });
  const answers: GuestAnswer = {
    type: "answers",
    answers: { "Q?": { selected: ["Red", "Blue"], other: "both" } },
    remark: "soon",
  };
  assert.deepEqual(promptReply(asked, answers)["updatedInput"], {
    questions: [question("Q?")],
    answers: { "Q?": "Red, Blue, both" },
    annotations: { "Q?": { notes: "soon" } },
  });
});

test("messages and ends by table; usage counts once for each message", () => {
  const counted = new Set<string>();
  const once = (id: string) => counted.has(id) || !counted.add(id);
  const message = (content: object[]) => ({
    message: { id: "m1", model: "x", content, usage: { input_tokens: 3, output_tokens: 2 } },
  });
  const usage = { inputTokens: 3, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const first = saidOf(message([{ type: "text", text: "hi" }]), once);
  assert.deepEqual(first, { type: "said", parts: [{ type: "text", text: "hi" }], model: "x", agent: [], usage });
  const second = saidOf(
    { ...message([{ type: "tool_use", id: "t", name: "Bash", input: {} }]), parent_tool_use_id: "p" },
    once,
  );
  assert.deepEqual([second?.usage, second?.agent], [undefined, ["subagent"]]);
  assert.deepEqual(
    readResults({
      message: {
        content: [
          {
            type: "tool_result",
            tool_use_id: "t",
            is_error: true,
            content: [{ type: "text", text: "no" }, { type: "image" }],
          },
        ],
      },
    }),
    [{ type: "result", call: "t", ok: false, text: "no\n[image]" }],
  );
  const ends: [Json, ReturnType<typeof readEnd>][] = [
    [
      { stop_reason: "tool_deferred", terminal_reason: "tool_deferred" },
      { type: "ended", how: "parked" },
    ],
    [{ stop_reason: "tool_deferred_unavailable" }, "unavailable"],
    [{ origin: { kind: "task-notification" } }, undefined],
    [{ terminal_reason: "completed", queued_turn_count: 1 }, undefined],
    [{ terminal_reason: "completed" }, { type: "ended", how: "done" }],
    [{ terminal_reason: "aborted_tools" }, { type: "ended", how: "interrupted" }],
    [
      { terminal_reason: "completed", is_error: true, result: "log in first" },
      { type: "ended", how: "failed", words: "log in first" },
    ],
  ];
  for (const [result, end] of ends) assert.deepEqual(readEnd(result), end);
});

test("a driver stands what it does not know: broken lines, odd messages, a version without a state, and a silent end", async () => {
  using place = workspace();
  const program = place.path("odd");
  const lines = [
    "not json",
    "{broken",
    `{"type":"control_response","response":{"response":{"claude_code_version":"9"}}}`,
    `{"type":"control_request","request_id":"x","request":{"subtype":"something_new"}}`,
    `{"type":"assistant","message":{"content":"a text"}}`,
    `{"type":"assistant","message":null}`,
    `{"type":"user","message":{"content":[{"type":"tool_result"}]}}`,
    `{"type":"news"}`,
  ];
  writeFileSync(
    program,
    `#!/bin/sh\nread greeting\ncat <<'END'\n${lines.join("\n")}\nEND\nread reply\necho "$reply" > heard\nexit 3\n`,
  );
  chmodSync(program, 0o755);
  const driver = claudeDriver({ name: "claude", command: program, args: [] });
  const groups: number[] = [];
  const guest = await driver.start({
    cwd: place.dir,
    env: process.env,
    spawned: (pid) => void groups.push(pid),
    signal: new AbortController().signal,
  });
  assert.deepEqual([guest.version, guest.goesOn, groups.length], ["9", false, 1]);
  const heard: GuestEvent[] = await played(guest, () => "nothing");
  assert.deepEqual(
    heard.map(({ type }) => type),
    ["said", "ended"],
  );
  assert.equal(
    heard.at(-1)?.type === "ended" && "how" in heard.at(-1)! && (heard.at(-1) as { how: string }).how,
    "died",
  );
  await guest.close();
});
