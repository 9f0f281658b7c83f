import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { anthropic } from "../../src/models/wire/anthropic.ts";
import type { Model, ModelRequest, ModelScope } from "../../src/models/model.ts";
import { openai } from "../../src/models/wire/chat.ts";
import { type RetryOptions, withRetry } from "../../src/models/choice/endpoint.ts";
import { textOf, type Reply } from "../../src/protocol/facts/message.ts";
import { said, SageError } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { chunksOf, modelServer, type Play, type ServedReply } from "../support/model-server.ts";
import { wordsOf } from "../support/worded.ts";

type Server = Awaited<ReturnType<typeof modelServer>>;

const hello: ModelRequest = {
  system: "",
  messages: [{ role: "user", text: "hello" }],
  tools: [],
  options: {},
  agent: [],
};

/** Asks through `withRetry` with a clock that only writes down how long it should have slept. */
async function ask(model: Model, options: RetryOptions = {}, signal = new AbortController().signal) {
  const slept: number[] = [];
  const reasons: string[] = [];
  const inChinese: string[] = [];
  let shown = "";
  const scope: ModelScope = {
    signal,
    text: (delta) => void (shown += delta),
    reasoning: () => {},
    retry(why) {
      reasons.push(sentence(why, "en"));
      inChinese.push(sentence(why, "zh"));
      shown = "";
    },
  };
  const sleep = async (ms: number) => void slept.push(ms);
  const outcome = await withRetry(model, { sleep, ...options })
    .reply(hello, scope)
    .then(
      (reply: Reply) => ({ reply, error: undefined }),
      (error: SageError) => ({ reply: undefined, error }),
    );
  return { ...outcome, slept, reasons, inChinese, shown: () => shown };
}

const overAnthropic = (server: Server) => anthropic({ modelId: "m", baseURL: server.anthropicURL, apiKey: "key-1" });
const overOpenAI = (server: Server) => openai({ modelId: "m", baseURL: server.openaiURL });

const talk: ServedReply = {
  text: "Hello, and welcome.",
  calls: [{ id: "c", tool: "Bash", arguments: '{"command":"ls"}' }],
};

test("a stream cut at any chunk is asked for again, and what was shown of it is taken back", async () => {
  for (const [wire, connect] of [
    ["anthropic", overAnthropic],
    ["openai", overOpenAI],
  ] as const) {
    await using server = await modelServer();
    const model = connect(server);
    // Past the last of these, only politeness is missing.
    const chunks = chunksOf(wire, talk).length - (wire === "anthropic" ? 0 : 2);
    for (let at = 0; at < chunks; at++) {
      server.plays.push({ reply: talk, at, ending: "cut" }, { reply: talk, at, ending: "end" }, talk);
      const { reply, reasons, shown } = await ask(model);
      assert.deepEqual(reply?.parts, [
        { type: "text", text: "Hello, and welcome." },
        { type: "call", id: "c", tool: "Bash", input: { command: "ls" } },
      ]);
      assert.equal(shown(), "Hello, and welcome.");
      assert.equal(reasons.length, 2, `${wire} at ${at}`);
    }
  }
});

test("a rate limit is waited out for as long as the server says", async () => {
  const limit = (headers: Record<string, string>): Play => ({ status: 429, headers, message: "Slow down" });
  await using server = await modelServer(
    limit({ "retry-after": "7" }),
    limit({ "retry-after-ms": "1500", "retry-after": "90" }),
    limit({ "retry-after": new Date(Date.now() + 60_000).toUTCString() }),
    limit({ "retry-after": new Date(Date.now() - 60_000).toUTCString() }),
    { text: "at last" },
  );
  const { reply, slept, reasons, inChinese } = await ask(overAnthropic(server));
  assert.equal(reply && textOf(reply), "at last");
  assert.deepEqual([slept[0], slept[1], slept[3]], [7000, 1500, 0]);
  assert.ok(slept[2]! > 50_000 && slept[2]! <= 60_000);
  assert.equal(reasons[0], "Rate limit reached (429: Slow down). Retrying in 7 s (1 of 5).");
  assert.equal(inChinese[0], "已达服务器的用量限制（429：Slow down）。7 秒后重试（第 1 次，共 5 次）。");
});

test("a wait of more than two minutes is the person's to decide", async () => {
  await using server = await modelServer({ status: 429, headers: { "retry-after": "7200" }, message: "Daily limit" });
  const { error, slept } = await ask(overAnthropic(server));
  assert.match(wordsOf(error), /^anthropic\/m: Rate limit reached \(429: Daily limit\)\. Try again in 2 h, after /);
  assert.deepEqual([error?.code, error?.retryable, slept], ["model-unavailable", true, []]);
});

test("an overloaded server is asked five times more with growing pauses, then given up", async () => {
  await using server = await modelServer(
    ...Array.from({ length: 6 }, (): Play => ({ status: 529, message: "Overloaded" })),
  );
  const { error, slept, reasons } = await ask(overAnthropic(server));
  assert.equal(server.requests.length, 6);
  assert.equal(reasons.length, 5);
  slept.forEach((ms, n) => assert.ok(ms >= 500 * 2 ** n && ms <= 1000 * 2 ** n, `${ms} at ${n}`));
  assert.equal(wordsOf(error), "anthropic/m: The server is overloaded (529: Overloaded). Try again in a while.");
});

