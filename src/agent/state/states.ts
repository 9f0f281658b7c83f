import { Stopped, type Durable, type Opened } from "../../journal/durable.ts";
import type { SessionLog } from "../../journal/session.ts";
import {
  reason,
  stateKey,
  type AgentState,
  type ExecutionPhase,
  type OutcomeStatus,
  type Resolution,
} from "../../protocol/index.ts";
import type { ExecutionContext } from "./context.ts";
import { LifecycleManager } from "./lifecycle.ts";

/** A lifecycle whose changes of state are facts. They ride with whatever caused them, and replay never asks for them. */
export function journaledLifecycle(log: SessionLog): LifecycleManager {
  return new LifecycleManager((change) => {
    // A log that is closed keeps nothing any more: the person left, or somebody else has the session.
    const isPhase = change.from.state === "executing" && change.to.state === "executing";
    if (!isPhase && !log.closed) log.add(stateKey(log.epoch, log.nextState()), "state.changed", change);
  });
}

/** An interrupt of the lifecycle stops the attempt: its turn is paused, or cancelled where it waits for a person. */
export function stopOnInterrupt(lifecycle: LifecycleManager, log: SessionLog): void {
  lifecycle.onInterrupt((action) =>
    log.stop(new Stopped(action === "pause" ? "interrupted" : "cancelled", reason("interrupted", {}))),
  );
}

/** Shows the states of the agent that works on this branch, in their order. */
export function stateShower(durable: Durable, agent: readonly string[]): (state: AgentState) => void {
  let n = 0;
  return (state) => durable.showState({ agent, state, n: n++ });
}

/** Phase of an agent, for whoever watches. Subagents work inside of the root's tool phase, so its lifecycle hears nothing of them. */
export function enterPhase({ agent, lifecycle, show }: ExecutionContext, phase: ExecutionPhase): void {
  const isRoot = agent.length === 0;
  if (isRoot && lifecycle.state.state !== "executing") return;
  if (isRoot) lifecycle.transition({ state: "executing", phase });
  show({ state: "executing", phase });
}

/** Waits for a person, anywhere in the tree, and says so for as long as anybody in it waits. */
export function waitForPerson(context: ExecutionContext, opened: Opened): Promise<Resolution> {
  if (opened.resolution) return Promise.resolve(opened.resolution);
  const { tree, inquiries } = context;
  inquiries.follow(context, opened.request);
  tree.waiting = [...tree.waiting, opened.request];
  const isRoot = context.agent.length === 0; // whose waiting is a fact
  if (!isRoot)
    context.show({ state: "waitingForConfirmation", reason: opened.request.why, requestId: opened.request.id });
  nameWaiting(context);
  // A wait that is broken off ends the attempt, whose end has a state of its own.
  return replied(context, opened).then((resolution) => {
    inquiries.end(context, opened.request.id);
    tree.waiting = tree.waiting.filter((request) => request !== opened.request);
    tree.happened++;
    nameWaiting(context);
    if (!isRoot) context.show({ state: "executing", phase: "executingTools" });
    return resolution;
  });
}

/** In a run that ends where a person is needed, whatever was asked about the request has its reply first. */
function replied({ inquiries, asking }: ExecutionContext, opened: Opened): Promise<Resolution> {
  const settled = asking.mode.type === "batch" ? inquiries.settled(opened.request.id) : undefined;
  return settled ? settled.then(() => opened.wait()) : opened.wait();
}

/** The state names the request that has waited longest. */
function nameWaiting({ lifecycle, tree }: ExecutionContext): void {
  const [first] = tree.waiting;
  const { state } = lifecycle;
  const named = state.state === "waitingForConfirmation" ? state.requestId : undefined;
  if (named === first?.id || (state.state !== "executing" && named === undefined)) return;
  if (first) lifecycle.transition({ state: "waitingForConfirmation", reason: first.why, requestId: first.id });
  else lifecycle.transition({ state: "executing", phase: "executingTools" });
}

export function endState(lifecycle: LifecycleManager, status: OutcomeStatus): void {
  switch (status.status) {
    case "paused":
      if (!lifecycle.checkInterrupt()) lifecycle.transition({ state: "paused", reason: status.reason });
      break;
    case "error":
      lifecycle.transition({ state: "error", error: status.error });
      break;
    case "needs-input":
      break; // it waits, and has said for what
    default:
      lifecycle.transition({ state: "completed", reason: status.status });
  }
}
