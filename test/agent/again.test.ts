// A session that goes on: several turns under one hold, and one turn under several.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { drain } from "../../src/agent/turn/strategy.ts";
import { openSession, Stopped } from "../../src/journal/session/session.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { allow, bash, config, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

test("one log serves turn after turn, and goes on with one that was interrupted", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  store.create("s", { cwd: here.dir, version: "test" });
  const say = (text: string) =>
    store.append("s", { key: `said/${text}`, type: "user.said", at: 0, data: { text, by: "Lin", surface: "test" } });
  const script = [{ text: "one" }, { calls: [bash("sleep 60")] }, { text: "three" }];
  const agent = new TurnExecutor(config({ script, dir: here.dir, store, rules: [allow("Bash(sleep:*)")] }), {
    workingDirectory: here.dir,
  });
  const log = openSession(store, "s");
  const run = () => drain(agent.execute({ log }), () => {});

  say("first");
  assert.equal((await run()).text, "one");
  assert.equal((await run()).text, "one", "nothing new: the last outcome stands");

  say("second");
  const stop = store.hub.subscribe("s", {
    fact: ({ type }) =>
      type === "call.started" && setImmediate(() => log.stop(new Stopped("interrupted", said("Lin interrupted")))),
  });
  assert.equal((await run()).status, "paused");
  stop();
  assert.equal((await run()).text, "three");
  log.release();
  const facts = store.load("s");
  assert.deepEqual(
    facts.filter(({ type }) => type === "turn.ended").map(({ key }) => key),
    ["t0.ended", "t1.ended"],
  );
  assert.equal(store.verify("s"), undefined);
  store.close();
});

test("a turn that goes on waits for what was asked, and prepares no request a second time", async () => {
  using here = workspace();
  let previews = 0;
  const change: Tool<{ to: string }> = {
    name: "Change",
    description: "Changes.",
    inputSchema: z.object({ to: z.string() }),
    effect: "writes",
    preview: ({ to }) => ({ path: here.path(`${to}${++previews}`), lines: [], firstLine: 1 }),
    execute: async ({ to }) => ({ ok: true, text: `changed to ${to}` }),
  };
  const parts = {
    dir: here.dir,
    store: memoryStore(),
    session: "s",
    tools: [change],
    script: [
      { calls: [{ tool: "Change", input: { to: "one" } }] },
      { calls: [{ tool: "Change", input: { to: "two" } }] },
      { text: "ok" },
    ],
  };
  let shown: unknown;
  {
    await using sage = await sageWith(parts);
    await sage.say("go");
    const [first] = await sage.open();
    await sage.answer({ type: "granted", requestId: first?.id ?? "" });
    shown = await until(
      () => sage.store.pending("s").find(({ id }) => id !== first?.id),
      "the second call does not ask",
      { everyMs: 1 },
    );
  }
  await using sage = await sageWith(parts);
  let isWaiting = false;
  sage.store.hub.subscribe("s", {
    fact() {},
    delta: ({ state }) => void (isWaiting ||= state?.state === "waitingForConfirmation"),
  });
  const outcome = sage.host.run("s");
  await until(() => isWaiting, "it does not wait again", { everyMs: 1 });
  const [request] = await sage.open();
  assert.deepEqual(request, shown);
  assert.equal(previews, 2);
  await sage.answer({ type: "granted", requestId: request?.id ?? "" });
  assert.equal((await outcome).text, "ok");
});
