import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { anthropic } from "../../src/models/wire/anthropic.ts";
import type { Model, ModelRequest, ModelScope } from "../../src/models/model.ts";
import { openai } from "../../src/models/wire/chat.ts";
import { responses } from "../../src/models/wire/responses.ts";
import { noUsage, type Message, type Reply } from "../../src/protocol/facts/message.ts";
import { chunksOf, modelServer, type RequestBody, type ServedReply } from "../support/model-server.ts";

type Server = Awaited<ReturnType<typeof modelServer>>;

const wires = {
  anthropic: (server: Server, options: { apiKey?: string; idleTimeoutMs?: number } = {}) =>
    anthropic({ modelId: "m", baseURL: server.anthropicURL, ...options }),
  openai: (server: Server, options: { apiKey?: string; idleTimeoutMs?: number } = {}) =>
    openai({ modelId: "m", baseURL: server.openaiURL, ...options }),
} satisfies Record<string, (server: Server) => Model>;

const hello: Message[] = [{ role: "user", text: "hello" }];

const bash = {
  name: "Bash",
  description: "Runs a command",
  inputSchema: { type: "object", properties: { command: { type: "string" } } },
};
const read = { name: "Read", description: "Reads a file", inputSchema: { type: "object" } };

function request(messages: Message[] = hello, rest: Partial<ModelRequest> = {}): ModelRequest {
  return { system: "You are Sage.", messages, tools: [read, bash], options: {}, agent: [], ...rest };
}

function listener(signal = new AbortController().signal) {
  const shown = { text: [] as string[], reasoning: [] as string[] };
  const scope: ModelScope = {
    signal,
    text: (delta) => void shown.text.push(delta),
    reasoning: (delta) => void shown.reasoning.push(delta),
    retry: () => assert.fail("a provider does not retry"),
  };
  return { scope, shown };
}

function ask(model: Model, ...args: Parameters<typeof request>): Promise<Reply> {
  return model.reply(request(...args), listener().scope);
}

/** A reply as the loop sends it back, with a result for each call. */
function after(reply: Reply, ...results: { ok: boolean; text: string }[]): Message[] {
  const calls = reply.parts.filter((part) => part.type === "call");
  return [
    ...hello,
    { role: "assistant", parts: reply.parts, model: reply.model },
    {
      role: "tool",
      results: calls.map((call, n) => ({
        call: call.id,
        tool: call.tool,
        result: results[n] ?? { ok: true, text: "fine" },
      })),
    },
  ];
}

const listing: ServedReply = {
  thinking: { text: "Files first, 文件", signature: "c2ln+/bmF0dXJl==" },
  text: "I will look.",
  calls: [
    { id: "toolu_1", tool: "Bash", arguments: '{"command":"ls"}' },
    { id: "toolu_2", tool: "Read", arguments: '{"path":"a.ts"}' },
  ],
  usage: { input: 100, output: 20, cacheRead: 7 },
};

