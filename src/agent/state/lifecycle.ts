import type { AgentState, InterruptAction, StateTransition } from "../../protocol/facts/outcome.ts";
import { reason, said, SageError } from "../../protocol/reasons/reason.ts";

type Name = AgentState["state"];

/** Transitions between states. A turn that ended may be followed by another; nothing follows an error but a new start. */
const legal: Record<Name, readonly Name[]> = {
  initializing: ["idle", "executing", "error"],
  idle: ["executing", "error"],
  executing: ["executing", "waitingForConfirmation", "paused", "completed", "error"],
  waitingForConfirmation: ["executing", "waitingForConfirmation", "paused", "completed", "error"],
  paused: ["executing", "completed", "error"],
  completed: ["idle", "executing"],
  error: ["idle", "executing"],
};

const MAX_HISTORY = 1_000;

/** State of an agent, the way it came there, and the effect of an interrupt there. */
export class LifecycleManager {
  #state: AgentState = { state: "initializing" };
  #history: StateTransition[] = [];
  readonly #changed: (change: StateTransition) => void;
  #stop: ((action: "pause" | "cancel") => void) | undefined;

  constructor(changed: (change: StateTransition) => void = () => {}) {
    this.#changed = changed;
  }

  get state(): AgentState {
    return this.#state;
  }
  get history(): readonly StateTransition[] {
    return this.#history.slice(-MAX_HISTORY);
  }

  transition(to: AgentState): void {
    const from = this.#state;
    if (!legal[from.state].includes(to.state))
      throw new SageError("turn-failed", said(`an agent cannot go from ${from.state} to ${to.state}`));
    const change = { from, to, at: Date.now() };
    this.#state = to;
    this.#history.push(change);
    // Cut now and then, because taking one off the front moves all the others.
    if (this.#history.length >= 2 * MAX_HISTORY) this.#history = this.#history.slice(-MAX_HISTORY);
    this.#changed(change);
  }

  /** Effect of an interrupt in this state: it pauses work, cancels a wait for a person, and does nothing otherwise. */
  handleInterrupt(): InterruptAction {
    switch (this.#state.state) {
      case "executing":
        this.transition({ state: "paused", reason: reason("interrupted", {}) });
        this.#stop?.("pause");
        return "pause";
      case "waitingForConfirmation":
        this.#stop?.("cancel");
        return "cancel";
      default:
        return "ignore";
    }
  }

  /** Set by the agent's runner and called when an interrupt stops it. */
  onInterrupt(stop: ((action: "pause" | "cancel") => void) | undefined): void {
    this.#stop = stop;
  }

  /** Was the agent told to stop working? */
  checkInterrupt(): boolean {
    return this.#state.state === "paused";
  }
}
