import { join } from "node:path";
import { realpathSync } from "node:fs";
import { loadConfig, type Config } from "../../config/config.ts";
import { sageHome, type Installation } from "../../config/home/home.ts";
import { loadContent } from "../../config/load-content.ts";
import { loadServers, type OwnServers } from "../../config/settings/servers.ts";
import type { GuestsSettings, WebSearchSettings } from "../../config/settings/model-settings.ts";
import { noSandbox, type Sandbox } from "../../config/settings/sandbox.ts";
import { silenceOptions } from "../../config/settings/silence.ts";
import { childEnv } from "../../config/secrets/secrets.ts";
import type { OwnCommand } from "../../context/commands.ts";
import type { Skill } from "../../context/skills.ts";
import { hooksFrom, joinHooks } from "../../hooks/hooks.ts";
import type { ModelChoice } from "../../models/choice/choose.ts";
import type { Model } from "../../models/model.ts";
import type { Prices } from "../../models/prices.ts";
import type { ExecutionOptions } from "../../protocol/host/options.ts";
import { type Reason, SageError } from "../../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../../protocol/subagent.ts";
import type { SearchEngine } from "../../tools/web/web-search.ts";
import type { AgentParts } from "./agent-parts.ts";
import { smallModelOf } from "./model-choice.ts";
import { searchEngine, type SearchSettings } from "./search-engine.ts";
import { outsideOf, type OpenedServers } from "./servers.ts";

/** Parts in code: instead of settings files, or beside them. */
export type CodeParts = Partial<Omit<AgentParts, "model" | "outside" | "search" | "sandbox" | "guest">> &
  Pick<AgentParts, "env" | "output"> & {
    sandbox?: Partial<Sandbox>;
    /** MCP servers by name, as settings name them; theirs are of these names no more. */
    mcpServers?: OwnServers;
    /** An engine of one's own, or one that is known. */
    webSearch?: SearchEngine | WebSearchSettings;
    /** Other agents by name, as settings name them. */
    agents?: GuestsSettings;
    /** Servers that were started for these parts; without it they are this process's. */
    opened?: OpenedServers;
  };

/** Settings, rules and content of a folder, as parts of the sessions that work in it. */
export type Folder = {
  config: Config;
  skills: readonly Skill[];
  commands: readonly OwnCommand[];
  subagents: readonly SubagentDefinition[];
  /** Files and entries that were left out, and why. */
  warnings: Reason[];
  /** The parts of sessions there, apart from the model. */
  parts: Omit<AgentParts, "model">;
  options: Partial<ExecutionOptions>;
  namer: (() => Promise<Model>) | undefined;
};

type FolderParts = {
  installation: Installation;
  cwd: string;
  models(choice: ModelChoice): Promise<Model>;
  code?: Omit<CodeParts, "env" | "output"> & Partial<Pick<CodeParts, "output">>;
};

/** Reads what settings, rule files and trusted files of a folder say, with the parts that code adds. */
export function readFolder({ installation, cwd, models, code = {} }: FolderParts): Folder {
  const { home, env } = installation;
  const { mcpServers = {}, webSearch, agents } = code;
  const settings = {
    ...installation.settings,
    ...(code.mcpServers && { mcpServers: { ...installation.settings.mcpServers, ...mcpServers } }),
    ...(webSearch && !("search" in webSearch) && { webSearch }),
  };
  const config = loadConfig(home, cwd, env, settings);
  const { saveRule, dropRule, ruleFiles, trust } = config;
  config.rules.push(...(code.rules ?? []));
  const { skills, subagents, problems, commands } = loadContent(home, trust, settings);
  const { maxContextTokens, maxOutputTokens, autoCompactThreshold, matchingSkill, effort } = settings;
  const small = smallModelOf({ settings, env });
  const namer = code.smallModel ?? (small && (() => models(small)));
  const search = engineOf(code, settings as SearchSettings, env);
  const hooks = code.hooks ? joinHooks(config.hooks, ownHooks(code.hooks, env, trust.root)) : config.hooks;
  const own = {
    skills: firstOfName(code.skills, skills),
    subagents: firstOfName(code.subagents, subagents),
    commands: firstOfName(code.commands, commands),
  };
  const guests = { ...settings.agents, ...agents };
  return {
    config,
    ...own,
    namer,
    warnings: [...config.warnings, ...problems, ...("problem" in search ? [search.problem] : [])],
    parts: {
      ...sharedParts(code),
      ...(namer && { smallModel: namer }),
      ...("engine" in search && { search: search.engine }),
      prices: { ...(settings.prices as Prices), ...code.prices },
      limits: settings.limits,
      trusted: trust.state === "trusted",
      rules: config.rules,
      hooks,
      ...(matchingSkill && { matchingSkill }),
      ...(code.matchingSkill && { matchingSkill: code.matchingSkill }),
      ...own,
      ...(config.servers.length > 0 && { outside: outsideOf(config, { home, env, opened: code.opened }) }),
      saveRule,
      dropRule,
      ruleFiles,
      sandbox: { ...config.sandbox, ...code.sandbox },
      guest: guestIn(() => home, env, guests),
      env,
      output: code.output ?? home.output,
    },
    options: {
      ...silenceOptions(settings),
      ...(maxContextTokens !== undefined && { maxContextTokens }),
      llmOptions: { ...(maxOutputTokens !== undefined && { maxOutputTokens }), ...(effort && { effort }) },
      ...(autoCompactThreshold !== undefined && { autoCompactThreshold }),
    },
  };
}

