import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Reply of the server, in any wire format. */
export type ServedReply = {
  /** Events of the format that nobody knows, in the midst of the reply. */
  unknown?: object[];
  thinking?: { text: string; signature: string } | undefined;
  text?: string;
  /** `arguments` go over the wire as they are, valid or not. */
  calls?: { id: string; tool: string; arguments: string }[];
  usage?: { input: number; output: number; cacheRead?: number; cacheWrite?: number };
  /** As the wire format calls it. */
  stop?: string;
};

export type Play =
  | ServedReply
  /** Sends the first `at` chunks of the reply, then breaks the connection, ends politely, says nothing more, or reports an error. */
  | {
      reply: ServedReply;
      at: number;
      /** This chunk is sent twice. */
      twice?: number;
      ending: "cut" | "end" | "hang" | { type: string; message: string; code?: string | number };
    }
  | { status: number; headers?: Record<string, string>; message: string };

export type ServedRequest = {
  path: string;
  headers: IncomingHttpHeaders;
  body: RequestBody;
  /** Resolves when the client hung up before the reply was complete. */ gone: Promise<void>;
};

/** As much of both formats as the tests look at. */
export type RequestBody = {
  model: string;
  system?: { text: string; cache_control?: unknown }[];
  messages: { role: string; content: unknown; [field: string]: unknown }[];
  tools?: { [field: string]: unknown }[];
  [field: string]: unknown;
};

export type Wire = "anthropic" | "openai" | "responses" | "google";

/** A server on this machine that speaks Anthropic's Messages, OpenAI's Chat Completions and its Responses, and plays one `Play` per request. */
export async function modelServer(...plays: (Play | ((body: RequestBody) => Play))[]) {
  const requests: ServedRequest[] = [];
  const always: { play?: (body: RequestBody) => Play } = {};
  let connections = 0;
  const server = createServer((request, response) => void serve(request, response)).on(
    "connection",
    () => connections++,
  );

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") return void response.writeHead(404, "Not Found").end(); // it lists no models
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const body = JSON.parse(text) as RequestBody;
    const gone = new Promise<void>((resolve) => response.on("close", () => response.writableFinished || resolve()));
    requests.push({ path: request.url ?? "", headers: request.headers, body, gone });
    const next = plays.shift() ?? always.play ?? { status: 501, message: "the test has no play for this request" };
    await play(wireOf(request.url ?? ""), response, typeof next === "function" ? next(body) : next);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    plays,
    /** Played once nothing is left of `plays`. */
    always,
    requests,
    connections: () => connections,
    anthropicURL: url,
    openaiURL: `${url}/v1`,
    googleURL: `${url}/v1beta`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function wireOf(url: string): Wire {
  const [path = ""] = url.split("?");
  if (path.endsWith("/messages")) return "anthropic";
  if (path.endsWith("/responses")) return "responses";
  return path.includes(":streamGenerateContent") ? "google" : "openai";
}

async function play(wire: Wire, response: ServerResponse, next: Play): Promise<void> {
  if ("status" in next) {
    response.writeHead(next.status, { "content-type": "application/json", ...next.headers });
    response.end(JSON.stringify({ type: "error", error: { type: "some_error", message: next.message } }));
    return;
  }
  const { reply, at, twice, ending } =
    "reply" in next ? next : { reply: next, at: Infinity, twice: undefined, ending: "end" as const };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const [n, chunk] of chunksOf(wire, reply).slice(0, at).entries()) {
    response.write(n === twice ? chunk + chunk : chunk);
    await new Promise(setImmediate); // Chunks that travel together would not test much.
  }
  if (ending === "cut") response.destroy();
  else if (typeof ending === "object")
    response.end(
      event(
        wire,
        wire === "openai" || wire === "google"
          ? { error: ending }
          : { type: "error", sequence_number: 1, error: ending },
      ),
    );
  else if (ending === "end") response.end();
}

/** The reply as it goes over the wire, one element for each server-sent event. */
export function chunksOf(wire: Wire, { unknown = [], ...reply }: ServedReply): string[] {
  return wholeChunks(wire, reply).toSpliced(1, 0, ...unknown.map((data) => event(wire, { ...data })));
}

function wholeChunks(wire: Wire, reply: ServedReply): string[] {
  if (wire === "google") return googleEvents(reply).map((data) => event(wire, data));
  if (wire === "responses") return responsesEvents(reply).map((data) => event(wire, data));
  return wire === "anthropic"
    ? anthropicEvents(reply).map((data) => event(wire, data))
    : [...openaiEvents(reply).map((data) => event(wire, data)), "data: [DONE]\n\n"];
}

function event(wire: Wire, data: { type?: string; [field: string]: unknown }): string {
  return `${wire === "anthropic" ? `event: ${data.type}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
}

