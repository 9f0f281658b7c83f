import { Stopped, type Durable } from "../../journal/session/durable.ts";
import type { SessionLog } from "../../journal/session/session.ts";
import type { AgentState, ExecutionPhase, OutcomeStatus } from "../../protocol/facts/outcome.ts";
import { stateKey } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import type { Observation } from "./context.ts";
import { LifecycleManager } from "./lifecycle.ts";

/** Writes down how an attempt begins and ends; open requests tell the rest. Its facts ride with others, and replay never reads them. */
export function journaledLifecycle(log: SessionLog): LifecycleManager {
  return new LifecycleManager((change) => {
    // A log that is closed keeps nothing any more: the person left, or somebody else has the session.
    if (log.closed || (isUnderWay(change.from) && isUnderWay(change.to))) return;
    log.commits.add(stateKey(log.epoch, log.nextState()), "state.changed", change);
  });
}

function isUnderWay({ state }: AgentState): boolean {
  return state === "executing" || state === "waitingForConfirmation";
}

/** An interrupt of the lifecycle stops the attempt: its turn is paused, or cancelled where it waits for a person. */
export function stopOnInterrupt(lifecycle: LifecycleManager, log: SessionLog): void {
  lifecycle.onInterrupt((action) =>
    log.stop(new Stopped(action === "pause" ? "interrupted" : "cancelled", reason("interrupted", {}))),
  );
}

/** Shows the states of the agent that works on this branch, in their order. */
export function stateShower(durable: Durable, agent: readonly string[]): (state: AgentState, sawUpTo?: number) => void {
  let n = 0;
  return (state, sawUpTo) => durable.showState({ agent, state, n: n++, ...(sawUpTo !== undefined && { sawUpTo }) });
}

/** Phase of an agent, for watchers; subagents are within the root's tool phase. `sawUpTo`: messages up to this seq are in the request. */
export function enterPhase({ agent, lifecycle, show }: Observation, phase: ExecutionPhase, sawUpTo?: number): void {
  const isRoot = agent.length === 0;
  if (isRoot && lifecycle.state.state !== "executing") return;
  if (isRoot) lifecycle.transition({ state: "executing", phase });
  show({ state: "executing", phase }, isRoot ? sawUpTo : undefined);
}

export function endState(lifecycle: LifecycleManager, status: OutcomeStatus): void {
  switch (status.status) {
    case "paused":
      if (status.reason.code === "read-now") break; // the turn goes on at once
      if (!lifecycle.checkInterrupt()) lifecycle.transition({ state: "paused", reason: status.reason });
      break;
    case "error":
      lifecycle.transition({ state: "error", error: status.error });
      break;
    case "needs-input":
      break; // its open request tells what it waits for
    default:
      lifecycle.transition({ state: "completed", reason: status.status });
  }
}
