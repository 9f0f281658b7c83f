import type { GuestDriver } from "../../guest/driver.ts";
import type { Hooks } from "../../hooks/hook.ts";
import type { Asking } from "../../input/ask.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Model } from "../../models/model.ts";
import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import type { AgentOutcome } from "../../protocol/facts/outcome.ts";
import type { ExecutionMode, ExecutionOptions } from "../../protocol/host/options.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { AgentConfig } from "../state/context.ts";
import { askingWith, executionOptions } from "../state/options.ts";
import { journaledLifecycle, stopOnInterrupt } from "../state/states.ts";
import type { Execution, Executor } from "../turn/execution.ts";
import { follow } from "../turn/follow.ts";
import { runTurn } from "../turn/turn.ts";
import { driveGuest } from "./drive.ts";
import { guestTools } from "./judge.ts";
import { foldTurn } from "./state.ts";

type GuestParts = {
  config: Omit<AgentConfig, "model"> & { store: Store };
  options: Partial<ExecutionOptions> & Pick<ExecutionOptions, "workingDirectory">;
  driver: GuestDriver;
  /** The environment of the guest itself: it needs the person's login. */
  env: NodeJS.ProcessEnv;
};

/** Runs turns in another agent. What it says and does becomes facts, what it asks becomes requests. It keeps nothing between turns. */
export class GuestExecutor implements Executor {
  readonly #parts: GuestParts;
  readonly #config: AgentConfig & { store: Store };
  readonly #options: ExecutionOptions;
  readonly #asking: Asking;

  constructor(parts: GuestParts) {
    const { config, options, driver } = parts;
    const { confining: _, couldConfine: __, ...unconfined } = config; // it starts its commands itself
    this.#parts = parts;
    this.#config = { ...unconfined, tools: guestTools(config.tools), model: noModel(driver.name) };
    this.#options = executionOptions(options);
    this.#asking = askingWith(config.store, this.#options);
  }

  get hooks(): Hooks {
    return this.#config.hooks;
  }
  get maySleep(): boolean {
    return this.#parts.driver.parks !== "never" && this.#options.mode.type === "interactive";
  }

  run({ log, lifecycle = journaledLifecycle(log), supervised = false }: Execution): Promise<AgentOutcome> {
    stopOnInterrupt(lifecycle, log);
    const { driver, env } = this.#parts;
    return runTurn(log, {
      config: this.#config,
      options: this.#options,
      asking: this.#asking,
      lifecycle,
      supervised,
      drive: (_, turn) => driveGuest(foldTurn(log, turn, driver), env),
    });
  }

  execute(execution: Execution): AsyncGenerator<Fact | Delta, AgentOutcome> {
    return follow(this.#config.store, execution.log.id, () => this.run(execution));
  }

  async compact(): Promise<AgentOutcome> {
    throw new SageError("input-invalid", reason("guest-own-conversation", { agent: this.#parts.driver.name }));
  }

  withMode(mode: ExecutionMode): GuestExecutor {
    return new GuestExecutor({ ...this.#parts, options: { ...this.#parts.options, mode } });
  }
}

/** Nobody but the guest knows its conversation: questions about its requests are not replied to by somebody else. */
function noModel(agent: string): Model {
  return {
    id: agent,
    async reply() {
      throw new SageError("input-invalid", reason("guest-own-conversation", { agent }));
    },
  };
}
