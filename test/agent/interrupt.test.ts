import type { Delta, Fact } from "../../src/protocol/facts/fact.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { createActivity } from "../../src/agent/state/activity.ts";
import { LifecycleManager } from "../../src/agent/state/lifecycle.ts";
import { Memory } from "../../src/agent/state/memory.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { createHost } from "../../src/host/host.ts";
import { allow, askUser, bash, config, question, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };
const interrupt = (sage: TestSage) => sage.host.send({ type: "interrupt", session: sage.session, ...lin });

test("resumed before the interrupted attempt has ended, the turn goes on", async () => {
  using here = workspace();
  const script = [{ calls: [bash("echo begun >> ran; sleep 60")] }, { text: "went on" }];
  await using sage = await sageWith({ dir: here.dir, script, permissionMode: "bypass" });
  const resume = () => sage.host.send({ type: "resume", session: sage.session });
  await sage.say("go");
  await until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
  await resume(); // nothing was paused yet: it means nothing for the pause to come
  await interrupt(sage);
  assert.deepEqual(await resume(), { ok: true });
  await until(() => sage.facts().some(({ type }) => type === "turn.ended"));
  assert.equal((await sage.outcome()).status, "success");
});

test("an interrupt pauses the turn; what had not run does not run when it goes on; the message is heard", async () => {
  using here = workspace();
  let heard = "";
  const script = [
    { calls: [bash("echo begun >> ran; sleep 60; echo never >> ran"), bash("echo later >> ran")] },
    (request: { messages: readonly unknown[] }) => (
      (heard = JSON.stringify(request.messages)),
      { text: "something else, then" }
    ),
  ];
  await using sage = await sageWith({ dir: here.dir, script, permissionMode: "bypass" });
  await sage.say("go");
  await until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
  const paused = await interrupt(sage);
  assert.deepEqual(paused, { ok: true, to: "pause" });
  assert.equal((await sage.outcome()).status, "paused");
  assert.equal(
    sage.facts().some(({ type }) => type === "turn.ended"),
    false,
  );
  await sage.say("do something else");
  const outcome = await sage.outcome();
  assert.equal(outcome.status, "success");
  assert.equal(readFileSync(here.path("ran"), "utf8"), "begun\n");
  assert.match(heard, /interrupted by the person/i);
  assert.match(heard, /Not run: the person interrupted/);
  assert.match(heard, /do something else/);
  assert.equal(sage.facts().filter(({ type }) => type === "turn.begun").length, 1, "it is the same turn");
});

test("interrupted, then killed before anything was recorded: what had not run still does not run", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const script = [{ calls: [bash("echo one >> ran"), bash("echo two >> ran")] }, { text: "heard you" }];
  // The journal of a process that died right after the interrupt: judged, nothing started.
  store.create("s", { cwd: here.dir, version: "test" });
  store.append("s", { key: "said/0", type: "user.said", at: 1, data: { text: "go", ...lin } });
  const log = openSession(store, "s");
  const calls = [bash("echo one >> ran"), bash("echo two >> ran")].map((call, n) => ({
    type: "call" as const,
    id: `c${n}`,
    ...call,
  }));
  const d = log.branch("");
  d.decide("t0", "turn.begun", () => ({ loop: 1, maxSteps: 9, sawUpTo: 2 }));
  d.decide("t0/0/model", "model.replied", () => ({
    parts: calls,
    usage: noUsage,
    finish: "calls",
    model: "scripted",
    sawUpTo: 2,
  }));
  const verdict = { behavior: "allow", reason: said(""), effect: "writes", digest: "x" } as const;
  d.decide("t0/0/judged", "calls.judged", () => ({ verdicts: [verdict, verdict] }));
  log.release();
  store.append("s", { key: "interrupt/0", type: "turn.interrupted", at: 2, data: { to: "pause", ...lin } });

  const host = createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(config({ script, dir: here.dir, store }), { workingDirectory: here.dir }),
  });
  await host.send({ type: "say", session: "s", text: "stop that", ...lin });
  const outcome = await host.run("s");
  await host.close();
  assert.equal(outcome.text, "heard you");
  assert.equal(existsSync(here.path("ran")), false);
});

