import { said } from "../../src/protocol/index.ts";
// One hold on a session, several turns after each other: for code that has the executor itself in hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { UnifiedExecutor } from "../../src/agent/turn/executor.ts";
import { drain } from "../../src/agent/turn/strategy.ts";
import { openSession, Stopped } from "../../src/journal/session.ts";
import { sqliteStore } from "../../src/journal/sqlite.ts";
import { allow, bash, config, workspace } from "../support/sage.ts";

test("one log serves turn after turn, and goes on with one that was interrupted", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  store.create("s", { cwd: here.dir, version: "test" });
  const say = (text: string) =>
    store.append("s", { key: `said/${text}`, type: "user.said", at: 0, data: { text, by: "Lin", surface: "test" } });
  const script = [{ text: "one" }, { calls: [bash("sleep 60")] }, { text: "three" }];
  const agent = new UnifiedExecutor(config({ script, dir: here.dir, store, rules: [allow("Bash(sleep:*)")] }), {
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
