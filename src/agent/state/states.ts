import { Stopped, type Durable, type Opened } from "../../journal/session/durable.ts";
import type { SessionLog } from "../../journal/session/session.ts";
import type { AgentState, ExecutionPhase, OutcomeStatus } from "../../protocol/facts/outcome.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import { stateKey } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import type { ExecutionContext, Observation, People, Tree, Waiting } from "./context.ts";
import { LifecycleManager } from "./lifecycle.ts";

/**
 * A lifecycle that writes down how an attempt begins and ends. In between it works or waits for a person: the open requests tell which,
 * and those who watch are shown it. Its facts ride with whatever caused them, and replay never asks for them.
 */
export function journaledLifecycle(log: SessionLog): LifecycleManager {
  return new LifecycleManager((change) => {
    // A log that is closed keeps nothing any more: the person left, or somebody else has the session.
    if (log.closed || (isUnderWay(change.from) && isUnderWay(change.to))) return;
    log.add(stateKey(log.epoch, log.nextState()), "state.changed", change);
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
export function stateShower(durable: Durable, agent: readonly string[]): (state: AgentState) => void {
  let n = 0;
  return (state) => durable.showState({ agent, state, n: n++ });
}

/** Phase of an agent, for whoever watches. Subagents work inside of the root's tool phase, so its lifecycle hears nothing of them. */
export function enterPhase({ agent, lifecycle, show }: Observation, phase: ExecutionPhase): void {
  const isRoot = agent.length === 0;
  if (isRoot && lifecycle.state.state !== "executing") return;
  if (isRoot) lifecycle.transition({ state: "executing", phase });
  show({ state: "executing", phase });
}

/** Waits for a person, anywhere in the tree, and says so for as long as anybody in it waits. */
export function waitForPerson(context: ExecutionContext, opened: Opened): Promise<Resolution> {
  if (opened.resolution) return Promise.resolve(opened.resolution);
  const { tree, inquiries, show } = context;
  inquiries.follow(context, opened.request);
  const waiting = { request: opened.request, show };
  tree.waiting = [...tree.waiting, waiting];
  nameWaiting(context);
  // A wait that is broken off ends the attempt, whose end has a state of its own.
  return replied(context, opened).then((resolution) => {
    inquiries.end(context, opened.request.id);
    tree.waiting = tree.waiting.filter((other) => other !== waiting);
    tree.happened++;
    nameWaiting(context);
    return resolution;
  });
}

/** In a run that ends where a person is needed, whatever was asked about the request has its reply first. */
function replied({ inquiries, asking }: People, opened: Opened): Promise<Resolution> {
  const settled = asking.mode.type === "batch" ? inquiries.settled(opened.request.id) : undefined;
  return settled ? settled.then(() => opened.wait()) : opened.wait();
}

/** The state names the request that has waited longest: of the agent that asked, and of the whole tree. */
function nameWaiting({ lifecycle, tree, show }: Observation & Tree): void {
  const isRoot = show === tree.show;
  if (!isRoot) show(stateFor(tree.waiting.find((other) => other.show === show)));
  const { state } = lifecycle;
  const [first] = tree.waiting;
  const named = state.state === "waitingForConfirmation" ? state.requestId : undefined;
  if (named === first?.request.id || (state.state !== "executing" && named === undefined)) return;
  const next = stateFor(first);
  lifecycle.transition(next);
  tree.show(next);
}

function stateFor(waiting: Waiting | undefined): AgentState {
  if (!waiting) return { state: "executing", phase: "executingTools" };
  const { why, id } = waiting.request;
  return { state: "waitingForConfirmation", reason: why, requestId: id };
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
      break; // its open request tells what it waits for
    default:
      lifecycle.transition({ state: "completed", reason: status.status });
  }
}
