import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import type { AgentOutcome } from "../../protocol/facts/outcome.ts";
import type { ExecutionMode } from "../../protocol/host/options.ts";
import type { Execution, Executor } from "./execution.ts";

/** A way to run a turn. The loop is the same in all of them: a strategy decides who hears what, and who may be asked. */
export interface ExecutionStrategy {
  readonly name: string;
  execute(executor: Executor, execution: Execution): Promise<AgentOutcome>;
}

/** Runs the turn to its end in silence. */
export const StandardStrategy: ExecutionStrategy = {
  name: "standard",
  execute: (executor, execution) => executor.run(execution),
};

/** Hands every fact and delta on as it comes. */
export function StreamingStrategy(onEvent: (event: Fact | Delta) => void): ExecutionStrategy {
  return { name: "streaming", execute: (executor, execution) => drain(executor.execute(execution), onEvent) };
}

/** Asks nobody: the turn runs as far as it can without a person and stays open for one. */
export const BatchStrategy: ExecutionStrategy = {
  name: "batch",
  execute: (executor, execution) => executor.withMode(batch).run(execution),
};

const batch: ExecutionMode = { type: "batch" };

/** Reads what `execute` yields to its end and returns the outcome. */
export async function drain(
  events: AsyncGenerator<Fact | Delta, AgentOutcome>,
  onEvent: (event: Fact | Delta) => void,
): Promise<AgentOutcome> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
    const heard = onEvent(value) as unknown;
    if (heard instanceof Promise) await heard;
  }
}
