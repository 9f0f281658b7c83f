import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { fold } from "../../src/agent/turn/projection.ts";
import { createHost } from "../../src/host/host.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Model, ModelRequest } from "../../src/models/model.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { transcriptOf } from "../../src/view/transcript/transcript.ts";
import { allow, askUser, bash, config, question, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };
const now = (sage: TestSage, text: string, id = "now") =>
  sage.host.send({ type: "say", session: sage.session, text, id, when: "now", ...lin });
const begun = (sage: TestSage) => until(() => sage.facts().some(({ type }) => type === "call.started"));
const ended = (sage: TestSage) => until(() => sage.facts().some(({ type }) => type === "turn.ended"));
const count = (facts: readonly Fact[], type: Fact["type"]) => facts.filter((fact) => fact.type === type).length;
/** The last words of the turn, and the prompt that they reply to. */
const hearing = (text: string) => {
  let messages: ModelRequest["messages"] = [];
  return {
    turn: (request: ModelRequest) => ((messages = request.messages), { text }),
    heard: () => JSON.stringify(messages),
  };
};
const states = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.type === "state.changed" ? [fact.data.to.state] : []));

suite("a message that is to be read now", () => {
  test("ends the running command, leaves out what has not begun, and the turn goes on with it: never paused", async () => {
    using here = workspace();
    const { turn, heard } = hearing("heard");
    const script = [
      { calls: [bash("echo begun >> ran; sleep 60; echo never >> ran"), bash("echo later >> ran")] },
      turn,
    ];
    await using sage = await sageWith({ dir: here.dir, script, permissionMode: "bypass" });
    await sage.say("go");
    await until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
    assert.equal((await now(sage, "use pnpm")).ok, true);
    const outcome = await sage.outcome();
    assert.deepEqual([outcome.status, outcome.text], ["success", "heard"]);
    assert.equal(readFileSync(here.path("ran"), "utf8"), "begun\n");
    assert.match(heard(), /interrupted by the person/i);
    assert.match(heard(), /Not run: Lin sent a message to be read first: \\"use pnpm\\"/);
    assert.match(heard(), /"role":"user","text":"use pnpm"/);
    const facts = sage.facts();
    assert.equal(count(facts, "turn.begun"), 1, "the same turn");
    assert.equal(states(facts).includes("paused"), false);
    const interrupt = facts.findIndex(({ type }) => type === "turn.interrupted");
    assert.equal(facts[interrupt + 1]?.type, "user.said", "one commit");
  });

  test("ends open requests as cancelled, naming it; nothing is allowed, and a late yes changes nothing", async () => {
    using here = workspace();
    const { turn, heard } = hearing("heard");
    const script = [{ calls: [bash("echo one >> ran"), bash("echo two >> ran"), askUser(question("Which?"))] }, turn];
    await using sage = await sageWith({ dir: here.dir, script });
    await sage.say("go");
    const requests = await sage.open(3);
    await now(sage, "neither, please");
    assert.equal((await sage.outcome()).text, "heard");
    for (const { id } of requests) {
      const resolution = sage.store.resolution(id);
      assert.equal(resolution?.outcome, "cancelled");
      assert.deepEqual(resolution.outcome === "cancelled" && resolution.reason, {
        code: "read-now",
        args: { by: "Lin", text: "neither, please" },
      });
      const late = await sage.answer({ type: "granted", requestId: id });
      assert.equal(late.ok, false);
    }
    assert.equal(existsSync(here.path("ran")), false);
    assert.equal(count(sage.facts(), "call.started"), 0);
    assert.match(heard(), /neither, please/);
  });

  test("moves a message that waits, once; a second Esc before the reply does nothing", async () => {
    using here = workspace();
    const { turn, heard } = hearing("heard");
    await using sage = await sageWith({
      dir: here.dir,
      script: [
        { calls: [bash("echo begun; sleep 60")] },
        (request: ModelRequest) => ({ ...turn(request), delayMs: 700 }),
      ],
      rules: [allow("Bash")],
    });
    await sage.say("go");
    await begun(sage);
    await sage.host.send({ type: "say", session: sage.session, text: "use pnpm", id: "m", ...lin });
    const esc = (to?: "now") => sage.host.send({ type: "interrupt", session: sage.session, ...(to && { to }), ...lin });
    assert.deepEqual(await esc("now"), { ok: true, to: "now" });
    assert.deepEqual(await esc("now"), { ok: true, to: "nothing" });
    assert.deepEqual(await esc(), { ok: true, to: "nothing" });
    await now(sage, "use pnpm", "m"); // redelivered, in another way
    assert.equal((await sage.outcome()).text, "heard");
    assert.match(heard(), /use pnpm/);
    assert.equal(count(sage.facts(), "turn.interrupted"), 1);
    assert.deepEqual(await esc("now"), { ok: true, to: "nothing" }, "nothing waits");
  });

  test("is a message like any other where nothing runs, and continues a paused turn", async () => {
    using here = workspace();
    const script = [{ text: "first" }, { calls: [bash("echo begun; sleep 60")] }, { text: "went on" }];
    await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")] });
    await now(sage, "hello", "a");
    assert.equal((await sage.host.run(sage.session)).text, "first");
    assert.equal(count(sage.facts(), "turn.interrupted"), 0);
    await sage.say("work");
    await begun(sage);
    await sage.host.send({ type: "interrupt", session: sage.session, ...lin });
    assert.equal((await sage.outcome()).status, "paused");
    await now(sage, "go on", "b");
    assert.equal((await sage.host.run(sage.session)).text, "went on");
  });

  test("leaves a spending limit open: no message lifts it", async () => {
    using here = workspace();
    const { turn } = hearing("heard");
    await using sage = await sageWith({
      dir: here.dir,
      script: [{ calls: [bash("echo x")], usage: { outputTokens: 1_000 } }, turn],
      rules: [allow("Bash")],
      limits: { turn: { tokens: 10 } },
    });
    await sage.say("go");
    const [limit] = await sage.open(1);
    await now(sage, "just do it");
    await until(() => count(sage.facts(), "user.said") === 2);
    assert.deepEqual(
      sage.store.pending(sage.session).map(({ id }) => id),
      [limit?.id],
    );
    const asked = limit?.kind === "question" ? limit.questions[0] : undefined;
    await sage.answer({
      type: "answers",
      requestId: limit?.id ?? "",
      answers: { [asked?.question ?? ""]: { selected: [asked?.options[0]?.label ?? ""] } },
    });
    assert.equal((await sage.outcome()).text, "heard");
  });

  test("goes on with what runs in the background", async () => {
    using here = workspace();
    const script = [
      {
        calls: [
          {
            tool: "Bash",
            input: { command: "until [ -e go ]; do sleep 0.02; done; echo over >> ran", run_in_background: true },
          },
        ],
      },
      { calls: [bash("sleep 60")] },
      { text: "heard" },
    ];
    await using sage = await sageWith({ dir: here.dir, script, permissionMode: "bypass" });
    await sage.say("go");
    await until(() => count(sage.facts(), "call.started") === 2);
    await now(sage, "stop that");
    assert.equal((await sage.outcome()).text, "heard");
    writeFileSync(here.path("go"), "");
    await until(() => existsSync(here.path("ran")));
  });

  test("in a subagent's work: its call ends, and the main agent hears the message", async () => {
    using here = workspace();
    const { turn, heard } = hearing("heard");
    const script = {
      "": [{ calls: [{ tool: "Task", input: { agent: "Execute", description: "look", prompt: "look" } }] }, turn],
      Execute: [{ calls: [bash("sleep 60")] }, { text: "never" }],
    };
    await using sage = await sageWith({ dir: here.dir, script, permissionMode: "bypass" });
    await sage.say("go");
    await until(() => sage.facts().some(({ type, key }) => type === "call.started" && key.includes("/sub/")));
    await now(sage, "look elsewhere");
    assert.equal((await sage.outcome()).text, "heard");
    assert.match(heard(), /look elsewhere/);
    assert.equal(heard().includes("never"), false);
  });
});