test("interrupting while a request is shown cancels it and the turn", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("Sure?")), bash("echo x >> ran")] }, { text: "never" }],
  });
  await sage.say("go");
  await sage.open(2);
  assert.deepEqual(await interrupt(sage), { ok: true, to: "cancel" });
  assert.equal((await sage.outcome()).status, "cancelled");
  assert.match(sage.result(0, 0), /not answered/i);
  assert.deepEqual(sage.store.pending(), []);
  assert.equal(existsSync(here.path("ran")), false);
});

test("a second interrupt, or one that nobody watches, cancels the turn", async () => {
  using here = workspace();
  const script = [{ calls: [bash("echo begun >> ran; sleep 60")] }, { text: "never" }];
  await using sage = await sageWith({ dir: here.dir, script, permissionMode: "bypass" });
  await sage.say("go");
  await until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
  await interrupt(sage);
  await sage.outcome();
  assert.deepEqual(await interrupt(sage), { ok: true, to: "cancel" });
  await until(() => sage.facts().some(({ type }) => type === "turn.ended"));
  const end = sage.facts().findLast(({ type }) => type === "turn.ended");
  assert.equal(end?.type === "turn.ended" && end.data.status, "cancelled");
  assert.deepEqual(await interrupt(sage), { ok: true, to: "nothing" });

  await using alone = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("sleep 60")] }],
    rules: [allow("Bash")],
    watched: false,
  });
  await alone.say("go");
  await until(() => alone.facts().some(({ type }) => type === "call.started"));
  assert.deepEqual(await interrupt(alone), { ok: true, to: "cancel" });
  assert.equal((await alone.outcome()).status, "cancelled");
});

test("leaving resolves nothing: another process goes on with the same request", async () => {
  using here = workspace();
  const journal = here.path("journal.db");
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "ok" }];
  let session: string;
  let id: string | undefined;
  {
    await using sage = await sageWith({ dir: here.dir, script, store: sqliteStore(journal) });
    await sage.say("go");
    id = (await sage.open())[0]?.id;
    session = sage.session;
    const outcome = sage.outcome();
    await sage.host.close();
    assert.equal((await outcome).status, "paused");
  }
  const store = sqliteStore(journal);
  await using next = await sageWith({ dir: here.dir, script, store });
  assert.deepEqual(
    store.pending(session).map((request) => request.id),
    [id],
  );
  const running = next.host.run(session);
  await next.answer({ type: "answers", requestId: id ?? "", answers: { "Sure?": { selected: ["Red"] } } });
  assert.equal((await running).status, "success");
});

test("what is said while the agent works is queued, folded in after the open calls, and never lost", async () => {
  using here = workspace();
  const prompts: string[] = [];
  const remember =
    (text: string, calls = [] as ReturnType<typeof bash>[]) =>
    (request: { messages: readonly unknown[] }) => (prompts.push(JSON.stringify(request.messages)), { text, calls });
  const script = [
    remember("", [bash("until [ -e go ]; do sleep 0.02; done; echo done")]),
    remember("first"),
    remember("second"),
  ];
  await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")] });
  await sage.say("work");
  await until(() => sage.facts().some(({ type }) => type === "call.started"));
  await sage.say("and be quick");
  writeFileSync(here.path("go"), "");
  assert.equal((await sage.outcome()).text, "first");
  const order = ["work", "done", "and be quick"].map((text) => prompts[1]?.indexOf(text) ?? -1);
  assert.deepEqual(
    order.toSorted((a, b) => a - b),
    order,
  );
  for (let n = 0; n < 3; n++) {
    const again = await sage.host.send({ type: "say", session: sage.session, text: "once more", id: "same", ...lin });
    assert.equal(again.ok, true, "a redelivered message is the same message");
  }
  assert.equal((await sage.host.run(sage.session)).text, "second");
  assert.equal(sage.facts().filter(({ type }) => type === "user.said").length, 3);
});

