// Limits of tokens and money: a person is asked before the step that would follow.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { limitReached } from "../../src/agent/state/cap.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { ExecutionMode } from "../../src/protocol/host/options.ts";
import type { LimitReached } from "../../src/protocol/reasons/turn.ts";
import { allow, bash, sageWith, workspace, type TestConfig, type TestSage } from "../support/sage.ts";

const usage = { inputTokens: 80, outputTokens: 20 };
const step = { calls: [bash("echo a")], usage };
const rules = [allow("Bash(echo:*)")];
const prices = { scripted: { input: 10_000, output: 10_000 } };
const end = { text: "done", usage };

const limitOf = (sage: TestSage) => sage.store.pending(sage.session)[0]?.why;
async function choose(sage: TestSage, choice: "go on" | "stop", session = sage.session) {
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