for (const [wire, connect] of Object.entries(wires)) {
  describe(wire, () => {
    test("text and thinking are shown while they come, and the reply is whole", async () => {
      await using server = await modelServer(listing);
      const { scope, shown } = listener();
      const reply = await connect(server).reply(request(), scope);
      assert.deepEqual(shown, { text: ["I will", " look."], reasoning: ["Files fi", "rst, 文件"] });
      assert.deepEqual(reply, {
        parts: [
          {
            type: "reasoning",
            text: "Files first, 文件",
            ...(wire === "anthropic" && { metadata: { anthropic: { signature: "c2ln+/bmF0dXJl==" } } }),
          },
          { type: "text", text: "I will look." },
          { type: "call", id: "toolu_1", tool: "Bash", input: { command: "ls" } },
          { type: "call", id: "toolu_2", tool: "Read", input: { path: "a.ts" } },
        ],
        // Anthropic counts what was read from the cache beside the rest of the input, OpenAI within it.
        usage: { ...noUsage, inputTokens: wire === "anthropic" ? 107 : 100, outputTokens: 20, cacheReadTokens: 7 },
        finish: "calls",
        model: `${wire}/m`,
      });
    });

    test("arguments that are not a JSON object make a call that says so and has no input", async () => {
      const sent = ['{"command": "l', "[1]", '"ls"', "null", ""];
      await using server = await modelServer({
        calls: sent.map((text, n) => ({ id: `c${n}`, tool: "Bash", arguments: text })),
      });
      const { parts } = await ask(connect(server));
      assert.deepEqual(
        parts.map((part) => part.type === "call" && [part.input, part.malformed]),
        [
          [{}, '{"command": "l'],
          [{}, "[1]"],
          [{}, '"ls"'],
          [{}, "null"],
          [{}, undefined],
        ],
      );
    });

    test("a malformed call goes back as a call without arguments, and a failed result as an error", async () => {
      await using server = await modelServer(
        { calls: [{ id: "c0", tool: "Nope", arguments: "{" }] },
        { text: "Sorry." },
      );
      const model = connect(server);
      await ask(model, after(await ask(model), { ok: false, text: "no tool Nope" }));
      const [, assistant, result] = conversation(server.requests[1]?.body);
      if (wire === "anthropic") {
        assert.deepEqual(assistant?.content, [{ type: "tool_use", id: "c0", name: "Nope", input: {} }]);
        assert.deepEqual(result?.content, [
          {
            type: "tool_result",
            tool_use_id: "c0",
            content: "no tool Nope",
            is_error: true,
            cache_control: { type: "ephemeral" },
          },
        ]);
      } else {
        assert.deepEqual(assistant?.tool_calls, [
          { id: "c0", type: "function", function: { name: "Nope", arguments: "{}" } },
        ]);
        assert.deepEqual(result, { role: "tool", tool_call_id: "c0", content: "no tool Nope" });
      }
    });

    test("a call that the token limit cut down to nothing is never taken for a call without arguments", async () => {
      const stop = wire === "anthropic" ? "max_tokens" : "length";
      await using server = await modelServer({ calls: [{ id: "c0", tool: "Bash", arguments: "" }], stop });
      const reply = await ask(connect(server));
      assert.deepEqual(
        [reply.finish, reply.parts],
        ["length", [{ type: "call", id: "c0", tool: "Bash", input: {}, malformed: "{}" }]],
      );
    });

    test("how a reply ended is told in one vocabulary", async () => {
      const ends =
        wire === "anthropic"
          ? ["end_turn", "max_tokens", "refusal", "news"]
          : ["stop", "length", "content_filter", "news"];
      await using server = await modelServer(...ends.map((stop) => ({ text: "x", stop })), {
        calls: [{ id: "c", tool: "Bash", arguments: "{}" }],
        stop: ends[0]!,
      });
      const model = connect(server);
      const finishes = [];
      for (let n = 0; n < 5; n++) finishes.push((await ask(model)).finish);
      assert.deepEqual(finishes, ["stop", "length", "filtered", "other", "calls"]);
    });

    test("a stream that stops anywhere is an error, never a shorter reply", { timeout: 60_000 }, async () => {
      await using server = await modelServer();
      const model = connect(server);
      // Chunks after the last one that matters are only politeness.
      const needed = chunksOf(wire as keyof typeof wires, listing).length - (wire === "anthropic" ? 0 : 2);
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
      server.plays.push({ reply: listing, at: needed, ending: "end" });
      assert.equal((await ask(model)).parts.length, 4);
    });

    test("an error in the middle of a stream is an error", async () => {
      await using server = await modelServer({
        reply: listing,
        at: 6,
        ending: { type: "overloaded_error", message: "Too busy" },
      });
      await assert.rejects(ask(connect(server)), { message: "Too busy", isRetryable: true });
    });

    test("aborting closes the connection at once", async () => {
      await using server = await modelServer({ reply: listing, at: 6, ending: "hang" });
      const controller = new AbortController();
      const { scope } = listener(controller.signal);
      const shown = new Promise<void>((resolve) => (scope.reasoning = () => resolve()));
      const reply = connect(server).reply(request(), scope);
      await shown;
      controller.abort(new Error("enough"));
      await assert.rejects(reply);
      await server.requests[0]?.gone;
      assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
    });

    test("a finished reply leaves no listener on the signal", async () => {
      await using server = await modelServer({ text: "hi" });
      const controller = new AbortController();
      await connect(server).reply(request(), listener(controller.signal).scope);
      assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
    });

    test("a server that falls silent is given up", { timeout: 20_000 }, async () => {
      await using server = await modelServer(
        { reply: listing, at: 0, ending: "hang" },
        { reply: listing, at: 5, ending: "hang" },
      );
      const model = connect(server, { idleTimeoutMs: 100 });
      for (const n of [0, 1]) {
        await assert.rejects(ask(model), { isRetryable: true });
        await server.requests[n]?.gone;
      }
    });

    test("a connection is used again for the next request", async () => {
      await using server = await modelServer({ text: "one" }, { text: "two" });
      const model = connect(server);
      await ask(model);
      await ask(model);
      assert.equal(server.connections(), 1);
    });

    test("without a key a server of one's own still answers", async () => {
      await using server = await modelServer({ text: "hi" });
      assert.equal((await ask(connect(server))).finish, "stop");
      assert.equal(server.requests[0]?.headers.authorization, undefined);
    });

    test("the key, the options and the tools arrive", async () => {
      await using server = await modelServer({ text: "hi" });
      await ask(connect(server, { apiKey: "secret" }), hello, { options: { maxOutputTokens: 123, temperature: 0.5 } });
      const { headers, body, path } = server.requests[0]!;
      assert.equal(path, wire === "anthropic" ? "/v1/messages" : "/v1/chat/completions");
      assert.equal(
        wire === "anthropic" ? headers["x-api-key"] : headers.authorization,
        wire === "anthropic" ? "secret" : "Bearer secret",
      );
      assert.equal(headers["accept-encoding"], undefined);
      assert.deepEqual([body["max_tokens"], body["temperature"], body["stream"]], [123, 0.5, true]);
      if (wire === "anthropic") {
        assert.deepEqual(body.tools?.[0], {
          name: "Read",
          description: "Reads a file",
          input_schema: { type: "object" },
        });
      } else {
        assert.deepEqual(body.tools?.[1], {
          type: "function",
          function: { name: "Bash", description: bash.description, parameters: bash.inputSchema },
        });
        assert.deepEqual(body["stream_options"], { include_usage: true });
      }
    });

    test("another model's thinking stays behind, and nothing empty is sent", async () => {
      await using server = await modelServer({ text: "hi" });
      await ask(connect(server), [
        ...hello,
        {
          role: "assistant",
          model: "other/x",
          parts: [{ type: "reasoning", text: "hm", metadata: { other: { signature: "s" } } }],
        },
        { role: "user", text: " " },
        {
          role: "assistant",
          model: "other/x",
          parts: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "\n\n" },
            { type: "text", text: "yes" },
          ],
        },
        { role: "user", text: "go on" },
      ]);
      const sent = JSON.stringify(conversation(server.requests[0]?.body).map(({ content }) => content));
      assert.deepEqual(sent.includes("hm"), false);
      assert.deepEqual(
        conversation(server.requests[0]?.body).map(({ role }) => role),
        ["user", "assistant", "user"],
      );
    });
  });
}