test("more than fifty waiting messages are refused, not dropped", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("Sure?"))] }, { text: "ok" }],
  });
  await sage.say("go");
  await sage.open();
  const replies = [];
  for (let n = 0; n < 51; n++)
    replies.push(await sage.host.send({ type: "say", session: sage.session, text: `message ${n}`, ...lin }));
  assert.equal(replies.filter(({ ok }) => ok).length, 50);
  assert.equal(replies.at(-1)?.ok === false && replies.at(-1)?.ok, false);
});

test("a tool name that does not exist, malformed arguments and a failing tool are results the model can act on", async () => {
  using here = workspace();
  const script = [
    {
      calls: [
        { tool: "Fly", input: {} },
        { tool: "Bash", input: {}, malformed: '{"command": "ls' },
        { tool: "Read", input: { file_path: 7 } },
        { tool: "Read", input: { file_path: here.path("none") } },
      ],
    },
    { text: "ok" },
  ];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  assert.match(sage.result(0, 0), /no tool "Fly".*Bash/);
  assert.match(sage.result(0, 1), /one JSON object/);
  assert.match(sage.result(0, 2), /file_path/);
  assert.match(sage.result(0, 3), /none/);
});

test("a turn stops at its step limit, and a broken model ends in an outcome", async () => {
  using here = workspace();
  const spin = Array.from({ length: 9 }, () => ({ calls: [bash("true")] }));
  await using sage = await sageWith({ dir: here.dir, script: spin, rules: [allow("Bash")], options: { maxSteps: 3 } });
  await sage.say("go");
  const outcome = await sage.outcome();
  assert.deepEqual([outcome.status, outcome.stats.steps, outcome.stats.toolCalls], ["max-steps", 3, 3]);

  await using broken = await sageWith({ dir: here.dir, script: [] });
  await broken.say("go");
  const failed = await broken.outcome();
  assert.equal(failed.status === "error" && failed.error.code, "model-unavailable");
});

test("a subagent's context refuses questions with a clear error and shows its ancestry on permissions", async () => {
  using here = workspace();
  const store = memoryStore();
  const { judgeCall } = await import("../../src/agent/call/judge/judge.ts");
  const made = config({ script: [], dir: here.dir, store });
  const context = {
    session: "s",
    config: made,
    options: {
      mode: { type: "interactive" as const },
      maxSteps: 1,
      workingDirectory: here.dir,
      autoCompactThreshold: 0.8,
      llmOptions: {},
    },
    asking: { store, mode: { type: "interactive" as const } },
    agent: ["explore"],
    asksRoot: false,
    askers: () => ({ names: [], unnamed: [] }),
    sessionRules: [],
    setAside: [],
    mode: () => "ask" as const,
    planned: () => false,
    lifecycle: new LifecycleManager(),
    memory: new Memory(undefined),
    tree: {
      ...{ permits: [], waiting: [], show: () => {}, happened: 0, usage: noUsage, usd: 0, modelCalls: 0, toolCalls: 0 },
      ...{ tasks: new Map(), toldTasks: new Set<string>() },
    },
    activity: createActivity(undefined, () => {}),
    show: () => {},
    conversation: () => [],
    inquiries: { follow() {}, settled: () => undefined, end: () => undefined },
    record: () => assert.fail("nothing is told of the past here"),
    loop: () => assert.fail("no subagent is run here"),
  };
  const call = { type: "call" as const, id: "1", ...askUser(question("Sure?")) };
  assert.match(sentence(judgeCall(context, call).reason, "en"), /not available to a subagent/);
  assert.equal(judgeCall({ ...context, asksRoot: true }, call).behavior, "ask");
  const { openRequest } = await import("../../src/agent/call/judge/request.ts");
  store.create("s", { cwd: here.dir, version: "test" });
  const log = openSession(store, "s");
  const bashCall = { type: "call" as const, id: "2", ...bash("make") };
  assert.deepEqual(
    openRequest(log.branch("t0/0/0"), context, bashCall, { verdict: judgeCall(context, bashCall), number: 0 }).request
      .agent,
    ["explore"],
  );
});

