import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { remindedKey, splitRequestId } from "../../src/protocol/key.ts";
import { loadRules } from "../../src/permission/rules/rules.ts";
import { assemble } from "../../src/sdk/entries/hosts.ts";
import { SageAgentSDK, scripted, type InputRequest, type Store } from "../../src/sdk/index.ts";
import { bash, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const loaded: string[] = [];
registerHooks({
  resolve(specifier, scope, next) {
    loaded.push(specifier);
    return next(specifier, scope);
  },
});

const secret = "canary-5f1c";
const script = [
  { text: `I say ${secret}`, calls: [bash(`env echo ${secret}`), { tool: "Read", input: { file_path: "missing" } }] },
  { text: "done" },
];

test("without an SDK nothing is loaded and nothing is recorded", async () => {
  using here = workspace();
  const store = memoryStore();
  const sage = new SageAgentSDK({ model: scripted([{ text: "hi" }]), store, workingDirectory: here.dir });
  const { session } = await sage.run("hello");
  const begun = store.load(session).find(({ type }) => type === "turn.begun");
  await sage.close();
  assert.deepEqual(
    loaded.filter((name) => /opentelemetry|traces/.test(name)),
    [],
  );
  assert.equal(begun?.type === "turn.begun" && "trace" in begun.data, false);
});

async function recorder() {
  const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } =
    await import("@opentelemetry/sdk-trace-node");
  const { trace } = await import("@opentelemetry/api");
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  return { exporter, tracer: trace.getTracer("test") };
}
const recording = { current: undefined as ReturnType<typeof recorder> | undefined };
const recorded = () => (recording.current ??= recorder());

const childrenOf = (spans: readonly ReadableSpan[], parent: ReadableSpan | undefined) =>
  spans.filter((span) => span.parentSpanContext?.spanId === parent?.spanContext().spanId).map(({ name }) => name);
const millis = ([seconds, nanos]: [number, number]) => seconds * 1_000 + nanos / 1e6;

test("a turn, its model calls, tools and waits are spans below the caller's, and hold nothing that anybody wrote", async () => {
  const { exporter, tracer } = await recorded();
  using here = workspace();
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir });
  const session = await tracer.startActiveSpan("caller", async (caller) => {
    const { handle, result } = sage.executeWithChannel("please");
    const request = await handle.nextRequest();
    await handle.respond({ type: "granted", requestId: request?.id ?? "" });
    const outcome = await result;
    caller.end();
    return outcome.session;
  });
  await sage.close();
  const spans = exporter.getFinishedSpans();
  exporter.reset();
  const turn = spans.find(({ name }) => name === "invoke_agent sage");
  assert.deepEqual(
    childrenOf(
      spans,
      spans.find(({ name }) => name === "caller"),
    ),
    ["invoke_agent sage"],
  );
  assert.deepEqual(childrenOf(spans, turn).toSorted(), [
    "chat scripted",
    "chat scripted",
    "execute_tool Bash",
    "execute_tool Read",
    "wait permission",
  ]);
  const attributes = (name: string) => spans.find((span) => span.name === name)?.attributes ?? {};
  assert.deepEqual(turn?.attributes, {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "sage",
    "gen_ai.conversation.id": session,
    "gen_ai.provider.name": "scripted",
    "gen_ai.request.model": "scripted",
    "gen_ai.usage.input_tokens": 0,
    "gen_ai.usage.output_tokens": 0,
    "gen_ai.usage.cache_read.input_tokens": 0,
    "gen_ai.usage.cache_creation.input_tokens": 0,
    "sage.turn.status": "success",
    "sage.turn.steps": 2,
    "sage.turn.tool_calls": 2,
  });
  assert.deepEqual(attributes("chat scripted")["gen_ai.response.finish_reasons"], ["tool_call"]);
  assert.equal(attributes("execute_tool Read")["error.type"], "failed");
  assert.deepEqual(attributes("wait permission"), {
    "gen_ai.conversation.id": session,
    "sage.request.kind": "permission",
    "sage.request.source": "approval",
    "sage.request.outcome": "answered",
    "sage.request.surface": "channel",
    "gen_ai.tool.name": "Bash",
    "sage.request.answer": "granted",
  });
  const told = JSON.stringify(
    spans.map(({ name, attributes: all, events, status }) => ({ name, all, events, status })),
  );
  for (const word of [secret, "please", here.dir]) assert.ok(!told.includes(word), word);
});

