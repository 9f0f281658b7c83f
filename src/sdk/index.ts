// Headings are the sections of docs/api.md, which `npm run api` writes from the comments of the exported names.

// ## Running an agent
export { SageAgentSDK } from "./client.ts";
export type { ChannelOptions, GivenSkill, RunOptions, SdkOptions, TurnsOptions } from "./options.ts";
export type { Sandbox } from "../config/settings/sandbox.ts";
export { executionOptions } from "../agent/state/options.ts";
export type { ConfineMode } from "../protocol/confine.ts";
export {
  isSuccess,
  type AgentOutcome,
  type Cost,
  type ExecutionStats,
  type OutcomeStatus,
  type ToolUse,
  type TurnEnd,
  type TurnError,
} from "../protocol/facts/outcome.ts";
export type { SilentEnd, TimeoutPolicy, TurnLimits } from "../protocol/facts/silence.ts";
export type {
  Effort,
  ExecutionMode,
  ExecutionOptions,
  LlmOptions,
  Quiet,
  QuietHours,
} from "../protocol/host/options.ts";
export { messageOf, SageError, type SageErrorCode } from "./english.ts";
export { reason, said, type Reason, type ReasonArgs, type ReasonCode } from "../protocol/reasons/reason.ts";

// ## Asking and answering
export { InputChannel, type InputChannelHandle } from "../input/channel.ts";
export type { Confined } from "../protocol/confine.ts";
export type { Outcome } from "../protocol/decision.ts";
export type {
  Answer,
  Answers,
  InputResponse,
  LooseAnswers,
  LooseResponse,
  WholeAnswer,
  PlanEnd,
  RuleGrant,
  RuleRemoval,
} from "../protocol/facts/answer.ts";
export type { Preview, PreviewLine } from "../protocol/facts/call.ts";
export type { Consent } from "../protocol/facts/permission.ts";
export type {
  Approval,
  Approved,
  Draft,
  InputRequest,
  RequestOrigin,
  InquiryMade,
  InquiryReplied,
  NewRequest,
  PermissionRequest,
  Question,
  QuestionOption,
  RequestBody,
  RequestConsent,
  RequestSource,
  Resolution,
  Signature,
} from "../protocol/facts/request.ts";
export type { TimeMoved } from "../protocol/facts/moved.ts";
export type {
  AskerPolicy,
  Deadline,
  DeadlinePolicy,
  DefaultAnswer,
  RequestTimeout,
} from "../protocol/facts/silence.ts";
export type { AutoResponder, AutoResponse, ResponderAnswer } from "../protocol/host/options.ts";

// ## Turns that return
export type { InterruptOptions, Run, RunEvent } from "./run.ts";
export type { AnswerToAll, Confirmation, TurnAgent, TurnAnswer, TurnEvent, TurnOptions, TurnResult } from "./turns.ts";
export type { RespondedEach, SharedAnswer } from "../protocol/host/host.ts";

// ## Hosts and surfaces
export type { AgentParts, RunSettings } from "../host/assembly/agent-parts.ts";
export { assemble } from "./host.ts";
export type { Parts } from "../host/assembly/assemble.ts";
export type { LocalHost } from "../host/host.ts";
export type {
  Command,
  CommandReplies,
  CommandReply,
  Host,
  InboxEvent,
  PendingRequest,
  Place,
  Refused,
  Responded,
  SessionState,
  SessionSummary,
  WatchEvent,
  WatchOptions,
} from "../protocol/host/host.ts";
export type { SurfaceStore } from "../protocol/host/surface-store.ts";
export type { GivenImage } from "../protocol/image.ts";
export type { Sender } from "../protocol/sender.ts";

// ## Replies of a host
export type { Inquired } from "../protocol/facts/inquiry.ts";
export type { RewindWhat } from "../protocol/facts/rewind.ts";
export type { PlannedFile, RestoreDoubt, RewindPlan, RewindPoint } from "../protocol/facts/rewound.ts";
export type { HostAbout, Named, RuleInForce, SessionAbout, WorkFolder } from "../protocol/host/about.ts";
export type { OutsideAsk, OutsideBody, OutsideEnd } from "../protocol/host/outside.ts";
export type { PastCall, RuleTrial, Stats, Tally } from "../protocol/host/past.ts";
export type { Asked, CallRun, FoundReceipts, Integrity, Receipt, Standing } from "../protocol/host/receipt.ts";

