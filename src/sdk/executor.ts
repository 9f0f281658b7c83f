import type { AgentConfig } from "../agent/state/context.ts";
import { executionOptions } from "../agent/state/options.ts";
import { checkExecution, checkStrategy } from "../agent/turn/check.ts";
import type { Execution, Executor } from "../agent/turn/execution.ts";
import { StandardStrategy, type ExecutionStrategy } from "../agent/turn/strategy.ts";
import { runTask, type TaskMetadata } from "../agent/turn/task.ts";
import { childEnv } from "../config/secrets/secrets.ts";
import { keepAsPolicy } from "../host/assembly/under-policy.ts";
import { hooksFrom } from "../hooks/hooks.ts";
import type { Hooks } from "../hooks/hook.ts";
import type { InputChannel } from "../input/channel.ts";
import { existingSession } from "../journal/session/existing-session.ts";
import { memoryStore } from "../journal/store/memory.ts";
import { wrapStore } from "../journal/store/own-store.ts";
import type { Store } from "../journal/store/store.ts";
import { sqliteStore } from "../journal/sqlite/sqlite.ts";
import type { RuleLists } from "../permission/rules/rules.ts";
import type { Delta, Fact } from "../protocol/facts/fact.ts";
import type { AgentOutcome } from "../protocol/facts/outcome.ts";
import type { Rule } from "../protocol/facts/permission.ts";
import type { ExecutionMode, ExecutionOptions } from "../protocol/host/options.ts";
import { noticeOf } from "../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../protocol/subagent.ts";
import type { Tool } from "../tools/definition/tool.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { SubagentRegistry } from "../agent/state/subagents.ts";
import { createAgents, type Agents } from "./agents.ts";
import { checkOptions } from "./check-options.ts";
import { namedModel, readRules, type SdkOptions } from "./options.ts";
import { processOutputFolder } from "./output-folder.ts";

/** Parts that an executor makes by itself, unless they are given. */
export type MadeParts = Pick<
  AgentConfig,
  | "system"
  | "subagentSystem"
  | "home"
  | "sageHome"
  | "roots"
  | "keepDir"
  | "saveRule"
  | "dropRule"
  | "ruleFiles"
  | "redact"
  | "matchSkills"
  | "spawn"
>;

/** Parts of an executor, none of which has to be given: tools, context, skills and all others are made as for `SageAgentSDK`. */
export type ExecutorConfig = Omit<
  SdkOptions,
  "tools" | "rules" | "subagents" | "agent" | "sleepAfterMs" | "workingDirectory"
> &
  Partial<MadeParts> & {
    /** Tools besides the built-in ones, or a registry in the place of all. */
    tools?: readonly Tool[] | ToolRegistry;
    rules?: RuleLists | readonly Rule[];
    /** Subagents besides the built-in ones, or a registry in the place of all. */
    subagents?: readonly SubagentDefinition[] | SubagentRegistry;
  };

type Parts = {
  store: Store;
  agents: Agents;
  options: Partial<ExecutionOptions> & Pick<ExecutionOptions, "workingDirectory">;
  channel: InputChannel | undefined;
  hooks: Hooks;
  instead: Partial<AgentConfig>;
};

/** Runs turns. It keeps nothing between them: everything a turn needs is in the session's facts. */
export class UnifiedExecutor implements Executor {
  readonly #parts: Parts;

  /** Throws `config-invalid` for parts and options that it does not know, and for values that do not fit them. */
  constructor(config: ExecutorConfig = {}, options: Partial<ExecutionOptions> = {}, channel?: InputChannel) {
    this.#parts = made.get(config) ?? executorParts(config, options, channel);
  }

  get hooks(): Hooks {
    return this.#parts.hooks;
  }
  /** A turn of it that waits for people may be let out of memory: nothing here but the journal knows what it waits for. */
  get maySleep(): boolean {
    const { channel, options } = this.#parts;
    return channel === undefined && executionOptions(options).mode.type === "interactive";
  }