test("what may work the next time is tried again, what cannot is not", async () => {
  await using server = await modelServer();
  const model = overOpenAI(server);
  const tried: Record<number, number> = {};
  for (const status of [400, 401, 402, 403, 404, 408, 409, 413, 422, 500, 502, 503, 529]) {
    server.plays.push({ status, message: "no" }, { text: "yes" });
    const { slept } = await ask(model);
    tried[status] = slept.length;
    server.plays.length = 0;
  }
  assert.deepEqual(tried, {
    400: 0,
    401: 0,
    402: 0,
    403: 0,
    404: 0,
    408: 1,
    409: 1,
    413: 0,
    422: 0,
    500: 1,
    502: 1,
    503: 1,
    529: 1,
  });
});

test("a server that says so is not asked again", async () => {
  await using server = await modelServer({ status: 429, headers: { "x-should-retry": "false" }, message: "No credit" });
  const { error, slept } = await ask(overOpenAI(server));
  assert.deepEqual([slept, error?.retryable], [[], false]);
  assert.match(wordsOf(error), /No credit/);
});

test("an error inside the stream is judged by what it says", async () => {
  await using server = await modelServer(
    { reply: talk, at: 0, ending: { type: "overloaded_error", message: "Busy" } },
    { reply: talk, at: 3, ending: { type: "overloaded_error", message: "Busy" } },
    { reply: talk, at: 3, ending: { type: "invalid_request_error", message: "Bad" } },
  );
  const { error, reasons } = await ask(overAnthropic(server));
  assert.equal(reasons.length, 2);
  for (const reason of reasons) assert.match(reason, /^The server is overloaded \(529: Busy\)\./);
  assert.match(wordsOf(error), /The server refused the request \(400: Bad\)\. The same request will fail again/);

  server.plays.push(
    { reply: talk, at: 3, ending: { type: "upstream", message: "Worker died" } },
    { reply: talk, at: 3, ending: { type: "upstream", message: "Too long", code: 400 } },
  );
  const other = await ask(overOpenAI(server));
  assert.match(other.reasons.join(), /^The reply was cut off \(Worker died\)\./);
  assert.match(wordsOf(other.error), /400: Too long/);
});

test("a refused key is explained without repeating it", async () => {
  await using server = await modelServer(
    { status: 401, message: "invalid x-api-key: key-1" },
    { status: 401, message: "Incorrect API key provided: sk-proj-abc***xyz." },
    { status: 404, message: "model: m" },
  );
  const model = overAnthropic(server);
  const messages = [];
  for (const secret of ["key-1", "key-1", "m"]) messages.push(wordsOf((await ask(model, { secret })).error));
  assert.deepEqual(messages, [
    "anthropic/m: The server refused the key (401: invalid x-api-key: [key]). Check the API key, and that it may use this model.",
    "anthropic/m: The server refused the key (401: Incorrect API key provided: [key]). Check the API key, and that it may use this model.",
    "anthropic/m: The server does not know this model or address (404: model: m). Check the name of the model (--model anthropic/<name>) and the base URL.",
  ]);
});

test("a server that is not there, resets or falls silent is tried again and then named", async () => {
  const free = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => free.once("listening", resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const absent = await ask(openai({ modelId: "m", baseURL: `http://127.0.0.1:${port}/v1` }));
  assert.equal(absent.slept.length, 5);
  assert.equal(
    wordsOf(absent.error),
    `openai/m: The server could not be reached (connect ECONNREFUSED 127.0.0.1:${port}). Check the network, the base URL and that the server is running, then continue.`,
  );

  await using server = await modelServer(
    { reply: talk, at: 4, ending: "hang" },
    { reply: talk, at: 4, ending: "cut" },
    talk,
  );
  const silent = await ask(openai({ modelId: "m", baseURL: server.openaiURL, idleTimeoutMs: 100 }));
  assert.equal(silent.reply?.finish, "calls");
  assert.match(silent.reasons[0]!, /^The server went silent \(no data from 127\.0\.0\.1:\d+ for 0\.1 s\)\./);
  assert.match(silent.reasons[1]!, /^The connection was lost /);
});

test("aborting while it waits to try again rejects at once with the reason", async () => {
  const reason = new Error("enough");
  const controller = new AbortController();
  const failing: Model = {
    id: "x",
    async reply() {
      setImmediate(() => controller.abort(reason));
      throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
    },
  };
  const scope: ModelScope = { signal: controller.signal, text() {}, reasoning() {}, retry() {} };
  await assert.rejects(withRetry(failing).reply(hello, scope), (error) => error === reason);
});

test("aborting in the middle of a reply gives the reason, whatever the connection made of it", async () => {
  await using server = await modelServer({ reply: talk, at: 4, ending: "hang" });
  const reason = { why: "the person pressed Esc" };
  const controller = new AbortController();
  const scope: ModelScope = {
    signal: controller.signal,
    text: () => controller.abort(reason),
    reasoning() {},
    retry: () => assert.fail("no retry after an abort"),
  };
  await assert.rejects(withRetry(overAnthropic(server)).reply(hello, scope), (error) => error === reason);
  await server.requests[0]?.gone;
});

test("an error that is no failed request goes through as it is", async () => {
  const lost = new SageError("lease-lost", said("another process runs this session"));
  const { error } = await ask({ id: "x", reply: () => Promise.reject(lost) });
  assert.equal(error, lost);
});

test("a request that could not even be made is explained, and keeps its cause", async () => {
  const cause = Object.assign(new Error("certificate has expired"), { code: "CERT_HAS_EXPIRED" });
  const { error, slept } = await ask({ id: "x", reply: () => Promise.reject(cause) });
  assert.match(wordsOf(error), /^x: No secure connection could be made \(certificate has expired\)\. /);
  assert.deepEqual([error?.code, error?.retryable, error?.cause, slept], ["model-unavailable", false, cause, []]);
});
