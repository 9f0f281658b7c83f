// Tables of the host's decisions: where a run goes, what an interrupt does, and whether a turn is followed by another.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LifecycleManager } from "../../src/agent/state/lifecycle.ts";
import { type Standing, interruptOf, runState } from "../../src/host/commands/turn.ts";
import { nextPhase, type RunEvent, type RunPhase } from "../../src/host/run/run-phase.ts";
import { goesOn, type SessionRun } from "../../src/host/run/runner.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { openSession, Stopped } from "../../src/journal/session/session.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { AgentOutcome, AgentState } from "../../src/protocol/facts/outcome.ts";
import { said } from "../../src/protocol/reasons/reason.ts";

const lin = { by: "Lin", surface: "test" };

function sessionLog() {
  const store = memoryStore();
  store.create("s", { cwd: "/", version: "test" });
  return { store, log: openSession(store, "s") };
}

const { log } = sessionLog();
const lifecycle = new LifecycleManager();
const sleep = { woken: Promise.resolve(true), end() {} };
const reason = new Stopped("cancelled", said("Lin stopped the turn"));

const phases = {
  preparing: { name: "preparing", kept: undefined, stop: undefined },
  "preparing, stopped": { name: "preparing", kept: undefined, stop: reason },
  "preparing, lease kept": { name: "preparing", kept: log.epoch, stop: undefined },
  working: { name: "working", log, lifecycle, idleAt: undefined },
  "working, idle": { name: "working", log, lifecycle, idleAt: 7 },
  fallingAsleep: { name: "fallingAsleep", log },
  asleep: { name: "asleep", kept: log.epoch, sleep },
  over: { name: "over" },
} satisfies Record<string, RunPhase>;
type Name = keyof typeof phases;

const events = {
  attemptBegun: { type: "attemptBegun", log, lifecycle },
  attemptEnded: { type: "attemptEnded" },
  "looked, busy": { type: "looked", idleAt: undefined, maySleep: true },
  "looked, idle": { type: "looked", idleAt: 7, maySleep: true },
  "looked, idle, may not sleep": { type: "looked", idleAt: 7, maySleep: false },
  slept: { type: "slept", sleep },
  woken: { type: "woken" },
  stopped: { type: "stopped", reason },
  ended: { type: "ended" },
} satisfies Record<string, RunEvent>;

/** By phase: where each event leads. An event that is not named changes nothing. */
const table: Record<Name, Partial<Record<keyof typeof events, Name>>> = {
  preparing: { attemptBegun: "working", stopped: "preparing, stopped", ended: "over" },
  "preparing, stopped": { attemptBegun: "working", ended: "over" },
  "preparing, lease kept": { attemptBegun: "working", slept: "asleep", ended: "over" },
  working: {
    attemptEnded: "preparing",
    "looked, idle": "working, idle",
    "looked, idle, may not sleep": "working, idle",
    ended: "over",
  },
  "working, idle": {
    attemptEnded: "preparing",
    "looked, busy": "working",
    "looked, idle": "fallingAsleep",
    ended: "over",
  },
  fallingAsleep: { attemptEnded: "preparing, lease kept", ended: "over" },
  asleep: { woken: "preparing, lease kept", ended: "over" },
  over: {},
};

test("a run goes from phase to phase as the table says", () => {
  for (const [from, ways] of Object.entries(table) as [Name, (typeof table)[Name]][])
    for (const [name, event] of Object.entries(events) as [keyof typeof events, RunEvent][]) {
      if (from === "preparing, lease kept" && name === "stopped") continue; // below
      assert.deepEqual(nextPhase(phases[from], event), phases[ways[name] ?? from], `${from}, ${name}`);
    }
  const kept = nextPhase(phases["preparing, lease kept"], events.stopped);
  assert.deepEqual(kept, { name: "preparing", kept: log.epoch, stop: reason }, "a lease is not lost by a stop");
});

