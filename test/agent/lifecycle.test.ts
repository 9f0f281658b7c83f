import { said } from "../../src/protocol/index.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as check, constantFrom, property } from "../support/properties.ts";
import { LifecycleManager } from "../../src/agent/state/lifecycle.ts";
import type { AgentState, Fact } from "../../src/protocol/index.ts";
import { askUser, bash, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const states: AgentState[] = [
  { state: "initializing" },
  { state: "idle" },
  { state: "executing", phase: "callingLlm" },
  { state: "executing", phase: "executingTools" },
  { state: "waitingForConfirmation", reason: said("why"), requestId: "s/t0/0/0/ask0" },
  { state: "paused", reason: said("interrupted") },
  { state: "completed", reason: "success" },
  { state: "error", error: { code: "timeout", message: "late" } },
];

test("whatever is asked of it, the machine only ever makes legal steps, and its history is the way it went", () => {
  check(
    property(array(constantFrom(...states, "interrupt" as const), { maxLength: 40 }), (steps) => {
      const told: string[] = [];
      const machine = new LifecycleManager(({ from, to }) => told.push(`${from.state}>${to.state}`));
      for (const step of steps) {
        const before = machine.state;
        if (step === "interrupt") {
          const expected = { executing: "pause", waitingForConfirmation: "cancel" }[before.state as string] ?? "ignore";
          assert.equal(machine.handleInterrupt(), expected);
          assert.equal(machine.checkInterrupt(), before.state === "executing" || before.state === "paused");
          continue;
        }
        try {
          machine.transition(step);
          assert.deepEqual(machine.state, step);
        } catch (error) {
          assert.deepEqual(machine.state, before, "an illegal step changes nothing");
          assert.match(String(error), new RegExp(`from ${before.state} to ${step.state}`), "both states are named");
        }
      }
      assert.deepEqual(
        machine.history.map(({ from, to }) => `${from.state}>${to.state}`),
        told,
      );
      for (const [n, { from }] of machine.history.entries())
        assert.deepEqual(from, n === 0 ? { state: "initializing" } : machine.history[n - 1]?.to);
    }),
    { numRuns: 300 },
  );
});

test("nothing leads out of completed or error but a new start, and nothing leads back to initializing", () => {
  for (const end of [states[6], states[7]] as AgentState[])
    for (const next of states) {
      const machine = new LifecycleManager();
      machine.transition({ state: "executing", phase: "preparingContext" });
      machine.transition(end);
      if (["idle", "executing"].includes(next.state)) machine.transition(next);
      else assert.throws(() => machine.transition(next), /cannot go from/);
    }
});

test("a turn's states are facts: working, waiting with its reason, working again, done", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("Sure?"))] }, { text: "ok" }],
  });
  await sage.say("go");
  const [request] = await sage.open();
  const states = () => sage.facts().flatMap((fact) => (fact.type === "state.changed" ? [fact.data.to] : []));
  assert.deepEqual(states().at(-1), {
    state: "waitingForConfirmation",
    reason: { code: "asks-person", args: {} },
    requestId: request?.id,
  });
  await sage.answer({ type: "answers", requestId: request?.id ?? "", answers: { "Sure?": { selected: ["Red"] } } });
  await sage.outcome();
  assert.deepEqual(
    states().map(({ state }) => state),
    ["executing", "waitingForConfirmation", "executing", "completed"],
  );
});

test("one of two requests is answered: the state names the one that is left; in a batch its reason stays", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("One?")), bash("env true")] }, { text: "ok" }];
  const states = (facts: readonly Fact[]) =>
    facts.flatMap((fact) => {
      if (fact.type !== "state.changed") return [];
      const { to } = fact.data;
      return [to.state === "waitingForConfirmation" ? [to.state, to.reason, to.requestId] : [to.state]];
    });
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  const [first, second] = await sage.open(2);
  await sage.answer({ type: "answers", requestId: first?.id ?? "", answers: { "One?": { selected: ["Red"] } } });
  await until(() => states(sage.facts()).length >= 3);
  await sage.answer({ type: "granted", requestId: second?.id ?? "" });
  await sage.outcome();
  assert.deepEqual(states(sage.facts()), [
    ["executing"],
    ["waitingForConfirmation", first?.why, first?.id],
    ["waitingForConfirmation", second?.why, second?.id],
    ["executing"],
    ["completed"],
  ]);

  await using batch = await sageWith({ dir: here.dir, script, options: { mode: { type: "batch" } } });
  await batch.say("go");
  assert.equal((await batch.outcome()).status, "needs-input");
  const needed = `${batch.session}/t0/0/0/ask0`;
  assert.deepEqual(states(batch.facts()), [["executing"], ["waitingForConfirmation", first?.why, needed]]);
});