test("the executor yields every fact and delta in order, and a watcher who comes late misses nothing", async () => {
  using here = workspace();
  const store = memoryStore();
  const executor = new TurnExecutor(
    config({ script: [{ text: "hello there, this is a reply" }], dir: here.dir, store }),
    { workingDirectory: here.dir },
  );
  store.create("s", { cwd: here.dir, version: "test" });
  store.append("s", { key: "said/0", type: "user.said", at: 1, data: { text: "hi", ...lin } });
  const seen: (Fact | Delta)[] = [];
  const log = openSession(store, "s");
  const events = executor.execute({ log });
  let step = await events.next();
  for (; !step.done; step = await events.next()) seen.push(step.value);
  assert.equal(step.value.text, "hello there, this is a reply");
  assert.deepEqual(
    seen.filter((event): event is Fact => "type" in event).map(({ type }) => type),
    ["turn.begun", "state.changed", "model.replied", "state.changed", "turn.ended"],
  );
  assert.equal(
    seen
      .filter((event): event is Delta => "kind" in event)
      .map(({ text }) => text)
      .join(""),
    step.value.text,
  );
});

test("an interrupt before the turn has begun is not lost: the model is never asked", async () => {
  using here = workspace();
  for (const cancel of [false, true]) {
    const store = memoryStore();
    let ready = () => {};
    const loading = new Promise<void>((resolve) => (ready = resolve));
    let asked = 0;
    const made = config({ dir: here.dir, store, script: [() => (asked++, { text: "too late" })] });
    const executor = async () => {
      await loading;
      return new TurnExecutor(made, { workingDirectory: here.dir });
    };
    const host = createHost({ store, version: "test", executor });
    await host.send({ type: "open", session: "s", cwd: here.dir });
    const leaving = new AbortController();
    const watching = host.watch("s", { signal: leaving.signal })[Symbol.asyncIterator]();
    await watching.next();
    await host.send({ type: "say", session: "s", text: "go", ...lin });
    await host.send({ type: "interrupt", session: "s", cancel, ...lin });
    ready();
    assert.equal((await host.run("s")).status, cancel ? "cancelled" : "paused");
    assert.equal(asked, 0);
    leaving.abort();
    await host.close();
    await host.close();
  }
});

test("a turn that could not even begin is told to whoever watches, and the next one may have more luck", async () => {
  using here = workspace();
  const store = memoryStore();
  let tries = 0;
  const made = config({ dir: here.dir, store, script: [{ text: "now" }] });
  const executor = async () => {
    if (tries++ === 0) throw new Error("the model is not there");
    return new TurnExecutor(made, { workingDirectory: here.dir });
  };
  const host = createHost({ store, version: "test", executor });
  await host.send({ type: "open", session: "s", cwd: here.dir });
  const leaving = new AbortController();
  const notices: string[] = [];
  const watching = (async () => {
    for await (const event of host.watch("s", { signal: leaving.signal }))
      if (event.type === "delta") notices.push(event.delta.text);
  })();
  await until(() => true);
  await host.send({ type: "say", session: "s", text: "go", ...lin });
  await until(() => notices.length > 0);
  assert.deepEqual(notices, ["the model is not there"]);
  assert.equal((await host.run("s")).text, "now");
  leaving.abort();
  await watching;
  await host.close();
});
