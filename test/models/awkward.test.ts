// Every wire format against a server on this machine that does everything servers were ever seen to do.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { throughEndpoint } from "../../src/models/choice/endpoint.ts";
import { classify, giveUp } from "../../src/models/failure.ts";
import type { Model, ModelScope } from "../../src/models/model.ts";
import { isOverflow } from "../../src/models/window.ts";
import { anthropic } from "../../src/models/wire/anthropic.ts";
import { openai } from "../../src/models/wire/chat.ts";
import { google } from "../../src/models/wire/google.ts";
import { type WireOptions, createPost } from "../../src/models/wire/post.ts";
import { responses } from "../../src/models/wire/responses.ts";
import { callsOf, textOf, type Finish, type Reply } from "../../src/protocol/facts/message.ts";
import { type Reason, reasonOf } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { chunksOf, modelServer, type Play, type ServedReply, type Wire } from "../support/model-server.ts";

type Server = Awaited<ReturnType<typeof modelServer>>;

type Format = {
  make(options: WireOptions, server: Server): Model;
  /** How the format says that the limit was met, and that content was refused. */
  stops: { length: string; filtered: string };
  /** Events that nobody here knows. */
  unknown: object[];
  /** A prompt that is too long, in the provider's own words. */
  tooLong: string;
};

const formats: Record<Wire, Format> = {
  anthropic: {
    make: (options, { anthropicURL: baseURL }) => anthropic({ ...options, baseURL }),
    stops: { length: "max_tokens", filtered: "refusal" },
    unknown: [
      { type: "brand_new_event", value: 1 },
      { type: "content_block_start", index: 90, content_block: { type: "hologram", id: "h" } },
      { type: "content_block_delta", index: 90, delta: { type: "hologram_delta", hologram: "x" } },
      { type: "content_block_stop", index: 90 },
    ],
    tooLong: "prompt is too long: 250000 tokens > 200000 maximum",
  },
  openai: {
    make: (options, { openaiURL: baseURL }) => openai({ ...options, baseURL }),
    stops: { length: "length", filtered: "content_filter" },
    unknown: [
      { object: "hologram" },
      { choices: [] },
      { choices: [{ index: 0, delta: { hologram: { x: 1 }, audio: null } }] },
    ],
    tooLong: "This model's maximum context length is 8192 tokens",
  },
  responses: {
    make: (options, { openaiURL: baseURL }) => responses({ ...options, baseURL }),
    stops: { length: "max_output_tokens", filtered: "content_filter" },
    unknown: [
      { type: "response.hologram.delta", item_id: "h", delta: "x" },
      { type: "response.output_item.added", item: { type: "hologram", id: "h" } },
      { type: "response.output_item.done", item: { type: "hologram", id: "h" } },
    ],
    tooLong: "Your input exceeds the context window of this model.",
  },
  google: {
    make: (options, { googleURL: baseURL }) => google({ ...options, baseURL }),
    stops: { length: "MAX_TOKENS", filtered: "SAFETY" },
    unknown: [
      { hologram: true },
      { candidates: [{ content: { parts: [{ hologram: { x: 1 } }, { executableCode: { code: "1" } }] } }] },
      { candidates: [{ content: {} }] },
    ],
    tooLong: "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
  },
};

const request = {
  system: "s",
  messages: [{ role: "user" as const, text: "hello" }],
  tools: [{ name: "Bash", description: "runs", inputSchema: { type: "object" } }],
  options: {},
  agent: [],
};

const whole: ServedReply = {
  text: "你好, I look.",
  calls: [{ id: "c1", tool: "Bash", arguments: '{"command":"ls -l"}' }],
};

