export { UnifiedExecutor, type Execution } from "../agent/executor.ts";
export type { AgentConfig } from "../agent/context.ts";
export { LifecycleManager } from "../agent/lifecycle.ts";
export { executionOptions } from "../agent/options.ts";
export {
  BatchStrategy,
  drain,
  StandardStrategy,
  StreamingStrategy,
  type ExecutionStrategy,
} from "../agent/strategy.ts";
export { builtinSubagents, createSubagentRegistry, type SubagentRegistry } from "../agent/subagents.ts";
export type { Skill } from "../context/skills.ts";
export type { Hooks } from "../hooks/hook.ts";
export { noHooks } from "../hooks/hooks.ts";
export { InputChannel, type InputChannelHandle } from "../input/channel.ts";
export { memoryStore } from "../journal/memory.ts";
export { sqliteStore } from "../journal/sqlite.ts";
export type { Store } from "../journal/store.ts";
export type { Model, ModelRequest, ModelScope } from "../models/model.ts";
export { scripted, type Script } from "../models/scripted.ts";
export { assemble, type Parts } from "../runtime/assemble.ts";
export type { LocalHost } from "../runtime/host.ts";
export { answersOf, replayAnswers, scriptOf, type RecordedAnswer } from "../runtime/recording.ts";
export { builtinTools, createToolRegistry, type ToolRegistry } from "../tools/registry.ts";
export type { PermissionContext, Tool, ToolScope } from "../tools/tool.ts";
export { SageAgentSDK, type ChannelOptions, type RunOptions, type SdkOptions, type TurnsOptions } from "./client.ts";
export type { Confirmation, TurnAgent, TurnAnswer, TurnEvent, TurnOptions, TurnResult } from "./turns.ts";
export * from "../protocol/index.ts";
