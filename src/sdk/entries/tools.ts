// ## Tools and permissions
export { builtinTools, createToolRegistry, type OfferedTool, type ToolRegistry } from "../../tools/registry.ts";
export type { ModuleParts, SageModule, PermissionContext, ToolPlace } from "../../tools/definition/tool.ts";
export type { Check, Checked } from "../../base/schema.ts";
export type { ToolProblem } from "../../tools/definition/result.ts";
export type { Ending, Kept, Launch, LaunchEnd, ShellCommand, Spawn, Spawned } from "../../tools/process/spawn.ts";
export type { AskRule } from "../../permission/rules/rules.ts";
export type { Blocked } from "../../protocol/confine.ts";
export type { RuleBehavior, RuleFiles, RuleSource } from "../../protocol/decision.ts";
export type { BackgroundTask, CallEnd, Effect, InputChange, Output, ToolInput } from "../../protocol/facts/call.ts";
export type { CallPart, PermissionOpinion, Verdict, WriteTarget } from "../../protocol/facts/permission.ts";
export type { Replaced } from "../../protocol/facts/rewind.ts";

export type { SearchHit } from "../../tools/web/web-search.ts";
