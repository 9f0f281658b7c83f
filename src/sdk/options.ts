import type { Sandbox } from "../config/settings/sandbox.ts";
import type { HookLists, Hooks } from "../hooks/hook.ts";
import type { InputChannel } from "../input/channel.ts";
import type { SearchEngine } from "../tools/web/web-search.ts";
import type { Skill, SkillMatching } from "../context/skills.ts";
import type { Store } from "../journal/store/store.ts";
import type { Model } from "../models/model.ts";
import type { Prices } from "../models/prices.ts";
import { type RuleLists, loadRules } from "../permission/rules/rules.ts";
import type { PermissionMode, Rule } from "../protocol/facts/permission.ts";
import type { ExecutionOptions } from "../protocol/host/options.ts";
import type { SessionMode } from "../protocol/mode.ts";
import type { SubagentDefinition } from "../protocol/subagent.ts";
import type { Tool } from "../tools/definition/tool.ts";
import { chooseModel, type ModelChoice } from "../models/choice/choose.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";

/** Options of `SageAgentSDK`. */
export type SdkOptions = {
  /** A model, or `provider/name` as for `sage --model`; by default what the environment points to. */
  model?: Model | string;
  /** `provider/name`: goes on with a turn for which the model cannot be had. Not for a `model` that is an object. */
  fallbackModel?: string;
  /** Dollars for a million tokens, by provider/name: for `outcome.cost`. */
  prices?: Prices;
  /** Tools besides the built-in ones. */
  tools?: readonly Tool[];
  /** Writes summaries of long conversations (the model itself by default), and names sessions. */
  smallModel?: Model;
  /** Subagents besides the built-in ones. */
  subagents?: readonly SubagentDefinition[];
  skills?: readonly GivenSkill[];
  /** Also skills, subagents and own commands of the working directory's repository (`.sage`, `.claude`). Its texts then reach the model. */
  discover?: boolean;
  /** Use of a skill that fits: the model is told of it (`offer`, the default), or gets its text at once. */
  matchingSkill?: SkillMatching;
  rules?: RuleLists;
  permissionMode?: PermissionMode;
  /** Confines commands by the operating system. Where that is not possible no command runs; without it they run as ever. */
  sandbox?: Partial<Sandbox>;
  /** Functions, or commands as in settings, that are asked around calls and told of sessions. */
  hooks?: HookLists | Hooks;
  /** MCP servers by name, as in settings: their tools are added. They end with `close`. */
  mcpServers?: Record<string, McpServer>;
  /** Searches the web: a known engine, as in settings, or one of your own. Without it WebSearch is not offered. */
  webSearch?: SearchEngine | WebSearch;
  /** In the place of Sage's own words to the model. A function gets these, with the instructions of the folder in them. */
  systemPrompt?: string | ((standard: string) => string);
  /** Another agent, such as `claude` or `codex`, that runs new sessions in Sage's place. */
  agent?: string;
  /** Programs of other agents by their name, as in settings. */
  agents?: Record<string, GuestProgram>;
  /**
   * Reads what `sage` would read in a session's folder: the person's settings, and those of a folder that they trust, beside what is
   * said here. `"rules"`: rules alone. Either way a rule that a person grants for `user`, `project` or `local` is written to its file.
   */
  settings?: boolean | "rules";
  /** The journal's file. Without one, and without a store, sessions live in memory and end with the process. */
  journal?: string;
  /** A store of one's own instead of a journal's file; `close` closes it. */
  store?: Store;
  workingDirectory?: string;
  env?: NodeJS.ProcessEnv;
  /** How long a session waits for people alone before it is let out of memory; a minute by default. Nobody notices. */
  sleepAfterMs?: number;
};

/** An MCP server: a program, or an address. */
export type McpServer = {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
  /** Tools that only read, by your word. */
  reads?: string[];
  timeoutMs?: number;
  startupTimeoutMs?: number;
};

/** An engine that is known. */
export type WebSearch = {
  engine: "searxng" | "brave" | "tavily" | "model";
  baseURL?: string;
  apiKeyEnv?: string;
  model?: string;
};

/** How the program of another agent is started. */
export type GuestProgram = { command?: string; args?: string[]; mode?: string; env?: Record<string, string> };

/** A skill in code. What is left out is as in a file: any tool may be used, a person may say `/name`, the priority is 50. Its folder is the working directory. */
export type GivenSkill = Pick<Skill, "name" | "description" | "body"> & Partial<Skill>;

/** Options of one run. */
export type RunOptions = Partial<ExecutionOptions> & {
  /** Goes on with a session instead of opening one. */
  session?: string;
  /** How much the agent may do without asking, from now on; by default as the session is, and `ask` in a new one. */
  sessionMode?: SessionMode;
  /** The agent that runs the session in Sage's place, when it is opened by this run. */
  agent?: string;
  /** A channel of your own, which this run asks through; its handle answers. Without one, and without a `mode`, nobody is asked. */
  channel?: InputChannel;
  /** Cancels the turn: its outcome is `cancelled`. One that was aborted before begins nothing, and the run rejects with its reason. */
  signal?: AbortSignal;
  /** The file to which the session is written as JSON lines whenever a turn of it ends or stops, without secrets. */
  recordTrajectory?: string;
};

/** Options of a run that asks through a channel. */
export type ChannelOptions = Omit<RunOptions, "channel"> & {
  bufferSize?: number;
  /** After each answer in words the handle is shown a `text` request; answering it is the next message, denying it ends. */
  conversation?: boolean;
};

/** Options of `openTurns`: turns return instead of waiting, so a mode makes no sense. */
export type TurnsOptions = Omit<RunOptions, "mode" | "signal" | "channel">;

/** Rules of an embedder. A rule in code is not passed over, as one in a file is: the program is wrong, and is told so. */
export function readRules(lists: RuleLists = {}): Rule[] {
  const { rules, warnings } = loadRules(lists, "user");
  const [first] = warnings;
  if (!first) return rules;
  if (first.code !== "rule-ignored") throw new SageError("config-invalid", first);
  const { rule, problem, source } = first.args;
  throw new SageError("config-invalid", reason("rule-not-read", { rule, problem, behavior: "allow", source }));
}

export function wholeSkill(given: GivenSkill, folder: string): Skill {
  return { whenToUse: "", allowedTools: "all", userInvocable: true, priority: 50, folder, ...given };
}

/** The model that was given, or the one that a name or the environment points to. */
export async function resolveModel(options: SdkOptions, env: NodeJS.ProcessEnv): Promise<Model> {
  return typeof options.model === "object" ? options.model : namedModel(options, env).load();
}

/** Throws `config-invalid` when the name fits no provider, or has no key. */
export function namedModel({ model, fallbackModel }: SdkOptions, env: NodeJS.ProcessEnv): ModelChoice {
  const spec = typeof model === "object" ? undefined : model;
  const chosen = chooseModel({ spec, fallback: fallbackModel, env });
  if (chosen) return chosen;
  throw new SageError("config-invalid", reason("no-model", {}));
}
