// ## The executor, strategies, subagents
export type { Execution, Executor } from "../../agent/turn/execution.ts";
export type { AgentConfig } from "../../agent/state/context.ts";
export { drain } from "../../agent/turn/strategy.ts";
export { builtinSubagents, createSubagentRegistry, type SubagentRegistry } from "../../agent/state/subagents.ts";
export { discover, type Discovered } from "../../context/discover.ts";
export type { SkillMatching } from "../../context/skills.ts";
export type { OwnCommand } from "../../context/commands.ts";
export type { HookEvent, HookOutcome, Hooks, CallEvent, Hook } from "../../hooks/hook.ts";
export { noHooks } from "../../hooks/hooks.ts";
export type { AgentState, ExecutionPhase, InterruptAction, StateTransition } from "../../protocol/facts/outcome.ts";
export type { SubagentType, ToolAccess, WorkingDirectory } from "../../protocol/subagent.ts";

export type { MadeParts } from "../executor.ts";