test("an interrupt pauses work that somebody attends, and cancels what waits or nobody runs", () => {
  const standings: Record<Standing, [attended: string, alone: string]> = {
    idle: ["nothing", "nothing"],
    beginning: ["pause", "cancel"],
    working: ["pause", "cancel"],
    waiting: ["cancel", "cancel"],
    stopped: ["cancel", "cancel"],
  };
  for (const [standing, [attended, alone]] of Object.entries(standings) as [Standing, [string, string]][]) {
    assert.equal(interruptOf(standing, { attended: true }), attended, standing);
    assert.equal(interruptOf(standing, { attended: false }), alone, standing);
  }
});

test("how far a session is: by its run here, else by what the journal says of other processes", () => {
  const row = { id: "s", cwd: "/", title: "", at: 0, lastAt: 0, open: true, unheard: false, owned: true, pending: 0 };
  const here = (phase: RunPhase) => ({ phase, log: "log" in phase ? phase.log : undefined }) as unknown as SessionRun;
  const working = (state: AgentState) => {
    const manager = new LifecycleManager();
    manager.transition({ state: "executing", phase: "preparingContext" });
    if (state.state !== "executing") manager.transition(state);
    return here({ ...phases.working, lifecycle: manager });
  };
  assert.equal(runState(row, undefined), "working");
  assert.equal(runState({ ...row, pending: 1 }, undefined), "waiting");
  assert.equal(runState({ ...row, owned: false }, undefined), "stopped");
  assert.equal(runState({ ...row, open: false, owned: false }, undefined), "idle");
  assert.equal(runState(row, here(phases.preparing)), "beginning");
  assert.equal(runState({ ...row, open: false }, here(phases.preparing)), "beginning");
  assert.equal(runState({ ...row, pending: 1 }, here(phases.asleep)), "waiting");
  assert.equal(runState({ ...row, pending: 1 }, here(phases.fallingAsleep)), "waiting");
  assert.equal(runState(row, working({ state: "executing", phase: "executingTools" })), "working");
  assert.equal(
    runState(row, working({ state: "waitingForConfirmation", reason: said(""), requestId: "s/x" })),
    "waiting",
  );
  assert.equal(runState(row, working({ state: "paused", reason: said("interrupted") })), "stopped");
  assert.equal(runState({ ...row, open: false }, here(phases.working)), "idle");
  const spoken = sessionLog();
  spoken.store.append("s", { key: "said/0", type: "user.said", at: 1, data: { text: "go", ...lin } });
  const unseen = here({ ...phases.working, log: spoken.log });
  assert.equal(runState({ ...row, open: false }, unseen), "beginning");
});

test("a turn is followed by what nobody has seen; a paused one only by what was said after the interrupt", () => {
  const status = (one: "success" | "paused" | "needs-input") => ({ status: one }) as AgentOutcome;
  const at = (facts: ("say" | "see" | "interrupt")[]) => {
    const { store, log: held } = sessionLog();
    let seq = 0;
    for (const [n, fact] of facts.entries()) {
      if (fact === "say") {
        const data = { text: "go", ...lin };
        seq = store.append("s", { key: `said/${n}`, type: "user.said", at: n, data }).fact.seq;
      } else if (fact === "interrupt")
        store.append("s", { key: `interrupt/${n}`, type: "turn.interrupted", at: n, data: { to: "pause", ...lin } });
      else {
        const reply = { parts: [], usage: noUsage, finish: "stop" as const, model: "m", sawUpTo: seq };
        held.branch("").decide(`t0/${n}/model`, "model.replied", () => reply);
        held.flush();
      }
    }
    return (outcome: AgentOutcome) => goesOn(store, held, outcome);
  };
  assert.equal(at(["say", "see"])(status("success")), false);
  assert.equal(at(["say", "see", "say"])(status("success")), true);
  assert.equal(at(["say", "see", "say"])(status("needs-input")), false);
  assert.equal(at(["say", "see", "say", "interrupt"])(status("paused")), false, "said before the interrupt");
  assert.equal(at(["say", "see", "interrupt", "say"])(status("paused")), true);
  assert.equal(at(["say", "interrupt", "say", "see"])(status("paused")), false, "the reply has seen it");
  assert.equal(at(["say", "see", "say"])(status("paused")), false, "left: nobody has interrupted it");
});