  /** Runs the session's open turn, or begins one with what was said. Whoever wants to see it happen subscribes to the store's hub. */
  async run(execution: Execution): Promise<AgentOutcome> {
    return (await this.#executor(execution)).run(execution);
  }

  /** The same, and yields every fact and delta on the way. */
  execute(execution: Execution): AsyncGenerator<Fact | Delta, AgentOutcome> {
    checkExecution(execution);
    return this.#events(execution);
  }

  /** Makes room in an idle session's conversation, by hand. */
  async compact(execution: Execution): Promise<AgentOutcome> {
    return (await this.#executor(execution)).compact(execution);
  }

  /** The same agent, asking in another way. */
  withMode(mode: ExecutionMode): UnifiedExecutor {
    const { options } = this.#parts;
    checkOptions("UnifiedExecutor.options", { mode });
    const config: ExecutorConfig = {};
    made.set(config, { ...this.#parts, channel: undefined, options: { ...options, mode } });
    return new UnifiedExecutor(config);
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
    const { store, options } = this.#parts;
    return runTask(this, { store, cwd: options.workingDirectory }, task, strategy);
  }

  async *#events(execution: Execution): AsyncGenerator<Fact | Delta, AgentOutcome> {
    return yield* (await this.#executor(execution)).execute(execution);
  }

  /** Made anew for each turn, as a host makes it: settings and servers may have changed. */
  async #executor(execution: Execution): Promise<Executor> {
    checkExecution(execution);
    const { log } = execution;
    const { store, agents, options, channel, instead } = this.#parts;
    const cwd = options.workingDirectory;
    const { agent, options: usual } = agents.in(cwd);
    const settings = { options: { ...usual, ...options }, instead, ...(channel && { channel }) };
    const warned = { session: log.id, key: "instructions", attempt: 0 };
    return agent.executor({ ...existingSession(store, log.id), cwd }, settings, {
      store,
      warn: (why) => store.hub.delta({ ...warned, n: 0, ...noticeOf(why) }),
    });
  }
}

/** Parts of executors that differ from another one in their mode. */
const made = new WeakMap<ExecutorConfig, Parts>();

function executorParts(
  given: ExecutorConfig,
  options: Partial<ExecutionOptions>,
  channel: InputChannel | undefined,
): Parts {
  const config = checkOptions("UnifiedExecutor", given);
  checkOptions("UnifiedExecutor.options", options);
  checkOptions("UnifiedExecutor.channel", { channel });
  const { store, journal, tools, rules, subagents, ...others } = config;
  const { system, subagentSystem, home, sageHome, roots, keepDir, ...more } = others;
  const { saveRule, dropRule, ruleFiles, redact, matchSkills, spawn, ...code } = more;
  const { workingDirectory = process.cwd() } = options;
  const sdk: SdkOptions = {
    ...code,
    workingDirectory,
    ...(isList(tools) && { tools }),
    ...(isList(subagents) && { subagents }),
  };
  const env = config.env ?? process.env;
  if (typeof config.model === "string" && config.settings !== true) namedModel(sdk, env);
  const instead: Partial<AgentConfig> = defined({
    system,
    subagentSystem,
    home,
    sageHome,
    roots,
    keepDir,
    saveRule,
    dropRule,
    ruleFiles,
    redact,
    matchSkills,
    spawn,
    tools: isList(tools) ? undefined : tools,
    subagents: isList(subagents) ? undefined : subagents,
  });
  const kept = store ? wrapStore(store) : journal === undefined ? memoryStore() : sqliteStore(journal);
  void keepAsPolicy(kept, { env, output: () => keepDir ?? processOutputFolder() });
  return {
    store: kept,
    agents: createAgents(sdk, isList(rules) ? rules : readRules(rules), () => keepDir ?? processOutputFolder()),
    options: { ...options, workingDirectory },
    channel,
    hooks: hooksFrom(config.hooks, () => childEnv(env, workingDirectory)),
    instead,
  };
}

const isList = <T>(value: readonly T[] | object | undefined): value is readonly T[] => Array.isArray(value);

function defined<T extends object>(parts: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as never;
}
