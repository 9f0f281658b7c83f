import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chooseModel, defaultModels, type ModelSettings } from "../../src/models/choice/choose.ts";
import type { ModelRequest, ModelScope } from "../../src/models/model.ts";
import { loadScript, scripted, type Script } from "../../src/models/scripted.ts";
import { noUsage, textOf, type Message, type Reply } from "../../src/protocol/facts/message.ts";
import { modelServer } from "../support/model-server.ts";
import { worded } from "../support/worded.ts";

const hello: Message = { role: "user", text: "hello" };

function request(messages: Message[] = [hello], agent: string[] = []): ModelRequest {
  return { system: "", messages, tools: [], options: {}, agent };
}

function listener(signal = new AbortController().signal) {
  const shown: string[] = [];
  const scope: ModelScope = {
    signal,
    text: (delta) => void shown.push(`text ${delta}`),
    reasoning: (delta) => void shown.push(`reasoning ${delta}`),
    retry: () => assert.fail("a script is not retried"),
  };
  return { scope, shown };
}

function play(script: Script, ...args: Parameters<typeof request>): Promise<Reply> {
  return scripted(script).reply(request(...args), listener().scope);
}

function choice(
  spec: string | undefined,
  env: Record<string, string> = {},
  settings: ModelSettings = {},
): string | undefined {
  const chosen = chooseModel({ spec, env, settings });
  return chosen && `${chosen.provider} ${chosen.modelId}`;
}

test("a script's turn becomes a whole reply, streamed in pieces", async () => {
  const { scope, shown } = listener();
  const turn = {
    reasoning: "Hm.",
    text: "A longer answer 👩‍💻 in pieces",
    calls: [
      { tool: "Bash", input: { command: "ls" } },
      { tool: "Read", input: {}, id: "mine" },
    ],
  };
  const reply = await scripted([turn]).reply(request(), scope);
  assert.deepEqual(reply, {
    parts: [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "A longer answer 👩‍💻 in pieces" },
      { type: "call", id: "call_0_0", tool: "Bash", input: { command: "ls" } },
      { type: "call", id: "mine", tool: "Read", input: {} },
    ],
    usage: noUsage,
    finish: "calls",
    model: "scripted",
  });
  assert.deepEqual(shown, ["reasoning Hm.", "text A longer answer ", "text 👩‍💻 in pieces"]);
});

test("which turn comes next is read off the messages, so another process goes on with it", async () => {
  const script = [
    { text: "one" },
    { text: "two" },
    (asked: ModelRequest) => ({ text: `${asked.messages.length} messages` }),
  ];
  const one = await play(script);
  const messages: Message[] = [hello, { role: "assistant", parts: one.parts, model: one.model }, hello];
  const two = await play(script, messages);
  assert.equal(textOf(two), "two");
  assert.equal(textOf(await play(script, messages)), "two");
  const three = await play(script, [...messages, { role: "assistant", parts: two.parts, model: two.model }]);
  assert.equal(textOf(three), "4 messages");
});

test("agents have turns of their own", async () => {
  const script = { "": [{ text: "root" }], "task/explore": [{ text: "deep" }] };
  assert.equal(textOf(await play(script)), "root");
  assert.equal(textOf(await play(script, [hello], ["task", "explore"])), "deep");
});

test("a script that runs out says for whom and where", async () => {
  const replied: Message = { role: "assistant", parts: [], model: "scripted" };
  await assert.rejects(
    play([{ text: "one" }], [hello, replied]),
    worded({
      code: "model-unavailable",
      message: "the script has no turn 1 for the root agent: it has 1, counted from 0",
    }),
  );
  await assert.rejects(
    play([{ text: "one" }], [hello], ["explore"]),
    worded({
      code: "model-unavailable",
      message: 'the script has no turn 0 for agent "explore": it has none under "explore"',
    }),
  );
});

test("a slow turn can be aborted, with the reason", async () => {
  const reason = new Error("enough");
  const controller = new AbortController();
  const { scope, shown } = listener(controller.signal);
  const reply = scripted([{ text: "never", delayMs: 600_000 }]).reply(request(), scope);
  controller.abort(reason);
  await assert.rejects(reply, (error) => error === reason);
  assert.deepEqual(shown, []);
});

