import type { Hooks } from "../../hooks/hook.ts";
import type { InputChannel } from "../../input/channel.ts";
import type { SessionLog } from "../../journal/session/session.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import type { AgentOutcome } from "../../protocol/facts/outcome.ts";
import type { ExecutionMode, ExecutionOptions } from "../../protocol/host/options.ts";
import type { AgentConfig } from "../state/context.ts";
import type { LifecycleManager } from "../state/lifecycle.ts";

/** Runs an attempt at a session's turn. */
export type Execution = {
  log: SessionLog;
  lifecycle?: LifecycleManager;
  /** A mistake of ours leaves the turn open and is thrown: the caller begins again, or ends it. */
  supervised?: boolean;
  /** A background command that has ended may begin a turn that nobody asked for. */
  wakes?: boolean;
};

/** Runs turns: our own loop, or another agent in its place. It keeps nothing between them. */
export interface Executor {
  readonly hooks: Hooks;
  /** A turn of it that waits for people may be let out of memory: nothing here but the journal knows what it waits for. */
  readonly maySleep: boolean;
  /** Runs the session's open turn, or begins one with what was said. Whoever wants to see it happen subscribes to the store's hub. */
  run(execution: Execution): Promise<AgentOutcome>;
  /** The same, and yields every fact and delta on the way. */
  execute(execution: Execution): AsyncGenerator<Fact | Delta, AgentOutcome>;
  /** Makes room in an idle session's conversation, by hand. */
  compact(execution: Execution): Promise<AgentOutcome>;
  /** The same agent, asking in another way. */
  withMode(mode: ExecutionMode): Executor;
}

/** Parts of an executor. */
export type ExecutorParts = [
  config: AgentConfig & { store: Store },
  options: Partial<ExecutionOptions> & Pick<ExecutionOptions, "workingDirectory">,
  channel?: InputChannel,
];