suite("a message now, and who owns the session", () => {
  test("killed after it was accepted and before anything followed: the next attempt reads it, and what was asked is refused", async () => {
    using here = workspace();
    const script = [{ calls: [bash("echo one >> ran")] }, { text: "heard you" }];
    const store = sqliteStore(here.path("journal.db"));
    const executor = async () =>
      new TurnExecutor(config({ script, dir: here.dir, store }), { workingDirectory: here.dir });
    const first = createHost({ store, version: "test", executor });
    await first.send({ type: "open", session: "s", cwd: here.dir });
    await first.send({ type: "say", session: "s", text: "go", ...lin });
    await until(() => store.pending("s").length > 0);
    // It leaves as a killed process does, is followed by another attempt, which is gone as well: the reply is of the first one.
    first.leave("s");
    await until(() => !store.session("s")?.owned);
    await first.send({ type: "resume", session: "s" });
    await until(() => store.session("s")?.owned);
    first.leave("s");
    await until(() => !store.session("s")?.owned);
    const other = sqliteStore(here.path("journal.db"));
    const elsewhere = createHost({
      store: other,
      version: "test",
      executor: () => Promise.reject(new Error("not here")),
    });
    await elsewhere.send({ type: "say", session: "s", text: "no, wait", when: "now", ...lin });
    assert.deepEqual(store.pending("s"), []);
    const outcome = await first.run("s");
    assert.deepEqual([outcome.status, outcome.text], ["success", "heard you"]);
    assert.equal(existsSync(here.path("ran")), false);
    await Promise.all([first.close(), elsewhere.close()]);
  });

  test("another process may say it", async () => {
    using here = workspace();
    const script = [{ calls: [bash("echo begun; sleep 60")] }, { text: "heard" }];
    const path = here.path("journal.db");
    await using sage = await sageWith({ dir: here.dir, script, store: sqliteStore(path), rules: [allow("Bash")] });
    await sage.say("go");
    await begun(sage);
    const store = sqliteStore(path);
    const other = createHost({ store, version: "test", executor: () => Promise.reject(new Error("not here")) });
    await other.send({ type: "say", session: sage.session, text: "faster", when: "now", ...lin });
    await ended(sage);
    assert.equal((await sage.outcome()).text, "heard");
    await other.close();
  });
});

