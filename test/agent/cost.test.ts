import assert from "node:assert/strict";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import type { Prices } from "../../src/models/prices.ts";
import { scripted } from "../../src/models/scripted.ts";
import { config, workspace } from "../support/sage.ts";

test("a turn costs what its replies cost, subagents included, or nobody knows", async () => {
  using here = workspace();
  const usage = { inputTokens: 100_000, outputTokens: 10_000 };
  const task = { tool: "Task", input: { agent: "Explore", description: "look", prompt: "look" } };
  const script = {
    "": [
      { calls: [task], usage },
      { text: "done", usage },
    ],
    Explore: [{ text: "seen", usage }],
  };
  const run = (prices: Prices) => {
    const made = { ...config({ script, dir: here.dir }), model: scripted(script, "local/m"), prices };
    return new TurnExecutor(made, { workingDirectory: here.dir }).executeTask("go");
  };
  const known = await run({ "local/m": { input: 5, output: 10 } });
  assert.deepEqual([known.status, known.stats.modelCalls], ["success", 3]);
  assert.equal(known.cost?.usd.toFixed(6), "1.800000");
  assert.ok(!("cost" in (await run({ "local/other": { input: 5, output: 10 } }))));
});