/** The same from code alone: no file is read, and nothing is written outside of `output`. */
export function partsInCode(code: CodeParts, cwd: string): Omit<AgentParts, "model"> {
  const { env, output, mcpServers, agents, rules = [], warnings = [] } = code;
  const sandbox = { ...noSandbox, ...code.sandbox };
  const root = realpathSync(cwd);
  const { servers, warnings: unfit } = loadServers(mcpServers, join(root, "settings.json"), undefined, env);
  const search = engineOf(code, {}, env);
  if ("problem" in search) throw new SageError("config-invalid", search.problem);
  const [first] = unfit;
  if (first) throw new SageError("config-invalid", first);
  const served = { servers, sandbox, rules: [...rules], settings: {}, trust: { root, digest: "" } };
  return {
    ...sharedParts(code),
    ...(code.smallModel && { smallModel: code.smallModel }),
    ...(code.prices && { prices: code.prices }),
    ...("engine" in search && { search: search.engine }),
    rules,
    env,
    output,
    warnings,
    ...(code.hooks && { hooks: ownHooks(code.hooks, env, root) }),
    ...(code.skills && { skills: code.skills }),
    ...(code.matchingSkill && { matchingSkill: code.matchingSkill }),
    ...(code.commands && { commands: code.commands }),
    ...(code.subagents && { subagents: code.subagents }),
    ...(servers.length > 0 && { outside: outsideOf(served, { env, opened: code.opened }) }),
    ...(code.sandbox && { sandbox }),
    guest: guestIn(() => sageHome(env), env, agents),
  };
}

/** Parts that no file has a say in. */
function sharedParts({ permissionMode = "default", systemPrompt, tools }: Partial<CodeParts>) {
  return {
    permissionMode,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(tools && { tools }),
  };
}

function ownHooks(hooks: NonNullable<CodeParts["hooks"]>, env: NodeJS.ProcessEnv, root: string) {
  return hooksFrom(hooks, () => childEnv(env, root));
}

function engineOf(
  { webSearch }: Pick<CodeParts, "webSearch">,
  settings: SearchSettings,
  env: NodeJS.ProcessEnv,
): { engine: SearchEngine } | { problem: Reason } | object {
  if (webSearch && "search" in webSearch) return { engine: webSearch };
  const found = searchEngine({ ...settings, ...(webSearch && { webSearch }) }, env);
  return found === undefined || "problem" in found ? (found ?? {}) : { engine: found };
}

function guestIn(
  home: () => Installation["home"],
  env: NodeJS.ProcessEnv,
  settings: GuestsSettings | undefined,
): NonNullable<AgentParts["guest"]> {
  return async (name, cwd) => {
    const { guestOf } = await import("../guests/guests.ts");
    return guestOf(name, { cwd, home: home(), env, ...(settings && { settings }) });
  };
}

/** The same with the tools and subagents of the modules that its settings name. Where none is named, nothing is loaded. */
export async function withModules(folder: Folder): Promise<Folder> {
  const { config, subagents, warnings, parts } = folder;
  if (config.modules.length === 0) return folder;
  const { loadModules } = await import("../../config/load-modules.ts");
  const loaded = await loadModules(config, subagents);
  const all = [...subagents, ...loaded.subagents];
  return {
    ...folder,
    subagents: all,
    warnings: [...warnings, ...loaded.warnings],
    parts: { ...parts, subagents: all, tools: [...(parts.tools ?? []), ...loaded.tools] },
  };
}

/** Names given in code count before those that are found. */
export function firstOfName<T extends { name: string }>(given: readonly T[] = [], found: readonly T[] = []): T[] {
  return [...given, ...found.filter(({ name }) => !given.some((other) => other.name === name))];
}
