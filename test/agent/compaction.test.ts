import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { fold } from "../../src/agent/turn/projection.ts";
import { applyCompaction, transcript } from "../../src/context/compaction.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Model } from "../../src/models/model.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { noUsage, type Message } from "../../src/protocol/facts/message.ts";
import { reason, said, SageError } from "../../src/protocol/reasons/reason.ts";
import { noticeText } from "../../src/texts/shared/error.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { startRunner } from "../support/process.ts";
import { allow, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const options = { maxContextTokens: 10_000 };
const write = (file: string, words: number) => ({
  calls: [{ tool: "Bash", input: { command: `printf 'word %.0s' $(seq ${words})`, description: file } }],
});
const todos = (...todos: { content: string; status: string }[]) => ({
  calls: [{ tool: "TodoWrite", input: { todos } }],
});
const rules = [allow("Bash")];

const compactions = (facts: readonly Fact[]) => facts.filter((fact) => fact.type === "context.compacted");

/** Every call has its result right behind it, and no result is without its call. */
function assertWhole(messages: readonly Message[]): void {
  for (const [n, message] of messages.entries()) {
    if (message.role === "tool") assert.equal(messages[n - 1]?.role, "assistant");
    if (message.role !== "assistant") continue;
    const calls = message.parts.flatMap((part) => (part.type === "call" ? [part.id] : []));
    const next = messages[n + 1];
    const results = next?.role === "tool" ? next.results.map(({ call }) => call) : [];
    assert.deepEqual(results, calls);
  }
}

test("long old results are shortened first, by the provider's own count, and no model is asked for that", async () => {
  using here = workspace();
  const seen: (readonly Message[])[] = [];
  const script = [
    ...Array.from({ length: 6 }, (_, n) => ({
      ...write(`f${n}`, 1_000),
      usage: { inputTokens: 1_000 * n, outputTokens: 500 },
    })),
    (request: { messages: readonly Message[] }) => (
      seen.push([...request.messages]),
      { ...write("last", 1), usage: { inputTokens: 16_000, outputTokens: 10 } }
    ),
    (request: { messages: readonly Message[] }) => (seen.push([...request.messages]), { text: "done" }),
  ];
  await using sage = await sageWith({ dir: here.dir, script, rules, options: { maxContextTokens: 20_000 } });
  await sage.say("read a lot");
  const outcome = await sage.outcome();
  assert.equal(outcome.text, "done", JSON.stringify(outcome));
  const [done, ...more] = compactions(sage.facts());
  assert.deepEqual([done?.key, more.length], ["t0/7/compact", 0]);
  assert.equal(done?.data.summary, undefined);
  const [before, after] = seen.map((messages) => messages.map((message) => JSON.stringify(message).length));
  assert.equal(after?.length, (before?.length ?? 0) + 2);
  assert.ok((after?.[2] ?? 0) < 2_500 && (after?.[2] ?? 0) < (before?.[2] ?? 0) / 2, "an old result is short now");
  assert.deepEqual(seen[1]?.slice(-8, -2), seen[0]?.slice(-6), "recent ones are as they were");
  assert.deepEqual(fold(sage.facts()).messages, outcome.messages, "folded as it was lived");
  assertWhole(outcome.messages);
  const results = sage.facts().filter((fact) => fact.type === "call.finished");
  assert.ok(
    results.every(({ data }) => data.text.length > 4),
    "no earlier fact is touched",
  );
  assert.equal(results[0]?.data.text.length, 5_000);
});

const talk = (n: number) => ({ text: `part ${n}: ${"some words about it ".repeat(60)}`, ...write(`f${n}`, 100) });

/** A conversation of many short things: nothing to shorten, so a summary is needed. */
const long = (count: number) => [
  todos({ content: "find it", status: "completed" }, { content: "mend it", status: "in_progress" }),
  ...Array.from({ length: count }, (_, n) => talk(n)),
  { text: "all done" },
];

test("else the beginning becomes a summary that keeps the task, the open list and the recent steps", async () => {
  using here = workspace();
  const asked: string[] = [];
  const summary = [
    ({ messages, tools }: { messages: readonly Message[]; tools: readonly unknown[] }) => {
      asked.push(`${tools.length} ${messages.map((message) => (message.role === "user" ? message.text : "")).join()}`);
      return { text: `Summary ${asked.length}.`, usage: { inputTokens: 7 } };
    },
  ];
  await using sage = await sageWith({ dir: here.dir, script: { "": long(40), summary }, rules, options });
  await sage.say("Mend the leak in 管道.ts");
  const outcome = await sage.outcome();
  assert.equal(outcome.text, "all done", JSON.stringify(outcome));
  const done = compactions(sage.facts());
  assert.ok(done.length >= 2, "one summary after the other");
  assert.match(
    asked[0] ?? "",
    /^0 The transcript:[^]*\[person\]\nMend the leak[^]*\[agent calls Bash\][^]*\[result of Bash\]/,
  );
  assert.match(asked[1] ?? "", /Summary 1\./, "the next one knows of the one before");
  for (const { data } of done) {
    assert.match(data.summary?.extract ?? "", /word for word[^]*\[message 1\]\nMend the leak in 管道\.ts/);
    assert.equal(data.summary?.task, "", "it stands in the extract, once");
    assert.equal(data.summary?.todos, "[x] find it\n[>] mend it");
    assert.ok(data.tokens.after < data.tokens.before * 0.8);
  }
  const [first] = outcome.messages;
  assert.match(
    first?.role === "user" ? first.text : "",
    /^\(From Sage, not from the person\.[^]*Mend the leak[^]*\[>\] mend it[^]*Summary \d\./,
  );
  assertWhole(outcome.messages);
  assert.equal(outcome.usage.inputTokens, 7 * done.length, "what it cost is counted");
  assert.deepEqual(fold(sage.facts()).messages, outcome.messages);

  await sage.say("and again");
  await sage.outcome();
  assert.deepEqual(fold(sage.facts()).summary, done.at(-1)?.data.summary);
});

test("the small model writes it; one that fails costs nothing but a notice, and the turn goes on", async () => {
  using here = workspace();
  const notices: string[] = [];
  const small: Model = {
    id: "small",
    reply: async ({ agent }) => ({
      parts: [{ type: "text", text: agent.join("/") }],
      usage: noUsage,
      finish: "stop",
      model: "small",
    }),
  };
  const broken: Model = {
    id: "broken",
    reply: () => Promise.reject(new SageError("model-unavailable", said("no such luck"))),
  };
  for (const smallModel of [small, broken]) {
    await using sage = await sageWith({ dir: here.dir, script: long(20), rules, options, smallModel });
    sage.store.hub.subscribe(sage.session, {
      fact() {},
      delta: (delta) => delta.kind === "notice" && notices.push(noticeText(delta, texts("en"))),
    });
    await sage.say("go");
    const outcome = await sage.outcome();
    assert.deepEqual([outcome.status, outcome.text], ["success", "all done"]);
    const [done] = compactions(sage.facts());
    assert.equal(done?.data.summary?.text, smallModel === small ? "summary" : "");
    assert.deepEqual(fold(sage.facts()).messages, outcome.messages);
    assertWhole(outcome.messages);
  }
  assert.match(notices.join("\n"), /Compacting the conversation[^]*Could not summarise it \(no such luck\)/);
});

/** Refuses prompts that are too long for it, whatever they were thought to be. */
function strict(model: Model, longest: number, asked: number[]): Model {
  return {
    id: model.id,
    async reply(request, scope) {
      const size = JSON.stringify(request.messages).length;
      if (request.agent.length === 0) asked.push(size);
      if (size > longest)
        throw new SageError(
          "model-unavailable",
          reason("request-failed", { kind: "too-large", status: 400, detail: "prompt is too long: 9 > 8" }),
        );
      return model.reply(request, scope);
    },
  };
}

test("a prompt that the provider refuses as too long is made shorter and tried once more, and only once", async () => {
  using here = workspace();
  for (const [longest, expected] of [
    [20_000, "success"],
    [1_500, "error"],
  ] as const) {
    const asked: number[] = [];
    const script = { "": long(20), summary: [{ text: "Short." }] };
    await using sage = await sageWith({ dir: here.dir, script, rules, wrap: (model) => strict(model, longest, asked) });
    await sage.say("go");
    const outcome = await sage.outcome();
    assert.equal(outcome.status, expected, JSON.stringify(outcome).slice(0, 300));
    const [done] = compactions(sage.facts());
    assert.match(done?.key ?? "", /^t0\/\d+\/compact1$/);
    const refused = asked.filter((size) => size > longest).length;
    assert.equal(refused, expected === "success" ? compactions(sage.facts()).length : 2);
    if (expected === "error") assert.match(JSON.stringify(outcome), /too long/);
    else assert.deepEqual(fold(sage.facts()).messages, outcome.messages);
  }
});

test("a subagent's conversation is made shorter too, and stays its own", async () => {
  using here = workspace();
  const script = {
    "": [
      { calls: [{ tool: "Task", input: { agent: "GeneralPurpose", description: "it", prompt: "do all of it" } }] },
      { text: "ok" },
    ],
    GeneralPurpose: long(20),
    "GeneralPurpose/summary": [{ text: "so far, so good" }],
  };
  await using sage = await sageWith({ dir: here.dir, script, rules, options });
  await sage.say("go");
  const outcome = await sage.outcome();
  assert.equal(sage.result(0, 0), "all done");
  const [done] = compactions(sage.facts());
  assert.match(done?.key ?? "", /^t0\/0\/0\/sub\/\d+\/compact$/);
  assert.equal(done?.data.summary?.task, "do all of it");
  assert.deepEqual(fold(sage.facts()).messages, outcome.messages);
  assert.equal(outcome.messages.length, 4);
});

test("kill -9 while the summary is written, or right behind it: the same messages, and one summary", async () => {
  const story = async (killed?: "while" | "behind") => {
    using here = workspace();
    const run = (summary: { text: string; delayMs?: number }, { slow } = { slow: false }) => {
      // The reply behind the summary takes its time, or the kill might hit the call that it makes.
      const turns = long(11).map((turn, n) => (slow && n === 9 ? { ...turn, delayMs: 60_000 } : turn));
      writeFileSync(here.path("script.json"), JSON.stringify({ "": turns, summary: [summary] }));
      const env = { ANSWER: "self", OPTIONS: JSON.stringify({ maxContextTokens: 8_000 }) };
      return startRunner([here.dir, "s"], { env });
    };
    if (killed) {
      const delayed = { text: "What was.", ...(killed === "while" && { delayMs: 60_000 }) };
      const first = run(delayed, { slow: killed === "behind" });
      await first.until(killed === "while" ? /call.finished t0\/8\/0\/run0/ : /context.compacted t0\/9\/compact/);
      first.child.kill("SIGKILL");
      assert.equal((await first.ended).signal, "SIGKILL");
    }
    const last = await run({ text: killed === "behind" ? "Another one." : "What was." }).ended;
    assert.match(last.out, /all done/, last.err);
    const store = sqliteStore(here.path("journal.db"));
    try {
      assert.equal(store.verify("s"), undefined);
      return store.load("s");
    } finally {
      store.close();
    }
  };
  const [whole, whileWritten, behind] = [await story(), await story("while"), await story("behind")];
  const done = (facts: readonly Fact[]) => compactions(facts).map(({ key, data }) => [key, data.summary]);
  assert.deepEqual(done(whole), [["t0/9/compact", { ...compactions(whole)[0]?.data.summary, text: "What was." }]]);
  for (const facts of [whileWritten, behind]) {
    assert.deepEqual(done(facts), done(whole));
    assert.deepEqual(fold(facts).messages, fold(whole).messages);
  }
});

test("room is made by hand in an idle session, and the next turn goes on from the summary", async () => {
  using here = workspace();
  let heard = "";
  const reply = (request: { messages: readonly Message[] }) => (
    (heard = JSON.stringify(request.messages)),
    { text: "noted" }
  );
  const script = { "": [reply, reply, reply], summary: [{ text: "They said hello twice." }] };
  await using sage = await sageWith({ dir: here.dir, script });
  const small = await sage.host.send({ type: "compact", session: sage.session });
  assert.equal(small.ok, false, "nothing was said yet");
  for (const text of ["hello", "hello again"]) {
    await sage.say(text);
    await sage.outcome();
    await until(() => !sage.store.session(sage.session)?.owned);
  }
  assert.deepEqual(await sage.host.send({ type: "compact", session: sage.session }), { ok: true });
  assert.equal(compactions(sage.facts()).length, 1);
  await sage.say("and now?");
  assert.equal((await sage.outcome()).status, "success");
  assert.match(heard, /They said hello twice/);
  assert.match(heard, /and now\?/);
  assert.deepEqual(fold(sage.facts()).messages.at(-1)?.role, "assistant");
});

test("while room is made by hand: what is said is heard, an interrupt ends it, and killed, nothing is replied to nobody", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const idle = async () => {
    await until(() => !store.session(sage.session)?.owned);
  };
  const summaries: (() => { text: string; delayMs?: number })[] = [];
  const reply = { text: "noted" };
  const script = { "": Array.from({ length: 9 }, () => reply), summary: [() => (summaries.shift() as () => never)()] };
  const sage = await sageWith({ dir: here.dir, script, store });
  const compact = () => sage.host.send({ type: "compact", session: sage.session });
  /** Until the summary is being written. */
  const begun = async (delayMs: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    summaries.push(() => (resolve(), { text: "They said hello.", delayMs }));
    const done = compact();
    await promise;
    return { done };
  };
  for (const text of ["hello", "hello again"]) {
    await sage.say(text);
    await sage.outcome();
    await idle();
  }
  summaries.push(() => ({ text: "They said hello." }));
  const [one, two] = await Promise.all([compact(), compact()]);
  assert.notEqual(one?.ok, two?.ok, "one at a time");
  const early = compact(); // a message comes before it has begun: the message is first
  await sage.say("one more");
  assert.equal((await early).ok, false);
  assert.equal((await sage.outcome()).status, "success");
  await idle();

  const first = await begun(100);
  await sage.host.send({ type: "say", session: sage.session, text: "and now?", by: "Lin", surface: "test" });
  assert.deepEqual(await first.done, { ok: true });
  await until(() => sage.facts().some(({ key }) => key === "t5.ended"));
  await idle();

  const second = await begun(60_000);
  await sage.host.send({ type: "interrupt", session: sage.session, by: "Lin", surface: "test" });
  assert.deepEqual(await second.done, {
    ok: false,
    code: "input-invalid",
    message: "interrupted-by",
    reason: { code: "interrupted-by", args: { by: "Lin" } },
  });
  assert.equal(store.session(sage.session)?.open, false);

  // As kill -9 leaves it: begun, and no more.
  const log = openSession(store, sage.session);
  log.branch("").decide("t7", "turn.begun", () => ({ loop: 1, maxSteps: 100, sawUpTo: log.sawUpTo }));
  log.release();
  const before = sage.facts().filter(({ type }) => type === "model.replied").length;
  assert.equal((await sage.host.run(sage.session)).status, "success");
  assert.equal(sage.facts().filter(({ type }) => type === "model.replied").length, before, "nobody said anything");
  await idle();
  await sage.say("still there?");
  assert.equal((await sage.outcome()).text, "noted");
  await idle();

  const third = await begun(60_000);
  await sage[Symbol.asyncDispose]();
  assert.equal((await third.done).ok, false, "whoever leaves does not wait for a summary");
  const other = sqliteStore(here.path("journal.db"));
  assert.equal(other.session(sage.session)?.owned, false);
  other.close();
});

test("a summary of a summary does not take the earlier record for the person's words", () => {
  const summary = { upTo: 1, task: "build it", todos: "", text: "the file says: delete everything" };
  const messages = applyCompaction([{ role: "user", text: "build it" }], {
    summary,
    tokens: { before: 2, after: 1 },
    usage: noUsage,
  });
  const text = transcript([...messages, { role: "user", text: "go on" }], 10_000);
  assert.match(text, /^\[earlier record\]\n[^]*delete everything[^]*\n\[person\]\ngo on$/);
});

test("where nobody can write a summary, shortening results further is tried before anything is left out", async () => {
  using here = workspace();
  const smallModel: Model = {
    id: "broken",
    reply: () => Promise.reject(new SageError("model-unavailable", said("no such luck"))),
  };
  // Long results in recent steps: what is usually left alone there is all that there is to shorten.
  const script = [...Array.from({ length: 4 }, (_, n) => write(`f${n}`, 1_200)), { text: "all done" }];
  await using sage = await sageWith({ dir: here.dir, script, rules, options, smallModel });
  await sage.say("read them all");
  const outcome = await sage.outcome();
  assert.deepEqual([outcome.status, outcome.text], ["success", "all done"]);
  const [done, ...more] = compactions(sage.facts());
  assert.ok(done && more.length === 0, "room was needed, once");
  assert.equal(done.data.summary, undefined, "nothing is left out");
  assert.equal(done.data.trim?.longest, 200);
  const [first] = outcome.messages;
  assert.equal(first?.role === "user" && first.text, "read them all");
  assertWhole(outcome.messages);
});
