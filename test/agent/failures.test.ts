// Words of the turn when several calls of one reply come to a bad end at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { createHost } from "../../src/host/host.ts";
import type { Hooks } from "../../src/hooks/hook.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { bash, config, workspace } from "../support/sage.ts";

test("a mistake of Sage's own is told, and not hidden behind a sibling that needs a person", async () => {
  using here = workspace();
  const store = memoryStore();
  const script = [{ calls: [bash("touch asked"), { tool: "Glob", input: { pattern: "*" } }] }, { text: "unused" }];
  // A guard of an embedder that throws where it should have answered.
  const hooks: Hooks = {
    has: (moment) => moment === "afterCall",
    run: () => Promise.reject(new TypeError("guard is not a function")),
  };
  const made = { ...config({ script, dir: here.dir, store }), hooks };
  const options = { mode: { type: "batch" }, workingDirectory: here.dir } as const;
  const clock = { now: () => 0, sleep: async () => {} };
  const host = createHost({
    store,
    version: "test",
    supervision: { clock },
    executor: async () => new TurnExecutor(made, options),
  });
  await host.send({ type: "open", session: "s", cwd: here.dir });
  await host.send({ type: "say", session: "s", text: "go", by: "Lin", surface: "test" });
  const outcome = await host.run("s");
  assert.equal(outcome.status, "error", JSON.stringify(outcome));
  assert.match(outcome.status === "error" ? outcome.error.message : "", /guard is not a function/);
  await host.close();
});
