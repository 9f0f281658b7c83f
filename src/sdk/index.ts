// Headings are the sections of docs/api.md, which `npm run api` writes from the comments of the exported names.

// ## Running an agent
export { SageAgentSDK } from "./client.ts";
export type { ChannelOptions, GivenSkill, RunOptions, SdkOptions, TurnsOptions } from "./options.ts";
export type { Sandbox } from "../config/sandbox.ts";
export { executionOptions } from "../agent/state/options.ts";
export {
  isSuccess,
  messageOf,
  reason,
  said,
  SageError,
  type AgentOutcome,
  type ConfineMode,
  type Cost,
  type Effort,
  type ExecutionMode,
  type ExecutionOptions,
  type ExecutionStats,
  type LlmOptions,
  type OutcomeStatus,
  type Quiet,
  type QuietHours,
  type Reason,
  type ReasonArgs,
  type ReasonCode,
  type SageErrorCode,
  type SilentEnd,
  type TimeoutPolicy,
  type ToolUse,
  type TurnEnd,
  type TurnError,
  type TurnLimits,
} from "../protocol/index.ts";

// ## Asking and answering
export { InputChannel, type InputChannelHandle } from "../input/channel.ts";
export type {
  Answer,
  Answers,
  Approval,
  Approved,
  AskerPolicy,
  AutoResponder,
  AutoResponse,
  Confined,
  Consent,
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
  PlanEnd,
  Preview,
  PreviewLine,
  Question,
  QuestionOption,
  RequestBody,
  RequestConsent,
  RequestSource,
  RequestTimeout,
  Resolution,
  ResponderAnswer,
  RuleGrant,
  RuleRemoval,
  Signature,
} from "../protocol/index.ts";

// ## Turns that return
export type { InterruptOptions, Run, RunEvent } from "./run.ts";
export type { AnswerToAll, Confirmation, TurnAgent, TurnAnswer, TurnEvent, TurnOptions, TurnResult } from "./turns.ts";
export type { RespondedEach, SharedAnswer } from "../protocol/index.ts";

// ## Hosts and surfaces
export type { AgentParts, RunSettings } from "../host/agent.ts";
export { assemble } from "./host.ts";
export type { Parts } from "../host/assemble.ts";
export type { LocalHost } from "../host/host.ts";
export type {
  Command,
  CommandReplies,
  CommandReply,
  GivenImage,
  Host,
  InboxEvent,
  PendingRequest,
  Place,
  Refused,
  Responded,
  Sender,
  SessionState,
  SessionSummary,
  SurfaceStore,
  WatchEvent,
  WatchOptions,
} from "../protocol/index.ts";

// ## Replies of a host
export type {
  Asked,
  CallRun,
  FoundReceipts,
  HostAbout,
  Inquired,
  Integrity,
  Named,
  OutsideAsk,
  OutsideBody,
  OutsideEnd,
  PastCall,
  PlannedFile,
  Receipt,
  RestoreDoubt,
  RewindPlan,
  RewindPoint,
  RewindWhat,
  RuleInForce,
  RuleTrial,
  SessionAbout,
  Standing,
  Stats,
  Tally,
  WorkFolder,
} from "../protocol/index.ts";

// ## What is seen
export type { Hunk } from "../view/change.ts";
export type { Danger } from "../view/danger.ts";
export type { ChangedLine } from "../view/difference.ts";
export { createProgress, type Progress } from "../view/progress.ts";
export { sentence } from "../texts/reasons.ts";
export type { Lang } from "../texts/language.ts";
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
  type AttachedKind,
  type Compaction,
  type Delta,
  type Fact,
  type FactData,
  type FactType,
  type Heard,
  type ImagePart,
  type InjectedSkill,
  type RestoreProblem,
  type Restoring,
  type Summary,
  type TaskEnd,
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
export { builtinTools, createToolRegistry, type OfferedTool, type ToolRegistry } from "../tools/registry.ts";
export type { ModuleParts, SageModule } from "../tools/module.ts";
export type { Check, Checked } from "../protocol/schema.ts";
export type { ToolProblem } from "../tools/result.ts";
export type { Ending, Kept, Launch, LaunchEnd, ShellCommand, Spawn, Spawned } from "../tools/spawn.ts";
export type { PermissionContext, Tool, ToolPlace, ToolScope } from "../tools/tool.ts";
export type { AskRule, RuleLists } from "../permission/rules/rules.ts";
export type {
  BackgroundTask,
  Blocked,
  CallEnd,
  CallPart,
  Effect,
  InputChange,
  Output,
  PermissionBehavior,
  PermissionMode,
  SessionMode,
  PermissionOpinion,
  PermissionResult,
  PermissionSuggestion,
  Replaced,
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
export type { LoadImage } from "../models/images.ts";
export type { Model, ModelRequest, ModelScope, ToolOffer } from "../models/model.ts";
export type { Price, Prices } from "../models/prices.ts";
export { scripted, type Script, type ScriptedCall, type ScriptedTurn, type ScriptedTurns } from "../models/scripted.ts";
export { memoryStore } from "../journal/memory.ts";
export { openSession } from "./host.ts";
export type { SessionLog } from "../journal/session.ts";
export { sqliteStore } from "../journal/sqlite.ts";
export type { DatabaseOptions } from "../journal/database.ts";
export type { Housekeeping, LocalHousekeeping } from "../journal/housekeeping.ts";
export type { Hub, Listener } from "../journal/hub.ts";
export type { IndexState } from "../journal/indexes.ts";
export type {
  Appended,
  Awaitable,
  Consented,
  InboundFact,
  InboundType,
  LocalStore,
  NewFact,
  Page,
  ReadOptions,
  SessionRow,
  Store,
} from "../journal/store.ts";
export { stepsOf, type StepOptions, type StepResult } from "../archive/steps.ts";
export { persona, type Persona } from "../archive/persona.ts";
export type { Redaction } from "../config/redact.ts";
export {
  answersOf,
  replayAnswers,
  scriptOf,
  type RecordedAnswer,
  type RecordedRequest,
  type RecordedResponse,
} from "../archive/recording.ts";
export {
  addUsage,
  callsOf,
  noUsage,
  textOf,
  type Call,
  type Finish,
  type InquiryFact,
  type Message,
  type Part,
  type ProviderMetadata,
  type Reply,
  type Usage,
} from "../protocol/index.ts";
