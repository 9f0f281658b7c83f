import { bridge } from "../../input/bridge.ts";
import type { Asking } from "../../input/ask.ts";
import type { Hooks } from "../../hooks/hook.ts";
import type { InputChannel } from "../../input/channel.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import type { AgentOutcome } from "../../protocol/facts/outcome.ts";
import type { ExecutionMode, ExecutionOptions } from "../../protocol/host/options.ts";
import type { AgentConfig } from "../state/context.ts";
import { checkStrategy } from "./check.ts";
import type { Execution, Executor, ExecutorParts } from "./execution.ts";
import { follow } from "./follow.ts";
import { askingWith, executionOptions } from "../state/options.ts";
import { StandardStrategy, type ExecutionStrategy } from "./strategy.ts";
import { journaledLifecycle, stopOnInterrupt } from "../state/states.ts";
import { runTask, type TaskMetadata } from "./task.ts";
import { compactTurn, runTurn, type TurnInput } from "./turn.ts";

/** Runs turns. It keeps nothing between them: everything a turn needs is in the session's facts. */
export class TurnExecutor implements Executor {
  readonly #config: AgentConfig & { store: Store };
  readonly #options: ExecutionOptions;
  readonly #channel: InputChannel | undefined;
  readonly #ask: Asking;

  /** From parts that were checked: embedders have an executor that checks them. */
  constructor(...[config, options, channel]: ExecutorParts) {
    this.#config = config;
    this.#channel = channel;
    const auto = channel?.autoResponse;
    this.#options = executionOptions({
      ...(auto !== undefined && { mode: { type: "nonInteractive", autoResponse: auto } }),
      ...options,
    });
    this.#ask = askingWith(config.store, this.#options, channel?.defaultTimeout);
  }

  get hooks(): Hooks {
    return this.#config.hooks;
  }
  /** A turn of it that waits for people may be let out of memory: nothing here but the journal knows what it waits for. */
  get maySleep(): boolean {
    return this.#channel === undefined && this.#options.mode.type === "interactive";
  }

  /** Runs the session's open turn, or begins one with what was said. Whoever wants to see it happen subscribes to the store's hub. */
  run(execution: Execution): Promise<AgentOutcome> {
    const input = this.#input(execution);
    const { log } = execution;
    stopOnInterrupt(input.lifecycle, log);
    const withdraw = this.#showOnChannel(execution);
    const ended = runTurn(log, input);
    return withdraw ? ended.finally(withdraw) : ended;
  }

  /** The same, and yields every fact and delta on the way. */
  execute(execution: Execution): AsyncGenerator<Fact | Delta, AgentOutcome> {
    return follow(this.#config.store, execution.log.id, () => this.run(execution));
  }

  /** Makes room in an idle session's conversation, by hand. */
  compact(execution: Execution): Promise<AgentOutcome> {
    return compactTurn(execution.log, this.#input(execution));
  }

  #input(execution: Execution): TurnInput {
    const { log, lifecycle = journaledLifecycle(log), supervised = false, wakes = false } = execution;
    return { config: this.#config, options: this.#options, asking: this.#asking(), lifecycle, supervised, wakes };
  }

  #showOnChannel({ log }: Execution): (() => void) | undefined {
    const channel = this.#channel;
    return channel && channel.autoResponse === undefined ? bridge(this.#config.store, log.id, channel) : undefined;
  }

  /** Shared by all turns, unless each has to count its own requests. */
  #asking(): Asking {
    return this.#channel?.policy === "reject" ? { ...this.#ask, reject: new Set() } : this.#ask;
  }

  /** The same agent, asking in another way. */
  withMode(mode: ExecutionMode): TurnExecutor {
    return new TurnExecutor(this.#config, { ...this.#options, mode });
  }

  async executeWithStrategy(strategy: ExecutionStrategy, execution: Execution): Promise<AgentOutcome> {
    checkStrategy(strategy);
    return strategy.execute(this, execution);
  }

  /** Runs a task to its end, in a session of its own or in the one that the task names. */
  async executeTask(
    task: string | TaskMetadata,
    strategy: ExecutionStrategy = StandardStrategy,
  ): Promise<AgentOutcome> {
    const { workingDirectory: cwd } = this.#options;
    return runTask(this, { store: this.#config.store, cwd }, task, strategy);
  }
}
