// Embedders use the executor itself: sessions of their own, interrupts, tasks, a channel.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import {
  InputChannel,
  LifecycleManager,
  memoryStore,
  UnifiedExecutor,
  type AgentOutcome,
} from "../../src/sdk/index.ts";
import { openSession } from "../../src/sdk/entries/stores.ts";
import { allow, askUser, bash, config, question, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };

function begin(store = memoryStore()) {
  store.create("s", { cwd: "/", version: "test" });
  store.append("s", { key: "said/0", type: "user.said", at: 1, data: { text: "go", ...lin } });
  return store;
}

test("an interrupt of the lifecycle stops a running executor: the turn is paused, and goes on", async () => {
  using here = workspace();
  const store = begin();
  const script = [{ calls: [bash("echo begun > ran; sleep 60")] }, { text: "went on" }];
  const made = config({ dir: here.dir, store, script, rules: [allow("Bash")] });
  const executor = new UnifiedExecutor(made, { workingDirectory: here.dir });
  const lifecycle = new LifecycleManager();
  const log = openSession(store, "s");
  const ended = executor.run({ log, lifecycle });
  await until(() => existsSync(here.path("ran")));
  assert.equal(lifecycle.handleInterrupt(), "pause");
  assert.equal(lifecycle.checkInterrupt(), true);
  assert.equal((await ended).status, "paused");
  assert.equal(lifecycle.handleInterrupt(), "ignore");
  await log.release();
  const again = openSession(store, "s");
  assert.equal((await executor.run({ log: again })).text, "went on");
  await again.release();
});

test("while a request waits, the same interrupt cancels it and the turn", async () => {
  using here = workspace();
  const store = begin();
  const made = config({ dir: here.dir, store, script: [{ calls: [askUser(question("Sure?"))] }] });
  const lifecycle = new LifecycleManager();
  const log = openSession(store, "s");
  const ended = new UnifiedExecutor(made, { workingDirectory: here.dir }).run({ log, lifecycle });
  await until(() => store.pending("s").length === 1);
  assert.equal(lifecycle.handleInterrupt(), "cancel");
  assert.equal((await ended).status, "cancelled");
  assert.deepEqual(store.pending("s"), []);
  await log.release();
});

test("a task may name its session, its sender and its own id; delivered twice, it is said once", async () => {
  using here = workspace();
  const store = memoryStore();
  const made = config({ dir: here.dir, store, script: [{ text: "one" }, { text: "two" }] });
  const executor = new UnifiedExecutor(made, { workingDirectory: here.dir });
  const task = { description: "do it", session: "mine", id: "m1", ...lin };
  const first = await executor.executeTask(task);
  const second = await executor.executeTask(task);
  assert.deepEqual([first.session, first.text, second.text], ["mine", "one", "one"]);
  const third = await executor.executeTask({ description: "and more", session: "mine" });
  assert.equal(third.text, "two");
  const late = await executor.executeTask(task);
  assert.deepEqual([late.status, late.text, late.messages], ["success", "one", first.messages]);
  const said = store.load("mine").flatMap((fact) => (fact.type === "user.said" ? [fact.data.text] : []));
  assert.deepEqual(said, ["do it", "and more"]);
});

test("a channel's default timeout and cancelPending act on the loop's own requests", async () => {
  using here = workspace();
  const run = (options: { defaultTimeout?: number }): [Promise<AgentOutcome>, InputChannel, () => unknown] => {
    const store = begin();
    const [channel, handle] = InputChannel.create(4, options);
    const made = config({ dir: here.dir, store, script: [{ calls: [askUser(question("Sure?"))] }] });
    const executor = new UnifiedExecutor(made, { workingDirectory: here.dir }, channel);
    return [executor.run({ log: openSession(store, "s") }), channel, () => handle.nextRequest()];
  };
  const [late] = run({ defaultTimeout: 30 });
  const outcome = await late;
  assert.equal(outcome.status === "error" && outcome.error.code, "timeout");
  const [cancelled, channel, next] = run({});
  await next();
  channel.cancelPending("stopped by Lin");
  assert.equal((await cancelled).status, "cancelled");
});