// ## What is seen
export type { Hunk } from "../view/items/change.ts";
export type { Danger } from "../view/request/danger.ts";
export type { ChangedLine } from "../view/items/difference.ts";
export {
  followSession,
  type FollowedSession,
  type FollowOptions,
  type OpenRequest,
  type RunState,
  type Session,
  type SessionChange,
  type SessionOptions,
} from "../view/session.ts";
export type {
  AskedItem,
  CallItem,
  InquiryItem,
  Item,
  ReplyHead,
  SaidItem,
  TextItem,
  ThoughtItem,
} from "../view/transcript/item.ts";
export { createProgress, type Progress } from "../view/transcript/progress.ts";
export { sentence } from "../texts/shared/sentence.ts";
export type { Lang } from "../texts/language.ts";
export {
  describeRequest,
  neededOf,
  offersOf,
  type Block,
  type DescribedPart,
  type Description,
  type Offer,
} from "../view/request/describe.ts";
export { oneLine, prose, visible } from "../base/visible.ts";
export type { TaskEnd } from "../protocol/facts/call.ts";
export type { Compaction, Delta, Fact, FactData, FactType, InjectedSkill, Summary } from "../protocol/facts/fact.ts";
export type { Heard } from "../protocol/facts/message.ts";
export type { RestoreProblem, Restoring } from "../protocol/facts/rewind.ts";
export type { AttachedKind, ImagePart } from "../protocol/image.ts";

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
export type { AgentState, ExecutionPhase, InterruptAction, StateTransition } from "../protocol/facts/outcome.ts";
export type { SubagentDefinition, SubagentType, ToolAccess, WorkingDirectory } from "../protocol/subagent.ts";

// ## Tools and permissions
export { builtinTools, createToolRegistry, type OfferedTool, type ToolRegistry } from "../tools/registry.ts";
export type { ModuleParts, SageModule } from "../tools/definition/tool.ts";
export type { Check, Checked } from "../base/schema.ts";
export type { ToolProblem } from "../tools/definition/result.ts";
export type { Ending, Kept, Launch, LaunchEnd, ShellCommand, Spawn, Spawned } from "../tools/process/spawn.ts";
export type { PermissionContext, Tool, ToolPlace, ToolScope } from "../tools/definition/tool.ts";
export type { AskRule, RuleLists } from "../permission/rules/rules.ts";
export type { Blocked } from "../protocol/confine.ts";
export type { PermissionBehavior, RuleBehavior, RuleDestination, RuleFiles } from "../protocol/decision.ts";
export type { BackgroundTask, CallEnd, Effect, InputChange, Output, ToolInput } from "../protocol/facts/call.ts";
export type { ToolResult } from "../protocol/facts/message.ts";
export type {
  CallPart,
  PermissionMode,
  PermissionOpinion,
  PermissionResult,
  PermissionSuggestion,
  Rule,
  Verdict,
  WriteTarget,
} from "../protocol/facts/permission.ts";
export type { Replaced } from "../protocol/facts/rewind.ts";
export type { SessionMode } from "../protocol/mode.ts";

// ## Models, stores, recordings
export { aiSdkModel, type AiSdkLanguageModel } from "../models/ai-sdk/model.ts";
export type { LoadImage } from "../models/images.ts";
export type { Model, ModelRequest, ModelScope, ToolOffer } from "../models/model.ts";
export type { Price, Prices } from "../models/prices.ts";
export { scripted, type Script, type ScriptedCall, type ScriptedTurn, type ScriptedTurns } from "../models/scripted.ts";
export { memoryStore } from "../journal/store/memory.ts";
export { openSession } from "./host.ts";
export type { SessionLog } from "../journal/session/session.ts";
export { sqliteStore } from "../journal/sqlite/sqlite.ts";
export type { DatabaseOptions } from "../journal/database/database.ts";
export type { Housekeeping, LocalHousekeeping } from "../journal/store/housekeeping.ts";
export type { Hub, Listener } from "../journal/store/hub.ts";
export type { IndexState } from "../journal/database/indexes.ts";
export type {
  Appended,
  Awaitable,
  Beat,
  Consented,
  InboundFact,
  InboundType,
  LocalStore,
  NewFact,
  Page,
  ReadOptions,
  SessionRow,
  Store,
} from "../journal/store/store.ts";
export { stepsOf, type StepOptions, type StepResult } from "../archive/steps.ts";
export { persona, type Persona } from "./persona.ts";
export type { Redaction } from "../config/secrets/redact.ts";
export {
  answersOf,
  replayAnswers,
  scriptOf,
  type RecordedAnswer,
  type RecordedRequest,
  type RecordedResponse,
} from "../archive/recording.ts";
export type { InquiryFact } from "../protocol/facts/inquiry.ts";
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
} from "../protocol/facts/message.ts";