suite("what an interrupt cut off", () => {
  const half = "I will first look at the build, then at the tests, and then change the one that fails.";
  const cut = async (sage: TestSage, act: () => Promise<unknown>) => {
    const shown: string[] = [];
    const stop = sage.store.hub.subscribe(sage.session, {
      fact() {},
      delta: ({ kind, text }) => void (kind === "text" && shown.push(text)),
    });
    await until(() => shown.join("").length > 20);
    await act();
    stop();
  };
  const factOf = (sage: TestSage) =>
    sage.facts().find((fact): fact is Fact<"reply.interrupted"> => fact.type === "reply.interrupted");

  for (const [name, act] of [
    ["Esc and then a message", "pause"],
    ["a message now", "now"],
    ["a stop for good, and a message after it", "cancel"],
  ] as const)
    test(`${name}: the next request has the part that had come, and who interrupted; no thought, no call`, async () => {
      using here = workspace();
      const { turn, heard } = hearing("heard");
      const slow = { reasoning: "secret thought", text: half, calls: [bash("echo never >> ran")], delayMs: 5_000 };
      await using sage = await sageWith({ dir: here.dir, script: [slow, turn], permissionMode: "bypass" });
      await sage.say("go");
      await cut(sage, () =>
        act === "now"
          ? now(sage, "no tests")
          : sage.host.send({ type: "interrupt", session: sage.session, cancel: act === "cancel", ...lin }),
      );
      if (act !== "now") {
        await sage.outcome();
        await sage.say("no tests");
      }
      assert.equal((await sage.outcome()).text, "heard");
      const fact = factOf(sage);
      assert.ok(fact && half.startsWith(fact.data.text) && fact.data.text.length > 20);
      const begun = JSON.stringify(fact.data.text).slice(1, -1);
      const order = ["go", begun, "Lin interrupted you here", "no tests"].map((text) => heard().indexOf(text));
      assert.ok(
        order.every((at, n) => at > (order[n - 1] ?? 0)),
        order.join(","),
      );
      assert.equal(heard().includes("secret thought"), false);
      assert.equal(existsSync(here.path("ran")), false);
      const { data } = fact;
      assert.deepEqual({ ...data, text: "" }, { sawUpTo: 2, text: "", calls: [], model: "scripted", by: "Lin" });
      // The fold of the facts makes the messages that the loop made.
      await ended(sage);
      const folded = JSON.stringify(fold(sage.facts()).messages);
      assert.equal(folded, JSON.stringify((await sage.outcome()).messages));
    });

  test("names a call that was not whole", async () => {
    using here = workspace();
    const { turn, heard } = hearing("heard");
    const wrap = (model: Model): Model => ({
      id: model.id,
      async reply(request, scope) {
        if (request.messages.length > 1) return model.reply(request, scope);
        scope.calling?.("Bash");
        scope.text("Let me");
        return new Promise((_, fail) =>
          scope.signal.addEventListener("abort", () => fail(scope.signal.reason as Error)),
        );
      },
    });
    await using sage = await sageWith({ dir: here.dir, script: [{ text: "" }, turn], wrap });
    const shown: string[] = [];
    sage.store.hub.subscribe(sage.session, {
      fact() {},
      delta: ({ kind, text }) => void (kind === "text" && shown.push(text)),
    });
    await sage.say("go");
    await until(() => shown.length > 0);
    await now(sage, "wait");
    assert.equal((await sage.outcome()).text, "heard");
    assert.match(heard(), /You had begun to call Bash: not run/);
  });

  test("makes no message of what 0.1.0 wrote: an interrupt in a compacted journal folds as before", () => {
    const path = new URL("../fixtures/journals/0.1.0-finished.jsonl", import.meta.url);
    const facts = readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => JSON.parse(line) as Fact);
    const at = (key: string) => facts.findIndex((fact) => fact.key === key);
    const compacted = {
      ...{ session: "s", seq: 0, key: "t0/3/compact", type: "context.compacted", at: 1 },
      data: {
        summary: { upTo: 3, task: "go", todos: "", text: "It looked and acted." },
        ...{ tokens: { before: 9_000, after: 300 }, usage: noUsage },
      },
    } as Fact;
    const interrupt = {
      ...compacted,
      key: "interrupt/x",
      type: "turn.interrupted",
      data: { to: "pause", ...lin },
    } as Fact;
    const summarised = facts.toSpliced(at("t0/3/model"), 0, compacted);
    const interrupted = facts.toSpliced(at("t0/3/model"), 0, interrupt, compacted, {
      ...interrupt,
      key: "interrupt/y",
    });
    const folded = fold(summarised).messages;
    assert.ok(folded.length > 2 && JSON.stringify(folded).includes("It looked and acted."));
    assert.deepEqual(fold(interrupted).messages, folded);
  });

  test("is shown again to whoever joins later, and is what compaction and a fork keep", async () => {
    using here = workspace();
    await using sage = await sageWith({ dir: here.dir, script: [{ text: half, delayMs: 5_000 }, { text: "heard" }] });
    await sage.say("go");
    await cut(sage, () => now(sage, "no tests"));
    await sage.outcome();
    const texts = transcriptOf(sage.facts()).flatMap((item) => (item.type === "text" ? [item.text] : []));
    assert.deepEqual(texts, [factOf(sage)?.data.text, "heard"]);
    const fork = await sage.host.send({ type: "fork", session: sage.session, ...lin });
    assert.ok(fork.ok);
    assert.ok(JSON.stringify(fold(sage.store.load(fork.session)).messages).includes("Lin interrupted you here"));
  });
});