for (const [wire, format] of Object.entries(formats) as [Wire, Format][])
  describe(`over ${wire}`, () => {
    let server: Server;
    before(async () => {
      server = await modelServer();
    });
    after(() => server[Symbol.asyncDispose]());

    const ask = async (model: Model, scope: Partial<ModelScope> = {}): Promise<Reply> => {
      const { signal } = new AbortController();
      return model.reply(request, { signal, text() {}, reasoning() {}, retry() {}, ...scope });
    };
    const bare = (idleTimeoutMs: number) =>
      format.make({ modelId: "m", apiKey: "sk-secret-key", idleTimeoutMs }, server);
    /** Plays these, and gives the reply or the reason why there is none, with all waits and words in between. */
    const through = (...plays: Play[]) => patiently(20_000, ...plays);
    const patiently = async (idleTimeoutMs: number, ...plays: Play[]) => {
      server.plays.splice(0, Infinity, ...plays);
      const waits: number[] = [];
      const told: Reason[] = [];
      const endpoint = { provider: `${wire}${Math.random()}`, baseURL: undefined, limits: {}, secret: "sk-secret-key" };
      const model = throughEndpoint(bare(idleTimeoutMs), { ...endpoint, sleep: async (ms) => void waits.push(ms) });
      const asked = server.requests.length;
      const ended = await ask(model, { retry: (why) => told.push(why) }).then(
        (reply) => ({ reply, error: undefined }),
        (error: unknown) => ({ reply: undefined, error }),
      );
      return { ...ended, waits, told, requests: server.requests.length - asked };
    };
    const kindOf = (error: unknown): string | undefined => kindIn(reasonOf(error));
    const kindIn = (why: Reason): string | undefined => {
      const problem = why.code === "model-failed" ? why.args.problem : why;
      return problem.code === "request-failed" ? problem.args.kind : problem.code;
    };
    const isWhole = (reply: Reply | undefined) => {
      assert.equal(reply && textOf(reply), whole.text);
      assert.deepEqual(reply && callsOf(reply).map(({ tool, input, malformed }) => ({ tool, input, malformed })), [
        { tool: "Bash", input: { command: "ls -l" }, malformed: undefined },
      ]);
      assert.equal(reply?.finish, "calls");
    };

    test("a whole reply, and unknown parts in its midst", async () => {
      isWhole((await through(whole)).reply);
      isWhole((await through({ ...whole, unknown: format.unknown })).reply);
    });

    test("a stream that is cut or ends after any chunk is asked for again and never taken for a shorter one", async () => {
      const chunks = chunksOf(wire, whole).length;
      for (const ending of ["cut", "end"] as const)
        for (let at = 0; at < chunks; at++) {
          const { reply, requests, error } = await through({ reply: whole, at, ending }, whole);
          assert.equal(error, undefined, `${ending} at ${at}`);
          isWhole(reply);
          assert.ok(requests <= 2);
        }
    });

    test("a chunk that comes twice makes no second call and no half one", async () => {
      for (let twice = 0; twice < chunksOf(wire, whole).length; twice++) {
        const { reply } = await through({ reply: whole, at: Infinity, twice, ending: "end" }, whole);
        const calls = reply ? callsOf(reply) : [];
        const runnable = calls.filter(({ malformed }) => malformed === undefined);
        // Google sends a call in one chunk: sent twice, it is two calls, and nobody can tell.
        if (wire !== "google") assert.ok(runnable.length <= 1, `chunk ${twice}: ${JSON.stringify(calls)}`);
        for (const { input } of runnable) assert.deepEqual(input, { command: "ls -l" }, `chunk ${twice}`);
      }
    });

    test("an empty reply is one, half a call is never a call, refused content is told", async () => {
      const { reply: empty } = await through({});
      assert.deepEqual([empty?.parts, empty?.finish], [[], "stop"]);
      const half = { ...whole, calls: [{ id: "c1", tool: "Bash", arguments: '{"command":"rm -r' }] };
      for (const stop of [undefined, format.stops.length]) {
        const { reply } = await through({ ...half, ...(stop !== undefined && { stop }) });
        const [call] = reply ? callsOf(reply) : [];
        assert.ok(call?.malformed !== undefined && Object.keys(call.input).length === 0, JSON.stringify(call));
      }
      const none = { calls: [{ id: "c1", tool: "Bash", arguments: "" }], stop: format.stops.length };
      const [unbegun] = callsOf((await through(none)).reply!);
      assert.ok(unbegun?.malformed !== undefined);
      const finishes: [string, Finish][] = [
        [format.stops.length, "length"],
        [format.stops.filtered, "filtered"],
      ];
      for (const [stop, finish] of finishes) assert.equal((await through({ text: "a", stop })).reply?.finish, finish);
    });

    test("statuses: what can work again is tried again, as long as the server says, and the rest is explained", async () => {
      const refused = (status: number, headers: Record<string, string> = {}): Play => ({
        status,
        headers,
        message: "no",
      });
      for (const [status, kind] of [
        [401, "key-refused"],
        [402, "unpaid"],
        [403, "access-refused"],
        [404, "unknown-model"],
        [400, "refused"],
      ] as const) {
        const { error, requests, waits } = await through(refused(status), whole);
        assert.deepEqual([kindOf(error), requests, waits], [kind, 1, []], String(status));
        assert.ok(!(error as Error).message.includes("sk-secret-key"));
      }
      for (const status of [429, 500, 502, 503, 529]) {
        const { reply, waits } = await through(refused(status), whole);
        isWhole(reply);
        assert.equal(waits.length, 1, String(status));
        assert.ok(waits[0]! >= 500 && waits[0]! <= 1_000, `${status} waits ${waits[0]}`);
      }
      assert.deepEqual((await through(refused(429, { "retry-after": "7" }), whole)).waits, [7_000]);
      assert.deepEqual((await through(refused(529, { "retry-after-ms": "1500" }), whole)).waits, [1_500]);
      const late = await through(refused(429, { "retry-after": "3600" }), whole);
      assert.deepEqual([kindOf(late.error), late.requests], ["rate-limited", 1]);
    });

    test("a prompt that is too long is known as one, whatever the provider calls it", async () => {
      for (const play of [
        { status: 413, message: "too large" },
        { status: 400, message: format.tooLong },
      ]) {
        const { error, requests } = await through(play, whole);
        assert.deepEqual([kindOf(error), isOverflow(error), requests], ["too-large", true, 1], play.message);
      }
    });

    test("a server that hangs before or in a reply is given up and asked again; an error in the stream too", async () => {
      for (const at of [0, 2]) {
        const { reply, told } = await patiently(300, { reply: whole, at, ending: "hang" }, whole, whole, whole);
        isWhole(reply);
        assert.equal(told[0]?.code === "tries-again" && kindIn(told[0].args.problem), "silent");
      }
      const broken = {
        type: "server_error",
        message: "it broke",
        code: wire === "openai" || wire === "google" ? 500 : "x",
      };
      isWhole((await through({ reply: whole, at: 2, ending: broken }, whole)).reply);
    });
  });

test("an address at which a web page, or no TLS, answers is told as one, with what to look at, and not tried again", async () => {
  const page = "\n <!doctype html><html>Sign in</html>";
  const site = createServer((_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(page));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const { port } = site.address() as AddressInfo;
  site.unref();
  const failed = async (url: string) => {
    const { signal } = new AbortController();
    const error = await createPost({ url, headers: {}, env: {} })(["{}"], () => {}, signal).then(
      () => assert.fail("that was no reply"),
      (thrown: unknown) => thrown,
    );
    const failure = classify(error);
    assert.equal(failure.retryable, false);
    return sentence(reasonOf(giveUp("openai/x", failure)), "en");
  };
  assert.equal(
    await failed(`http://127.0.0.1:${port}/v1`),
    "openai/x: The server does not know this model or address (200: text/html). Check the name of the model (--model openai/<name>) and the base URL.",
  );
  assert.match(
    await failed(`https://127.0.0.1:${port}/v1`),
    /^openai\/x: No secure connection could be made \([^\n]{3,60}\)\. Check that the base URL begins with http/,
  );
  site.close();
});
