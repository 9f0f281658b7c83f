import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { AgentState } from "../../src/protocol/facts/outcome.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as check, constantFrom, property } from "../support/properties.ts";
import { LifecycleManager } from "../../src/agent/state/lifecycle.ts";
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

test("a turn's facts tell how it begins and ends; whoever watches sees it wait, with the reason, and work again", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "ok" }];
  await using sage = await sageWith({ dir: here.dir, script });
  const shown = watching(sage);
  await sage.say("go");
  const [request] = await sage.open();
  const waiting = {
    state: "waitingForConfirmation",
    reason: { code: "asks-person", args: {} },
    requestId: request?.id,
  };
  assert.deepEqual(await until(() => shown.find(isWait)), waiting);
  await sage.answer({ type: "answers", requestId: request?.id ?? "", answers: { "Sure?": { selected: ["Red"] } } });
  await sage.outcome();
  assert.deepEqual(namesAround(shown, isWait), ["executingTools", "waitingForConfirmation", "executingTools"]);
  assert.deepEqual(written(sage.facts()), ["executing", "completed"]);
});

test("one of two requests is answered: the state names the one that is left; a batch leaves its reason", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("One?")), bash("env true")] }, { text: "ok" }];
  await using sage = await sageWith({ dir: here.dir, script });
  const shown = watching(sage);
  await sage.say("go");
  const [first, second] = await sage.open(2);
  await sage.answer({ type: "answers", requestId: first?.id ?? "", answers: { "One?": { selected: ["Red"] } } });
  await until(() => shown.filter(isWait).length >= 2);
  await sage.answer({ type: "granted", requestId: second?.id ?? "" });
  await sage.outcome();
  assert.deepEqual(
    shown.filter(isWait).map(({ reason, requestId }) => [reason, requestId]),
    [first, second].map((request) => [request?.why, request?.id]),
  );
  assert.deepEqual(written(sage.facts()), ["executing", "completed"]);

  await using batch = await sageWith({ dir: here.dir, script, options: { mode: { type: "batch" } } });
  const shownInBatch = watching(batch);
  await batch.say("go");
  assert.equal((await batch.outcome()).status, "needs-input");
  assert.deepEqual(
    shownInBatch.filter(isWait).map(({ requestId }) => requestId),
    [`${batch.session}/t0/0/0/ask0`],
  );
  assert.deepEqual(written(batch.facts()), ["executing"]);
});

type Wait = Extract<AgentState, { state: "waitingForConfirmation" }>;

function isWait(state: AgentState): state is Wait {
  return state.state === "waitingForConfirmation";
}

/** States that are shown from now on. */
function watching({ store, session }: Awaited<ReturnType<typeof sageWith>>): AgentState[] {
  const shown: AgentState[] = [];
  store.hub.subscribe(session, { fact() {}, delta: ({ state }) => void (state && shown.push(state)) });
  return shown;
}

/** Names of the state that is meant, and of the ones before and after it. */
function namesAround(shown: readonly AgentState[], isMeant: (state: AgentState) => boolean): string[] {
  const at = shown.findIndex(isMeant);
  return shown.slice(at - 1, at + 2).map((state) => (state.state === "executing" ? state.phase : state.state));
}

function written(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) => (fact.type === "state.changed" ? [fact.data.to.state] : []));
}
