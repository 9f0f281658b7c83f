export { UnifiedExecutor, type Execution } from "../agent/turn/executor.ts";
export type { AgentConfig } from "../agent/state/context.ts";
export { LifecycleManager } from "../agent/state/lifecycle.ts";
export { executionOptions } from "../agent/state/options.ts";
export {
  BatchStrategy,
  drain,
  StandardStrategy,
  StreamingStrategy,
  type ExecutionStrategy,
} from "../agent/turn/strategy.ts";
export { builtinSubagents, createSubagentRegistry, type SubagentRegistry } from "../agent/state/subagents.ts";
export type { Skill } from "../context/skills.ts";
export type { Hooks } from "../hooks/hook.ts";
export { noHooks } from "../hooks/hooks.ts";
export { InputChannel, type InputChannelHandle } from "../input/channel.ts";
export { memoryStore } from "../journal/memory.ts";
export { sqliteStore } from "../journal/sqlite.ts";
export type { Store } from "../journal/store.ts";
export type { Model, ModelRequest, ModelScope } from "../models/model.ts";
export { scripted, type Script } from "../models/scripted.ts";
export { assemble, type Parts } from "../host/assemble.ts";
export type { LocalHost } from "../host/host.ts";
export { answersOf, replayAnswers, scriptOf, type RecordedAnswer } from "../archive/recording.ts";
export { builtinTools, createToolRegistry, type ToolRegistry } from "../tools/registry.ts";
export type { PermissionContext, Tool, ToolScope } from "../tools/tool.ts";
export { SageAgentSDK, type ChannelOptions, type RunOptions, type SdkOptions, type TurnsOptions } from "./client.ts";
export type { Confirmation, TurnAgent, TurnAnswer, TurnEvent, TurnOptions, TurnResult } from "./turns.ts";
export {
  SageError,
  addUsage,
  callsOf,
  canonicalJson,
  harmless,
  isSuccess,
  messageOf,
  noUsage,
  oneLine,
  prose,
  reason,
  splitLines,
  textOf,
  tokens,
  visible,
  type AgentOutcome,
  type AgentState,
  type Answer,
  type Answers,
  type AutoResponder,
  type AutoResponse,
  type Call,
  type CallPart,
  type Command,
  type CommandReply,
  type Compaction,
  type Cost,
  type Deadline,
  type DeadlinePolicy,
  type Delta,
  type Draft,
  type Effect,
  type ExecutionMode,
  type ExecutionOptions,
  type ExecutionPhase,
  type ExecutionStats,
  type Fact,
  type FactData,
  type FactType,
  type Finish,
  type Host,
  type InputRequest,
  type InputResponse,
  type InterruptAction,
  type LlmOptions,
  type LooseAnswers,
  type LooseResponse,
  type Message,
  type NewRequest,
  type Outcome,
  type OutcomeStatus,
  type Part,
  type PendingRequest,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionRequest,
  type PermissionResult,
  type PermissionSuggestion,
  type Preview,
  type PreviewLine,
  type ProviderMetadata,
  type Question,
  type QuestionOption,
  type Reason,
  type ReasonArgs,
  type ReasonCode,
  type Reply,
  type RequestBody,
  type RequestSource,
  type Resolution,
  type Rule,
  type RuleDestination,
  type RuleFiles,
  type RuleGrant,
  type SageErrorCode,
  type Sender,
  type SessionState,
  type SessionSummary,
  type StateTransition,
  type SubagentDefinition,
  type SubagentType,
  type Summary,
  type SurfaceStore,
  type ToolAccess,
  type ToolInput,
  type ToolResult,
  type ToolUse,
  type TurnEnd,
  type TurnLimits,
  type Usage,
  type Verdict,
  type WatchEvent,
  type WorkingDirectory,
  type WriteTarget,
} from "../protocol/index.ts";
export {
  describeRequest,
  neededOf,
  offersOf,
  type Block,
  type DescribedPart,
  type Description,
  type Offer,
} from "../view/describe.ts";
export { createProgress, type Progress } from "../view/progress.ts";