function conversation(body: RequestBody | undefined): RequestBody["messages"] {
  return (body?.messages ?? []).filter(({ role }) => role !== "system");
}

test("Anthropic gets its thinking back with the signature it gave, byte for byte", async () => {
  await using server = await modelServer(listing, { text: "Done." });
  const model = wires.anthropic(server);
  const thinking = { options: { thinkingTokens: 2000 } };
  // A journal lies between two requests.
  const reply = JSON.parse(JSON.stringify(await ask(model, hello, thinking))) as Reply;
  await ask(model, after(reply), thinking);
  const [first, second] = server.requests;
  assert.deepEqual(first?.body["thinking"], { type: "enabled", budget_tokens: 2000 });
  assert.deepEqual(second?.body["thinking"], { type: "enabled", budget_tokens: 2000 });
  assert.deepEqual(second?.body.messages[1]?.content, [
    { type: "thinking", thinking: "Files first, 文件", signature: "c2ln+/bmF0dXJl==" },
    { type: "text", text: "I will look." },
    { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls" } },
    { type: "tool_use", id: "toolu_2", name: "Read", input: { path: "a.ts" } },
  ]);
});

test("plan mode's reminder moves, and Anthropic's marks do not stand on it: the next prompt meets all before it", async () => {
  await using server = await modelServer(listing, listing, { text: "Done." });
  const model = wires.anthropic(server);
  const planned = (messages: readonly Message[]) =>
    ask(model, [...messages, { role: "user", text: "(plan mode is on)" }], { fleeting: 1 });
  let messages = after(await planned(hello));
  messages = [...messages, ...after(await planned(messages)).slice(-2)];
  await planned(messages);
  const blocks = server.requests.map(({ body }) =>
    body.messages.flatMap(({ content }) => content as { cache_control?: unknown; text?: string }[]),
  );
  const prefixes = blocks.map((all) =>
    all.flatMap((block, n) =>
      block.cache_control
        ? [JSON.stringify(all.slice(0, n + 1).map((part) => ({ ...part, cache_control: undefined })))]
        : [],
    ),
  );
  for (const [n, marked] of prefixes.entries()) {
    assert.ok(marked.length > 0 && marked.every((prefix) => !prefix.includes("plan mode is on")), `prompt ${n}`);
    if (n > 0)
      assert.ok(marked.includes(prefixes[n - 1]?.at(-1) ?? ""), `prompt ${n} meets what the one before has left`);
  }
});

test("OpenAI's own servers are told which conversation it is, and nobody else is", async () => {
  await using server = await modelServer();
  server.always.play = () => ({ text: "hello" });
  const env = { http_proxy: server.anthropicURL };
  const body = async (wire: typeof openai | typeof responses, baseURL: string, cacheKey?: string) => {
    const model = wire({ modelId: "gpt-5", baseURL, apiKey: "k", env });
    await ask(model, hello, { ...(cacheKey !== undefined && { cacheKey }) });
    return server.requests.at(-1)?.body["prompt_cache_key"];
  };
  for (const wire of [openai, responses]) {
    const key = await body(wire, "http://api.openai.com/v1", "s1");
    assert.match(String(key), /^[\w-]{32}$/);
    assert.equal(await body(wire, "http://eu.api.openai.com/v1", "s1"), key);
    assert.notEqual(await body(wire, "http://api.openai.com/v1", "s1/Explore"), key);
    for (const other of ["http://api.openai.com.example.org/v1", "http://proxy.example.org/v1", server.openaiURL])
      assert.equal(await body(wire, other, "s1"), undefined, other);
    assert.equal(await body(wire, "http://api.openai.com/v1"), undefined);
  }
});

test("Anthropic is not asked to think over the results of calls that were made without thinking", async () => {
  await using server = await modelServer({ ...listing, thinking: undefined }, { text: "Done." });
  const model = wires.anthropic(server);
  await ask(model, after(await ask(model)), { options: { thinkingTokens: 2000 } });
  assert.equal(server.requests[1]?.body["thinking"], undefined);
});

test("Anthropic caches tools, system and both ends of the conversation with at most four breakpoints", async () => {
  await using server = await modelServer(listing, { text: "Done." });
  const model = wires.anthropic(server);
  await ask(model, after(await ask(model)));
  const marks = server.requests.map(({ body }) => ({
    tools: body.tools?.map((tool) => tool["cache_control"]),
    system: body.system?.map((part) => part.cache_control),
    messages: body.messages.map(({ content }) =>
      (content as { cache_control?: unknown }[]).map((part) => part.cache_control),
    ),
  }));
  const here = { type: "ephemeral" };
  assert.deepEqual(marks, [
    { tools: [undefined, here], system: [here], messages: [[here]] },
    {
      tools: [undefined, here],
      system: [here],
      messages: [[here], [undefined, undefined, undefined, undefined], [undefined, here]],
    },
  ]);
});

test("Anthropic gets ids of another provider's calls in a form it accepts", async () => {
  await using server = await modelServer({ text: "hi" });
  await ask(
    wires.anthropic(server),
    after({
      parts: [{ type: "call", id: "functions.Bash:0", tool: "Bash", input: {} }],
      model: "kimi/k2",
      finish: "calls",
      usage: noUsage,
    }),
  );
  const [, call, result] = server.requests[0]!.body.messages.map(
    ({ content }) => (content as { id?: string; tool_use_id?: string }[])[0],
  );
  assert.deepEqual([call?.id, result?.tool_use_id], ["functions_Bash_0", "functions_Bash_0"]);
});

test("a compatible server gets its reasoning back, and its ids as they were", async () => {
  await using server = await modelServer(
    { ...listing, calls: [{ id: "functions.Bash:0", tool: "Bash", arguments: "{}" }] },
    { text: "Done." },
  );
  const model = wires.openai(server);
  await ask(model, after(await ask(model)));
  const [, assistant, result] = conversation(server.requests[1]?.body);
  assert.deepEqual(assistant, {
    role: "assistant",
    content: "I will look.",
    reasoning_content: "Files first, 文件",
    tool_calls: [{ id: "functions.Bash:0", type: "function", function: { name: "Bash", arguments: "{}" } }],
  });
  assert.deepEqual(result, { role: "tool", tool_call_id: "functions.Bash:0", content: "fine" });
});
