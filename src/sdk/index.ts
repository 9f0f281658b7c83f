// Headings are the sections of docs/api.md, which `npm run api` writes from the comments of the exported names.

// ## Running an agent
export { SageAgentSDK } from "./client.ts";
export type { ChannelOptions, RunOptions, SdkOptions, TurnsOptions } from "./options.ts";
export { executionOptions } from "../agent/state/options.ts";
export {
  isSuccess,
  messageOf,
  reason,
  said,
  SageError,
  type AgentOutcome,
  type Cost,
  type ExecutionMode,
  type ExecutionOptions,
  type ExecutionStats,
  type LlmOptions,
  type OutcomeStatus,
  type Reason,
  type ReasonArgs,
  type ReasonCode,
  type SageErrorCode,
  type ToolUse,
  type TurnEnd,
  type TurnLimits,
} from "../protocol/index.ts";

// ## Asking and answering
export { InputChannel, type InputChannelHandle } from "../input/channel.ts";
export type {
  Answer,
  Answers,
  AskerPolicy,
  AutoResponder,
  AutoResponse,
  Deadline,
  DeadlinePolicy,
  DefaultAnswer,
  Draft,
  InputRequest,
  InputResponse,
  InquiryMade,
  InquiryReplied,
  LooseAnswers,
  LooseResponse,
  WholeAnswer,
  NewRequest,
  Outcome,
  PermissionRequest,
  Preview,
  PreviewLine,
  Question,
  QuestionOption,
  RequestBody,
  RequestSource,
  RequestTimeout,
  Resolution,
  RuleGrant,
  RuleRemoval,
} from "../protocol/index.ts";

// ## Turns that return
export type { InterruptOptions, Run, RunEvent } from "./run.ts";
export type { Confirmation, TurnAgent, TurnAnswer, TurnEvent, TurnOptions, TurnResult } from "./turns.ts";

// ## Hosts and surfaces
export { assemble, type Parts } from "../host/assemble.ts";
export type { LocalHost } from "../host/host.ts";
export type {
  Command,
  CommandReply,
  Host,
  PendingRequest,
  Place,
  Sender,
  SessionState,
  SessionSummary,
  SurfaceStore,
  WatchEvent,
} from "../protocol/index.ts";

// ## What is seen
export { createProgress, type Progress } from "../view/progress.ts";
export {
  describeRequest,
  neededOf,
  offersOf,
  type Block,
  type DescribedPart,
  type Description,
  type Offer,
} from "../view/describe.ts";
export {
  oneLine,
  prose,
  visible,
  type Compaction,
  type Delta,
  type Fact,
  type FactData,
  type FactType,
  type Summary,
} from "../protocol/index.ts";

// ## The executor, strategies, subagents
export { UnifiedExecutor } from "../agent/turn/executor.ts";
export type { Execution, Executor } from "../agent/turn/execution.ts";
export type { TaskMetadata } from "../agent/turn/task.ts";
export type { AgentConfig } from "../agent/state/context.ts";
export {
  BatchStrategy,
  drain,
  StandardStrategy,
  StreamingStrategy,
  type ExecutionStrategy,
} from "../agent/turn/strategy.ts";
export { LifecycleManager } from "../agent/state/lifecycle.ts";
export { builtinSubagents, createSubagentRegistry, type SubagentRegistry } from "../agent/state/subagents.ts";
export { discover, type Discovered } from "../context/discover.ts";
export type { Skill, SkillMatching } from "../context/skills.ts";
export type { OwnCommand } from "../context/commands.ts";
export type { HookEvent, HookMoment, HookOutcome, Hooks } from "../hooks/hook.ts";
export { noHooks } from "../hooks/hooks.ts";
export type {
  AgentState,
  ExecutionPhase,
  InterruptAction,
  StateTransition,
  SubagentDefinition,
  SubagentType,
  ToolAccess,
  WorkingDirectory,
} from "../protocol/index.ts";

// ## Tools and permissions
export { builtinTools, createToolRegistry, type ToolRegistry } from "../tools/registry.ts";
export type { ModuleParts, SageModule } from "../tools/module.ts";
export type { Ending, ShellCommand, Spawn, Spawned } from "../tools/spawn.ts";
export type { PermissionContext, Tool, ToolPlace, ToolScope } from "../tools/tool.ts";
export type { RuleLists } from "../permission/rules/rules.ts";
export type {
  CallEnd,
  CallPart,
  Effect,
  PermissionBehavior,
  PermissionMode,
  SessionMode,
  PermissionOpinion,
  PermissionResult,
  PermissionSuggestion,
  Rule,
  RuleDestination,
  RuleFiles,
  ToolInput,
  ToolResult,
  Verdict,
  WriteTarget,
} from "../protocol/index.ts";

// ## Models, stores, recordings
export { aiSdkModel, type AiSdkLanguageModel } from "../models/ai-sdk/model.ts";
export type { Model, ModelRequest, ModelScope } from "../models/model.ts";
export type { Price, Prices } from "../models/prices.ts";
export { scripted, type Script, type ScriptedTurn } from "../models/scripted.ts";
export { memoryStore } from "../journal/memory.ts";
export { openSession, type SessionLog } from "../journal/session.ts";
export { sqliteStore } from "../journal/sqlite.ts";
export type { Store } from "../journal/store.ts";
export { stepsOf, type StepOptions, type StepResult } from "../archive/steps.ts";
export { persona, type Persona } from "../archive/persona.ts";
export { answersOf, replayAnswers, scriptOf, type RecordedAnswer } from "../archive/recording.ts";
export {
  addUsage,
  callsOf,
  noUsage,
  textOf,
  type Call,
  type Finish,
  type Message,
  type Part,
  type ProviderMetadata,
  type Reply,
  type Usage,
} from "../protocol/index.ts";
