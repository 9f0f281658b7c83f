import type { AgentConfig } from "../../agent/state/context.ts";
import type { SpendLimits } from "../../agent/state/cap.ts";
import type { Executor } from "../../agent/turn/execution.ts";
import type { Sandbox } from "../../config/settings/sandbox.ts";
import type { OwnCommand } from "../../context/commands.ts";
import type { Skill, SkillMatching } from "../../context/skills.ts";
import type { HookLists, Hooks } from "../../hooks/hook.ts";
import type { InputChannel } from "../../input/channel.ts";
import type { SessionRow, Store } from "../../journal/store/store.ts";
import type { Model } from "../../models/model.ts";
import type { Prices } from "../../models/prices.ts";
import type { RuleDestination, RuleFiles } from "../../protocol/decision.ts";
import type { RuleGrant } from "../../protocol/facts/answer.ts";
import type { PermissionMode, Rule } from "../../protocol/facts/permission.ts";
import type { ExecutionOptions } from "../../protocol/host/options.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../../protocol/subagent.ts";
import type { Tool } from "../../tools/definition/tool.ts";
import type { CommandRunner } from "../../tools/process/command-runner.ts";
import type { SearchEngine } from "../../tools/web/web-search.ts";
import type { GuestParts } from "../guests/guests.ts";
import type { Outside } from "./outside.ts";

/** The parts that all sessions of one kind share. */
export type AgentParts = {
  /** Loads the model of a session, when a turn begins. */
  model(session: SessionRow): Promise<Model>;
  /** Beside the list prices that are known. */
  prices?: Prices;
  /** @internal What may be used before a person is asked. */
  limits?: SpendLimits | undefined;
  /** @internal A person trusts the folder: instruction files of its subfolders are told as files there are touched. */
  trusted?: boolean;
  /** Writes summaries and titles. Without one the model itself summarises, and a session is called by its first message. */
  smallModel?(): Promise<Model>;
  rules: readonly Rule[];
  permissionMode: PermissionMode;
  env: NodeJS.ProcessEnv;
  /** Folder for long output. */
  output: string;
  /** Beside the built-in ones. */
  tools?: readonly Tool[];
  /** @internal MCP servers: their tools are added when a turn begins, and a message may name what they have. */
  outside?: Outside;
  /** @internal Searches the web; without one WebSearch is not offered. */
  search?: SearchEngine;
  /** Functions and commands by their moment, or an object that runs hooks of its own making. */
  hooks?: HookLists | Hooks;
  /** In the place of Sage's own words to the model; a function gets these. Instructions of the folder (AGENTS.md) are in them. */
  systemPrompt?: string | ((standard: string) => string);
  /** @internal The agent that runs a session in Sage's place, by its name; without it none does. */
  guest?(name: string, cwd: string): Promise<GuestParts>;
  /** Beside the built-in ones. */
  subagents?: readonly SubagentDefinition[];
  skills?: readonly Skill[];
  /** Use of a skill that fits; it is offered by default. */
  matchingSkill?: SkillMatching;
  /** Prompts that people keep under a name. */
  commands?: readonly OwnCommand[];
  /** Told to whoever watches a session. */
  warnings?: readonly Reason[];
  /** Saves a rule to a settings file, and gives its path. */
  saveRule?(grant: RuleGrant): string;
  /** Takes a rule out of a settings file, and gives its path; undefined when it does not stand there. */
  dropRule?(rule: string, destination: RuleDestination, behavior?: RuleGrant["behavior"]): string | undefined;
  ruleFiles?: RuleFiles;
  /** How commands are confined; without it they run as ever. */
  sandbox?: Sandbox;
  /** @internal Keeps commands that outlive this process; without it they end with it. */
  runner?: CommandRunner;
  /** @internal Sessions are of several people: their sandboxes share nothing. */
  apart?: boolean;
};

/** The settings in which runs of one agent differ. */
export type RunSettings = {
  options: Partial<ExecutionOptions>;
  /** Answers from code, for embedders. */
  channel?: InputChannel;
  /** @internal In the place of parts that are made by default. */
  instead?: Partial<AgentConfig>;
};

export type Agent = {
  readonly rules: readonly Rule[];
  readonly skills: readonly Skill[];
  readonly commands: readonly OwnCommand[];
  readonly matching: SkillMatching;
  readonly outside?: Outside;
  /** Folder of a session's kept files. */
  keepDir(session: string): string;
  executor(session: SessionRow, run: RunSettings, scope: AgentScope): Promise<Executor>;
};

export type AgentScope = { store: Store; /** Tells whoever watches the session. */ warn(why: Reason): void };
