// Headings are the sections of docs/api.md, which `npm run api` writes from the comments of the exported names. Other names: entries/.

// ## Running an agent
export { SageAgentSDK } from "./client.ts";
export type {
  SdkOptions,
  RunOptions,
  ChannelOptions,
  TurnsOptions,
  GivenSkill,
  McpServer,
  WebSearch,
  GuestProgram,
} from "./options.ts";
export type { Sandbox } from "../config/settings/sandbox.ts";
export type { Run, RunEvent } from "./run.ts";
export { type AgentOutcome, type OutcomeStatus, isSuccess } from "../protocol/facts/outcome.ts";
export type {
  ExecutionOptions,
  ExecutionMode,
  AutoResponse,
  AutoResponder,
  ResponderAnswer,
} from "../protocol/host/options.ts";
export type { TimeoutPolicy } from "../protocol/facts/silence.ts";
export { SageError, type SageErrorCode, messageOf } from "./english.ts";
export { said } from "../protocol/reasons/reason.ts";

// ## Asking and answering
export { InputChannel, type InputChannelHandle } from "../input/channel.ts";
export type {
  InputRequest,
  Resolution,
  Question,
  QuestionOption,
  PermissionRequest,
} from "../protocol/facts/request.ts";
export type { InputResponse, LooseResponse } from "../protocol/facts/answer.ts";
export type { TurnAgent, TurnResult } from "./turns.ts";

// ## Hooks
export type { HookLists, CodeHook, HookEvents, HookMoment, HookAnswer } from "../hooks/hook.ts";

// ## Tools and permissions
export type { Tool, ToolScope } from "../tools/definition/tool.ts";
export type { ToolResult } from "../protocol/facts/message.ts";
export type { PermissionResult, PermissionMode, PermissionSuggestion, Rule } from "../protocol/facts/permission.ts";
export type { PermissionBehavior, RuleDestination } from "../protocol/decision.ts";
export type { RuleLists } from "../permission/rules/rules.ts";
export type { SessionMode } from "../protocol/mode.ts";
export type { SearchEngine } from "../tools/web/web-search.ts";

// ## Models and stores
export type { Model } from "../models/model.ts";
export { type Usage, noUsage } from "../protocol/facts/message.ts";
export { scripted } from "../models/scripted.ts";
export { aiSdkModel } from "../models/ai-sdk/model.ts";
export type { Store } from "../journal/store/store.ts";
export { memoryStore } from "../journal/store/memory.ts";
export { sqliteStore } from "../journal/sqlite/sqlite.ts";

// ## The executor
export { UnifiedExecutor, type ExecutorConfig } from "./executor.ts";
export { type ExecutionStrategy, StandardStrategy, StreamingStrategy, BatchStrategy } from "../agent/turn/strategy.ts";
export { LifecycleManager } from "../agent/state/lifecycle.ts";
export type { TaskMetadata } from "../agent/turn/task.ts";
export type { SubagentDefinition } from "../protocol/subagent.ts";
export type { Skill } from "../context/skills.ts";

// ## Drawing a surface
export type { Host } from "../protocol/host/host.ts";
export type { Fact, Delta } from "../protocol/facts/fact.ts";
export type { Item } from "../view/transcript/item.ts";
export { type Session, followSession } from "../view/session.ts";
export { describeRequest } from "../view/request/describe.ts";
export { sentence } from "../texts/shared/sentence.ts";
