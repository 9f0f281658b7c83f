import { resolve } from "node:path";
import type { Skill } from "../context/skills.ts";
import { sqliteStore } from "../journal/sqlite.ts";
import type { Store } from "../journal/store.ts";
import { chooseModel, type ModelChoice, type ModelSettings } from "../models/choose.ts";
import type { Prices } from "../models/prices.ts";
import type { ExecutionOptions, PermissionMode, SubagentDefinition } from "../protocol/index.ts";
import { assemble } from "../runtime/assemble.ts";
import { loadConfig, type Config } from "../runtime/config.ts";
import { loadContent } from "../runtime/content.ts";
import { sageHome, type Home } from "../runtime/home.ts";
import type { LocalHost } from "../runtime/host.ts";
import { withKeys } from "../runtime/keys.ts";
import { readSettings, type Settings } from "../runtime/settings.ts";
import { cliTexts } from "../texts/cli.ts";
import type { Lang } from "../texts/language.ts";

export type Sage = {
  host: LocalHost;
  store: Store;
  model: string;
  /** Loads the model now: what is wrong with it is thrown here, before a session is begun. */
  ready(): Promise<unknown>;
  /** What this run is made of, for whoever shows it. */
  home: Home;
  cwd: string;
  config: Config;
  skills: Skill[];
  subagents: SubagentDefinition[];
};

/** What is known before a folder is: where state lives, and which model is meant. */
export function begin(
  env: NodeJS.ProcessEnv,
  spec: string | undefined,
  fallback?: string,
): { home: Home; choice: ModelChoice | undefined } {
  const home = sageHome(env);
  return { home, choice: modelOf(readSettings(home.settings), withKeys(env, home), spec, fallback) };
}

export function modelOf(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  spec?: string,
  fallback?: string,
): ModelChoice | undefined {
  return chooseModel({ spec, fallback, env, settings: settings as ModelSettings });
}

/** Writes summaries, where the person named one. */
export function smallModelOf(settings: Settings, env: NodeJS.ProcessEnv): ModelChoice | undefined {
  const { smallModel: spec, providers } = settings;
  return spec === undefined ? undefined : chooseModel({ spec, env, settings: { providers } as ModelSettings });
}

/** The model a session was begun with, if one was named then. */
export function modelOfSession(store: Store, session: string): string | undefined {
  const opened = store.load(session).find((fact) => fact.type === "session.opened");
  return opened?.data.model;
}

/** As a session remembers it: a script is found again from any folder. */
export function lastingSpec(spec: string | undefined): string | undefined {
  const file = spec?.startsWith("scripted/") ? spec.slice("scripted/".length) : undefined;
  return file === undefined || file === "" ? spec : `scripted/${resolve(file)}`;
}

export function openStore(home: Home): Store {
  return sqliteStore(home.journal);
}

export type Run = {
  home: Home;
  choice: ModelChoice;
  store: Store;
  /** Where the session works: its settings count. */
  cwd: string;
  lang: Lang;
  permissionMode: PermissionMode;
  options: Partial<ExecutionOptions>;
  /** The person knows that the folder's settings do not count: they were asked. */
  asked?: boolean;
  /** The model is loaded while the first turn begins, so nobody else would hear of this. */
  onModelError?: (error: unknown) => void;
};

/** Everything that runs turns. */
export function openSage(run: Run): Sage {
  const { home, choice, store, cwd, lang, permissionMode, options, asked, onModelError } = run;
  const config = loadConfig(home, cwd, process.env);
  const { settings, rules, hooks, saveRule, ruleFiles, trust, warnings } = config;
  const { skills, subagents, warnings: problems } = loadContent(home, trust);
  warnings.push(...problems);
  const { untrusted } = cliTexts(lang);
  if (!asked && (trust.state === "untrusted" || trust.state === "changed")) warnings.push(untrusted(trust.root));
  for (const warning of warnings) console.error(`sage: ${warning}`);
  let loading: ReturnType<ModelChoice["load"]> | undefined;
  const load = () => (loading ??= choice.load());
  const model = async () => {
    try {
      return await load();
    } catch (error) {
      onModelError?.(error);
      throw error;
    }
  };
  const { output } = home;
  const { maxContextTokens, autoCompactThreshold } = settings;
  const prices = settings.prices as Prices;
  const env = withKeys(process.env, home);
  const small = smallModelOf(settings, env);
  const host = assemble({
    store,
    model,
    ...(small && { smallModel: () => small.load() }),
    prices,
    rules,
    hooks,
    skills,
    subagents,
    saveRule,
    ruleFiles,
    permissionMode,
    options: {
      ...(maxContextTokens !== undefined && { maxContextTokens }),
      ...(autoCompactThreshold !== undefined && { autoCompactThreshold }),
      ...options,
    },
    env,
    output,
    lang,
  });
  let closing: Promise<void> | undefined;
  return {
    host: { ...host, close: () => (closing ??= host.close()) },
    store,
    model: `${choice.provider}/${choice.modelId}`,
    ready: load,
    home,
    cwd,
    config,
    skills,
    subagents,
  };
}