test("a script comes from a file, and a wrong one is explained", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sage-script-"));
  const file = join(folder, "script.json");
  const write = (text: string) => writeFile(file, text);
  try {
    await write('[{"text":"from a file","calls":[{"tool":"Bash","input":{"command":"ls"}}]}]');
    const model = await chooseModel({ spec: `scripted/${file}`, env: {} })?.load();
    assert.equal(textOf(await model!.reply(request(), listener().scope)), "from a file");
    await write('{"": [{"text":"root"}], "explore": []}');
    assert.deepEqual(await loadScript(file), { "": [{ text: "root" }], explore: [] });
    for (const wrong of ["[{]", '[{"say":"hi"}]', '"hi"', '[{"calls":[{"tool":"Bash"}]}]']) {
      await write(wrong);
      await assert.rejects(
        loadScript(file),
        worded({
          code: "config-invalid",
          message: /script\.json should be a JSON list of turns/,
        }),
      );
    }
    await assert.rejects(
      loadScript(join(folder, "absent.json")),
      worded({
        code: "config-invalid",
        message: /there is no file .*absent\.json/,
      }),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("without a name the environment decides, and nothing means nothing", () => {
  assert.equal(choice(undefined), undefined);
  assert.equal(choice(undefined, { ANTHROPIC_API_KEY: "", OPENAI_BASE_URL: "" }), undefined);
  assert.equal(choice(undefined, { ANTHROPIC_API_KEY: "k" }), `anthropic ${defaultModels.anthropic}`);
  assert.equal(choice(undefined, { ANTHROPIC_BASE_URL: "http://localhost:1" }), `anthropic ${defaultModels.anthropic}`);
  assert.equal(choice(undefined, { OPENAI_API_KEY: "k" }), `openai ${defaultModels.openai}`);
  assert.equal(choice(undefined, { OPENAI_BASE_URL: "http://localhost:1/v1" }), `openai ${defaultModels.openai}`);
  assert.equal(
    choice(undefined, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }),
    `anthropic ${defaultModels.anthropic}`,
  );
});

test("a name from the command line wins over the settings, and a bare one goes to who is configured", () => {
  const both = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
  assert.equal(choice(undefined, both, { model: "openai/gpt-x" }), "openai gpt-x");
  assert.equal(choice("anthropic/claude-x", both, { model: "openai/gpt-x" }), "anthropic claude-x");
  assert.equal(choice("qwen3", { OPENAI_BASE_URL: "http://localhost:1/v1" }), "openai qwen3");
  assert.equal(choice("any", { ANTHROPIC_API_KEY: "k" }), "anthropic any");
  assert.equal(choice("claude-x", both), "anthropic claude-x");
  assert.equal(choice("gpt-x", both), "openai gpt-x");
  assert.equal(choice("openai/meta/llama", both), "openai meta/llama");
});

test("what cannot work is refused with what was expected and what came", () => {
  const refused = (message: RegExp, ...args: Parameters<typeof choice>) =>
    assert.throws(() => choice(...args), worded({ code: "config-invalid", message }));
  refused(
    /should be anthropic\/<name>, openai\/<name>, google\/<name> or scripted\/<file>; "gogle" is none/,
    "gogle/gemini",
  );
  refused(/should be .*; "openai\/" has no name/, "openai/");
  refused(/"gpt-x" needs its provider: expected .* ANTHROPIC_API_KEY, OPENAI_API_KEY/, "gpt-x");
  refused(/anthropic\/claude-x needs a key: ANTHROPIC_API_KEY is not set/, "anthropic/claude-x");
  refused(/needs a key: OPENAI_API_KEY is not set/, "openai/gpt-x", { OPENAI_BASE_URL: "https://api.openai.com/v1" });
  refused(
    /needs a key: WORK_KEY is not set/,
    "openai/gpt-x",
    { OPENAI_API_KEY: "k" },
    { providers: { openai: { apiKeyEnv: "WORK_KEY" } } },
  );
  refused(/base URL of openai should start with http:\/\/ or https:\/\/; it is "localhost:1"/, "openai/x", {
    OPENAI_BASE_URL: "localhost:1",
  });
});

test("the chosen model answers, with the address and the key that were configured", async () => {
  await using server = await modelServer({ text: "a" }, { text: "b" }, { text: "c" });
  const settings: ModelSettings = { providers: { local: { baseURL: server.openaiURL, apiKeyEnv: "LOCAL_KEY" } } };
  const env = {
    ANTHROPIC_BASE_URL: `${server.anthropicURL}/v1/`,
    OPENAI_BASE_URL: server.openaiURL,
    OPENAI_API_KEY: "o",
    LOCAL_KEY: "l",
  };
  const ids = [];
  for (const spec of ["anthropic/x", "openai/y", "local/z"]) {
    const model = await chooseModel({ spec, env, settings })!.load();
    const reply = await model.reply(request(), listener().scope);
    ids.push(model.id, reply.model);
  }
  assert.deepEqual(ids, ["anthropic/x", "anthropic/x", "openai/y", "openai/y", "local/z", "local/z"]);
  assert.deepEqual(
    server.requests.map(({ path, headers }) => [path, headers.authorization]),
    [
      ["/v1/messages", undefined],
      ["/v1/chat/completions", "Bearer o"],
      ["/v1/chat/completions", "Bearer l"],
    ],
  );
});