test("a model that returns no reply ends the turn in the same words with traces as without", async () => {
  const { exporter } = await recorded();
  using here = workspace();
  const model = { id: "own/model", reply: async () => ({}) as never };
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const outcome = await sage.run("go");
  await sage.close();
  const spans = exporter.getFinishedSpans();
  exporter.reset();
  assert.match(
    outcome.status === "error" ? outcome.error.message : "",
    /^own\/model did not return a reply: parts is missing/,
  );
  const chat = spans.find(({ name }) => name.startsWith("chat"));
  assert.equal(chat?.attributes["error.type"], "model-unavailable");
});

test("a turn that goes on after a restart links to where it began, and the wait lasts as long as the person took", async () => {
  const { exporter } = await recorded();
  using here = workspace();
  const store = memoryStore();
  const first = open(store, here.dir);
  const opened = await first.send({ type: "open", cwd: here.dir });
  assert.ok(opened.ok);
  const { session } = opened;
  await first.send({ type: "say", session, text: "go", by: "Lin", surface: "test" });
  const [request] = await until(() => store.pending(session).length > 0 && store.pending(session));
  await first.leave();
  const later = open(store, here.dir);
  const requestId = (request as InputRequest).id;
  await later.send({ type: "respond", response: { type: "granted", requestId }, by: "Lin", surface: "test" });
  // A call for another person that crossed the answer is no doing of an attempt.
  const { key } = splitRequestId(requestId);
  store.append(session, {
    ...{ key: remindedKey(key, 0), type: "input.reminded", at: Date.now() },
    data: { requestId, n: 0 },
  });
  await later.run(session);
  await later.close();
  const spans = exporter.getFinishedSpans();
  exporter.reset();
  const [began, wentOn, ...more] = spans.filter(({ name }) => name === "invoke_agent sage");
  assert.equal(more.length, 0);
  assert.equal(began?.attributes["sage.turn.status"], "paused");
  assert.equal(wentOn?.attributes["sage.turn.status"], "success");
  assert.notEqual(wentOn?.spanContext().traceId, began?.spanContext().traceId);
  assert.deepEqual(
    wentOn?.links.map(({ context }) => [context.traceId, context.spanId]),
    [[began?.spanContext().traceId, began?.spanContext().spanId]],
  );
  const waits = spans.filter(({ name }) => name === "wait permission");
  const resolved = store.resolution(requestId);
  assert.deepEqual(
    waits.map(({ startTime, endTime }) => [Math.round(millis(startTime)), Math.round(millis(endTime))]),
    [[(request as InputRequest).at, resolved?.at]],
  );
  assert.equal(waits[0]?.parentSpanContext?.spanId, wentOn?.spanContext().spanId);
  assert.ok(!childrenOf(spans, began).includes("execute_tool Bash"), "it ran after the restart");
});

test("a session that is let out of memory while it waits tells of its wait once", async () => {
  const { exporter } = await recorded();
  using here = workspace();
  const store = memoryStore();
  const sage = new SageAgentSDK({ model: scripted(script), store, workingDirectory: here.dir, sleepAfterMs: 20 });
  const opened = await sage.host.send({ type: "open", cwd: here.dir });
  assert.ok(opened.ok);
  const { session } = opened;
  await sage.host.send({ type: "say", session, text: "go", by: "Lin", surface: "test" });
  const turns = () => exporter.getFinishedSpans().filter(({ name }) => name === "invoke_agent sage");
  await until(() => turns().length === 1, "it did not fall asleep");
  const requestId = store.pending(session)[0]?.id ?? "";
  await sage.host.send({ type: "respond", response: { type: "denied", requestId }, by: "Lin", surface: "test" });
  await until(() => turns().length === 2, "it did not go on");
  await sage.close();
  const spans = exporter.getFinishedSpans();
  const [slept, woken] = turns();
  assert.equal(woken?.links[0]?.context.spanId, slept?.spanContext().spanId);
  const waits = spans.filter(({ name }) => name === "wait permission");
  assert.deepEqual(
    waits.map(({ attributes }) => attributes["sage.request.answer"]),
    ["denied"],
  );
  exporter.reset();
});

function open(store: Store, dir: string) {
  const host = assemble({
    ...{
      store: { ...store, close: async () => {} },
      env: {},
      output: `${dir}/output`,
      permissionMode: "default" as const,
    },
    model: async () => scripted(script),
    rules: loadRules({}, "user").rules,
    options: {},
  });
  return { ...host, leave: () => host.close() };
}
