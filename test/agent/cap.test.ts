// Limits of tokens and money: a person is asked before the step that would follow.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { limitReached } from "../../src/agent/state/cap.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { ExecutionMode } from "../../src/protocol/host/options.ts";
import type { LimitReached } from "../../src/protocol/reasons/turn.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { SpendLimits } from "../../src/agent/state/cap.ts";
import { bashCall, guestSage, guestsIn } from "../support/guests/guest-sage.ts";
import { startRunner } from "../support/process.ts";
import { allow, bash, sageWith, workspace, type TestConfig, type TestPerson, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

const usage = { inputTokens: 80, outputTokens: 20 };
const step = { calls: [bash("echo a")], usage };
const rules = [allow("Bash(echo:*)")];
const prices = { scripted: { input: 10_000, output: 10_000 } };
const end = { text: "done", usage };

const limitOf = (sage: TestSage) => sage.store.pending(sage.session)[0]?.why;
const counted = { ...usage, cacheReadTokens: 0, cacheWriteTokens: 0 };
type Row = [key: string, type: string, data: object];
const at =
  (key: string) =>
  ([, type, data]: Row): Row => [key, type, data];

/** The limit that a session with these facts has reached. */
async function reachedBy(rows: readonly Row[], limits: SpendLimits): Promise<LimitReached | undefined> {
  const store = memoryStore();
  store.create("s", { cwd: "/", version: "test" });
  const epoch = store.claim("s");
  const facts = rows.map(
    ([key, type, data], n) => ({ session: "s", seq: n + 2, at: Date.now(), key, type, data }) as Fact,
  );
  store.commit("s", epoch, facts);
  return limitReached(store, "s", { limits, prices });
}

async function choose(sage: TestPerson, choice: "go on" | "stop", session = sage.session) {
  const [request] = sage.store.pending(session);
  assert.ok(request?.kind === "question");
  const answers = { [request.questions[0]?.question ?? ""]: { selected: [choice] } };
  return sage.answer({ type: "answers", requestId: request.id, answers });
}
const repliesOf = (sage: TestSage) => sage.facts().filter(({ type }) => type === "model.replied").length;

suite("a limit", () => {
  const task = { tool: "Task", input: { agent: "Explore", description: "look", prompt: "look" } };
  type Row = { name: string; script: Script; limits: TestConfig["limits"]; reached: LimitReached; replies: number };
  const rows: Row[] = [
    ...(["turn", "session", "person", "day"] as const).map((scope) => ({
      name: `of a ${scope}, in tokens`,
      script: [step, step, end],
      limits: { [scope]: { tokens: 200 } },
      reached: { scope, unit: "tokens", spent: 200, limit: 200 } as const,
      replies: 2,
    })),
    {
      name: "in money",
      script: [step, step, end],
      limits: { turn: { usd: 1 } },
      reached: { scope: "turn", unit: "usd", spent: 1, limit: 1 },
      replies: 1,
    },
    {
      name: "that a subagent reaches counts for the root, whose next step is asked about",
      script: { "": [{ calls: [task], usage }, end], Explore: [{ text: "seen", usage }] },
      limits: { turn: { tokens: 150 } },
      reached: { scope: "turn", unit: "tokens", spent: 200, limit: 150 },
      replies: 2,
    },
  ];
  for (const { name, script, limits, reached, replies } of rows)
    test(`${name}: the step in flight ends, then a person is asked, and goes on until as much again is used`, async () => {
      using here = workspace();
      await using sage = await sageWith({ script, dir: here.dir, rules, limits, prices });
      await sage.say("go");
      const [request] = await sage.open();
      assert.deepEqual([request?.source, request?.why], ["sage", { code: "limit-reached", args: reached }]);
      assert.equal(repliesOf(sage), replies);
      await choose(sage, "go on");
      if (reached.unit === "usd") await sage.open().then(() => choose(sage, "go on"));
      assert.equal((await sage.outcome()).status, "success");
    });

  test("without a known price counts tokens alone; a person may stop there", async () => {
    using here = workspace();
    const limits = { turn: { usd: 0.01, tokens: 300 } };
    await using sage = await sageWith({ script: [step, step, step, step], dir: here.dir, rules, limits });
    await sage.say("go");
    await sage.open();
    assert.deepEqual(limitOf(sage), {
      code: "limit-reached",
      args: { scope: "turn", unit: "tokens", spent: 300, limit: 300 },
    });
    await choose(sage, "stop");
    assert.equal((await sage.outcome()).status, "cancelled");
    assert.equal(repliesOf(sage), 3);
  });

  const modes: ExecutionMode[] = [
    { type: "batch" },
    { type: "nonInteractive", autoResponse: "alwaysAllow" },
    { type: "nonInteractive", autoResponse: () => ({ type: "granted" }) as never },
  ];
  for (const mode of modes)
    test(`is answered by nobody but a person: ${JSON.stringify(mode)} ends with needs-input`, async () => {
      using here = workspace();
      const limits = { turn: { tokens: 100 } };
      const options = { mode };
      await using sage = await sageWith({ script: [step, end], dir: here.dir, rules, limits, options });
      await sage.say("go");
      assert.equal((await sage.outcome()).status, "needs-input");
      assert.equal(limitOf(sage)?.code, "limit-reached");
    });

  test("that was asked about is asked about after a restart, once, and its answer goes on with the same step", async () => {
    using here = workspace();
    const script = [step, step, end];
    const setup = { dir: here.dir, rules, limits: { turn: { tokens: 100 } } };
    const first = await sageWith({ ...setup, script, store: sqliteStore(here.path("j.db")) });
    await first.say("go");
    const [asked] = await first.open();
    await first[Symbol.asyncDispose]();
    await using sage = await sageWith({
      ...setup,
      script,
      store: sqliteStore(here.path("j.db")),
      session: first.session,
    });
    void sage.outcome();
    assert.deepEqual(
      (await sage.open()).map(({ id }) => id),
      [asked?.id],
    );
    await choose(sage, "go on");
    const [next] = await sage.open();
    assert.notEqual(next?.id, asked?.id);
    assert.deepEqual(next?.why, {
      code: "limit-reached",
      args: { scope: "turn", unit: "tokens", spent: 200, limit: 100 },
    });
    await choose(sage, "go on");
    assert.equal((await sage.outcome()).status, "success");
    assert.equal(repliesOf(sage), 3);
  });

  test("of a day counts what another process used, and yesterday's no more", async () => {
    using here = workspace();
    const path = here.path("j.db");
    const [store, other] = [sqliteStore(path), sqliteStore(path)];
    const limits = { day: { tokens: 250 }, person: { tokens: 1_000 } };
    await using one = await sageWith({ script: [end, end], dir: here.dir, store, limits });
    await using two = await sageWith({ script: [step, step, end], dir: here.dir, rules, store: other, limits });
    await one.say("go");
    await one.outcome();
    await two.say("go");
    await two.open();
    assert.deepEqual(limitOf(two), {
      code: "limit-reached",
      args: { scope: "day", unit: "tokens", spent: 300, limit: 250 },
    });
    const tomorrow = new Date(Date.now() + 86_400_000);
    assert.equal(await limitReached(other, two.session, { limits, prices: undefined, now: tomorrow }), undefined);
    await choose(two, "go on");
    assert.equal((await two.outcome()).status, "success");
    // What a person granted holds for everybody on that day.
    await one.say("more");
    assert.equal((await one.outcome()).status, "success");
  });

  test("of a session that is new is not reached", async () => {
    const store = memoryStore();
    const opened = store.create("s", { cwd: "/", version: "test" });
    assert.ok(opened);
    assert.equal(await limitReached(store, "s", { limits: { day: { tokens: 1 } }, prices: undefined }), undefined);
  });
});

suite("a limit and another agent in the loop's place", () => {
  const script = [
    { text: "first", calls: [bashCall("echo a >> made")] },
    { calls: [bashCall("echo b >> made")] },
    { text: "All done." },
  ];
  const env = { ...process.env, FAKE_COST: "0.5" };

  test("its calls of the reply run, it is stopped before the next one, and goes on where it was once a person says so", async () => {
    using here = workspace();
    await using sage = await guestSage({
      dir: here.dir,
      script,
      env,
      rules: [allow("Bash")],
      limits: { turn: { tokens: 100 } },
    });
    await sage.say("go");
    const [request] = await sage.open();
    assert.deepEqual([request?.source, request?.why.code, sage.ran()], ["sage", "limit-reached", ["echo a >> made"]]);
    await until(() => guestsIn(here.dir).length === 0, "the agent runs on while a person is asked");
    await choose(sage, "go on");
    assert.equal((await sage.outcome()).text, "All done.");
    assert.deepEqual(sage.ran(), ["echo a >> made", "echo b >> made"], "nothing ran twice");
    assert.deepEqual(sage.facts("call.unknown"), []);
    assert.equal(sage.facts("input.requested").length, 1, "as much again may be used");
  });

  test("what it tells at its end counts: output that its messages left out, money, and both once over several processes", async () => {
    using here = workspace();
    const limits = { session: { usd: 1.2 } };
    await using sage = await guestSage({ dir: here.dir, script, env, limits });
    await sage.say("go");
    for (const n of [1, 2]) {
      const [call] = await sage.open();
      assert.equal(call?.kind, "permission", `call ${n}`);
      await sage.answer({ type: "granted", requestId: call?.id ?? "" });
      await until(() => sage.ran().length === n);
    }
    const outcome = await sage.outcome();
    // Three replies, each with 100 tokens beside 1,000 that were cached.
    assert.deepEqual([outcome.usage.inputTokens, outcome.usage.outputTokens], [3_300, 150]);
    await sage.say("more");
    await sage.open();
    assert.deepEqual(sage.store.pending(sage.session)[0]?.why, {
      code: "limit-reached",
      args: { scope: "session", unit: "usd", spent: 1.5, limit: 1.2 },
    });
    await choose(sage, "stop");
    assert.equal((await sage.outcome()).status, "cancelled");
  });

  test("with nobody to ask it ends with needs-input", async () => {
    using here = workspace();
    const options = { mode: { type: "batch" } } as const;
    const limits = { turn: { tokens: 1 } };
    await using sage = await guestSage({ dir: here.dir, script, env, rules: [allow("Bash")], limits, options });
    await sage.say("go");
    assert.deepEqual([(await sage.outcome()).status, sage.ran()], ["needs-input", ["echo a >> made"]]);
  });
});

suite("who and what a limit counts", () => {
  test("money of summaries, inquiries and titles, as far as their model has a price", async () => {
    const facts = (model: string): Row[] => [
      ["said/1", "user.said", { text: "go", by: "Lin", surface: "test" }],
      ["t0", "turn.begun", { loop: 1, maxSteps: 9, sawUpTo: 2 }],
      ["t0/0/compact", "context.compacted", { tokens: { before: 1, after: 1 }, usage: counted, model }],
      ["t0/0/0/permit0/inquiry/a.replied", "inquiry.replied", { usage: counted, model }],
      ["title/auto", "session.titled", { title: "t", by: "auto", surface: "runtime", usage: counted, model }],
    ];
    const limits = { session: { usd: 0.5 } };
    assert.equal((await reachedBy(facts("scripted"), limits))?.spent, 3);
    assert.equal(await reachedBy(facts("unknown"), limits), undefined);
  });

  const said = (n: number, by: string): Row => [`said/${n}`, "user.said", { text: "go", by, surface: "test" }];
  const turn = (n: number, sawUpTo: number, more = {}): Row[] => [
    [`t${n}`, "turn.begun", { loop: 1, maxSteps: 9, sawUpTo, ...more }],
    [`t${n}/0/model`, "model.replied", { parts: [], usage: counted, finish: "stop", model: "m", sawUpTo }],
  ];
  // Facts are numbered from 2: the first one opens the session.
  const rows: [string, Row[], string, number][] = [
    ["the first of several messages that begin a turn", [said(1, "Ada"), said(2, "Bo"), ...turn(0, 3)], "Ada", 100],
    [
      "not who spoke into it",
      [said(1, "Ada"), ...turn(0, 2), said(2, "Bo"), ...turn(0, 5).slice(1).map(at("t0/1/model"))],
      "Ada",
      200,
    ],
    [
      "who began the turn before one that nobody began",
      [said(1, "Ada"), ...turn(0, 2), ...turn(1, 2, { cause: { tasks: ["x"] } })],
      "Ada",
      200,
    ],
    ["not who took a message back", [said(1, "Ada"), said(2, "Bo"), ...turn(0, 3, { without: [2] })], "Bo", 100],
    [
      "and not Sage's own words after an update",
      [
        said(1, "Ada"),
        ...turn(0, 2),
        ["said/u", "user.said", { text: "u", by: "sage", surface: "update" }],
        ...turn(1, 5),
      ],
      "Ada",
      200,
    ],
  ];
  for (const [name, facts, person, spent] of rows)
    test(`a person's day: ${name}`, async () => {
      const limits = { person: { tokens: 1_000_000 }, people: { [person]: { tokens: 1 }, constructor: { tokens: 1 } } };
      assert.deepEqual(await reachedBy(facts, limits), { scope: "person", unit: "tokens", spent, limit: 1 });
      assert.equal(await reachedBy(facts, { people: { Nobody: { tokens: 1 } } }), undefined);
    });
});

test("a limit holds over kill -9: the question is met again, and nothing of the step before it is done twice", async () => {
  using here = workspace();
  const calls = [bash("echo a >> ran"), bash("echo b >> ran")];
  writeFileSync(here.path("script.json"), JSON.stringify([{ calls, usage }, { text: "over" }]));
  const env = { LIMITS: JSON.stringify({ turn: { tokens: 100 } }) };
  const killed = startRunner([here.dir, "s"], { env: { ...env, ANSWER: "self", OPTIONS: "{}" } });
  await killed.until(/input.requested t0\/1\/limit/);
  killed.child.kill("SIGKILL");
  await killed.ended;
  assert.equal(readFileSync(here.path("ran"), "utf8"), "a\nb\n", "the calls of the reply ran first");
  const { out } = await startRunner([here.dir, "s"], { env: { ...env, ANSWER: "self" } }).ended;
  assert.match(out, /over/);
  assert.equal(readFileSync(here.path("ran"), "utf8"), "a\nb\n");
});