/** Two halves, so that there is something to put together. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

function anthropicEvents({ thinking, text, calls = [], usage = { input: 10, output: 5 }, stop }: ServedReply) {
  const blocks = [
    ...(thinking
      ? [
          {
            start: { type: "thinking", thinking: "" },
            deltas: [
              ...halves(thinking.text).map((half) => ({ type: "thinking_delta", thinking: half })),
              { type: "signature_delta", signature: thinking.signature },
            ],
          },
        ]
      : []),
    ...(text === undefined
      ? []
      : [
          {
            start: { type: "text", text: "" },
            deltas: halves(text).map((half) => ({ type: "text_delta", text: half })),
          },
        ]),
    ...calls.map((call) => ({
      start: { type: "tool_use", id: call.id, name: call.tool, input: {} },
      deltas: halves(call.arguments).map((half) => ({ type: "input_json_delta", partial_json: half })),
    })),
  ];
  return [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-test",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: usage.input,
          output_tokens: 1,
          cache_read_input_tokens: usage.cacheRead ?? 0,
          cache_creation_input_tokens: usage.cacheWrite ?? 0,
        },
      },
    },
    { type: "ping" },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: stop ?? (calls.length > 0 ? "tool_use" : "end_turn"), stop_sequence: null },
      usage: { output_tokens: usage.output },
    },
    { type: "message_stop" },
  ];
}

function openaiEvents({ thinking, text, calls = [], usage = { input: 10, output: 5 }, stop }: ServedReply) {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "test",
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    chunk({ role: "assistant", content: "" }),
    ...halves(thinking?.text ?? "").map((half) => chunk({ reasoning_content: half })),
    ...halves(text ?? "").map((half) => chunk({ content: half })),
    ...calls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.tool, arguments: "" } }] }),
      ...halves(call.arguments).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
    ]),
    chunk({}, stop ?? (calls.length > 0 ? "tool_calls" : "stop")),
    {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "test",
      choices: [],
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
        prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
      },
    },
  ];
}

function responsesEvents({ thinking, text, calls = [], usage = { input: 10, output: 5 }, stop }: ServedReply) {
  const about = { id: "resp_1", created_at: 1, model: "test" };
  const items = [
    ...(thinking
      ? [
          {
            item: { type: "reasoning", id: "rs_1", summary: [], encrypted_content: null as string | null },
            between: [
              { type: "response.reasoning_summary_part.added", item_id: "rs_1", summary_index: 0 },
              ...halves(thinking.text).map((delta) => ({
                type: "response.reasoning_summary_text.delta",
                item_id: "rs_1",
                summary_index: 0,
                delta,
              })),
              { type: "response.reasoning_summary_part.done", item_id: "rs_1", summary_index: 0 },
            ],
            done: { type: "reasoning", id: "rs_1", summary: [], encrypted_content: thinking.signature },
          },
        ]
      : []),
    ...(text === undefined
      ? []
      : [
          {
            item: { type: "message", id: "msg_1" },
            between: halves(text).map((delta) => ({ type: "response.output_text.delta", item_id: "msg_1", delta })),
            done: { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text }] },
          },
        ]),
    ...calls.map((call, n) => {
      const item = { type: "function_call", id: `fc_${n}`, call_id: call.id, name: call.tool, arguments: "" };
      return {
        item,
        between: halves(call.arguments).map((delta) => ({
          type: "response.function_call_arguments.delta",
          item_id: item.id,
          output_index: n,
          delta,
        })),
        done: { ...item, arguments: call.arguments, status: "completed" },
      };
    }),
  ];
  return [
    { type: "response.created", response: about },
    ...items.flatMap(({ item, between, done }, output_index) => [
      { type: "response.output_item.added", output_index, item },
      ...between,
      { type: "response.output_item.done", output_index, item: done },
    ]),
    {
      type: stop === undefined ? "response.completed" : "response.incomplete",
      response: {
        ...about,
        incomplete_details: stop === undefined ? null : { reason: stop },
        usage: {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.input + usage.output,
        },
      },
    },
  ];
}

function googleEvents({ thinking, text, calls = [], usage = { input: 10, output: 5 }, stop }: ServedReply) {
  const chunk = (...parts: object[]) => ({ candidates: [{ index: 0, content: { role: "model", parts } }] });
  const parts = [
    ...halves(thinking?.text ?? "").map((half) => ({ text: half, thought: true })),
    ...halves(text ?? "").map((half) => ({ text: half })),
    ...calls.map((call, n) => ({
      functionCall: { name: call.tool, args: argumentsOf(call.arguments) },
      ...(n === 0 && thinking && { thoughtSignature: thinking.signature }),
    })),
  ];
  return [
    { responseId: "r1", modelVersion: "test" },
    ...parts.map((part) => chunk(part)),
    {
      candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: stop ?? "STOP" }],
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        ...(usage.cacheRead !== undefined && { cachedContentTokenCount: usage.cacheRead }),
      },
    },
  ];
}

/** Here they travel as an object; ones that are no JSON as the text they are. */
function argumentsOf(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
