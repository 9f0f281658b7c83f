import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { Skill } from "../context/skills.ts";
import { sqliteStore } from "../journal/sqlite.ts";
import type { Store } from "../journal/store.ts";
import { chooseModel, type ModelChoice, type ModelSettings } from "../models/choose.ts";
import type { Model } from "../models/model.ts";
import type { Prices } from "../models/prices.ts";
import {
  oneLine,
  type ExecutionOptions,
  type PermissionMode,
  type Sender,
  type SubagentDefinition,
} from "../protocol/index.ts";
import { assembleEach } from "../host/assemble.ts";
import { loadConfig, type Config } from "../config/config.ts";
import { loadContent } from "../config/content.ts";
import { sageHome, type Home } from "../config/home.ts";
import type { LocalHost } from "../host/host.ts";
import { withKeys } from "../config/keys.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import { cliTexts } from "../texts/cli.ts";
import type { Lang } from "../texts/language.ts";
import { person } from "./journal.ts";

export type Sage = {
  host: LocalHost;
  store: Store;
  /** What a session goes on with, as people call it. */
  modelOf(session: string): string;
  /** Loads the model now: what is wrong with it is thrown here, before a session is begun. */
  ready(session?: string): Promise<unknown>;
  /** From its next turn on, and whenever it is resumed. What cannot be loaded is refused. */
  chooseModel(session: string, spec: string, sender: Sender): Promise<void>;
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
  const { fallbackModel, ...others } = settings as ModelSettings;
  // Whoever names the fallback has it, and none behind it.
  const second = fallback ?? (fallbackModel === spec ? undefined : fallbackModel);
  return chooseModel({ spec, fallback: second, env, settings: others });
}

/** Writes summaries, where the person named one. */
export function smallModelOf(settings: Settings, env: NodeJS.ProcessEnv): ModelChoice | undefined {
  const { smallModel: spec, providers } = settings;
  return spec === undefined ? undefined : chooseModel({ spec, env, settings: { providers } as ModelSettings });
}

/** The model that was named last for a session, if one was. */
export function modelOfSession(store: Store, session: string): string | undefined {
  const named = store.load(session).findLast(({ type }) => type === "model.chosen" || type === "session.opened");
  return named?.type === "model.chosen" || named?.type === "session.opened" ? named.data.model : undefined;
}

/** One of each: they share limits and breakers. One that could not be loaded may be luckier the next time. */
export function createModels(): (choice: ModelChoice) => Promise<Model> {
  const loaded = new Map<string, Promise<Model>>();
  return (choice) => {
    const name = nameOf(choice);
    const model = loaded.get(name) ?? choice.load();
    loaded.set(name, model);
    model.catch(() => loaded.delete(name));
    return model;
  };
}

function nameOf({ provider, modelId }: ModelChoice): string {
  return `${provider}/${modelId}`;
}

/** As a session remembers it: a script is found again from any folder. */
export function lastingSpec(spec: string | undefined): string | undefined {
  const file = spec?.startsWith("scripted/") ? spec.slice("scripted/".length) : undefined;
  return file === undefined || file === "" ? spec : `scripted/${resolve(file)}`;
}

/** What is named when a session is resumed holds for it from then on. */
export async function goOnWith(sage: Sage, session: string, spec: string | undefined): Promise<void> {
  if (spec === undefined || lastingSpec(spec) === modelOfSession(sage.store, session)) return;
  await sage.chooseModel(session, spec, { by: person(), surface: "cli" });
}

export function openStore(home: Home): Store {
  return sqliteStore(home.journal);
}

export type Run = {
  home: Home;
  /** For sessions that name no model of their own. */
  choice: ModelChoice;
  fallback?: string | undefined;
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
  const { home, store, cwd, lang, permissionMode, options, asked, onModelError } = run;
  const config = loadConfig(home, cwd, process.env);
  const { settings, rules, hooks, saveRule, ruleFiles, trust, warnings } = config;
  const { skills, subagents, warnings: problems } = loadContent(home, trust);
  warnings.push(...problems);
  const { untrusted } = cliTexts(lang);
  if (!asked && (trust.state === "untrusted" || trust.state === "changed")) warnings.push(untrusted(trust.root));
  for (const warning of warnings) console.error(`sage: ${oneLine(warning)}`);
  const env = withKeys(process.env, home);
  const models = createModels();
  const named = (spec: string | undefined): ModelChoice =>
    (spec === undefined ? undefined : modelOf(readSettings(home.settings), env, spec, run.fallback)) ?? run.choice;
  const choiceOf = (session: string) => named(modelOfSession(store, session));
  const model = async (session: string) => {
    try {
      return await models(choiceOf(session));
    } catch (error) {
      onModelError?.(error);
      throw error;
    }
  };
  const { output } = home;
  const { maxContextTokens, autoCompactThreshold } = settings;
  const prices = settings.prices as Prices;
  const small = smallModelOf(settings, env);
  const smallModel = small && (() => models(small));
  const parts = {
    ...(smallModel && { smallModel }),
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
  };
  const host = assembleEach(store, ({ id }) => ({ ...parts, model: () => model(id) }), smallModel);
  let closing: Promise<void> | undefined;
  return {
    host: { ...host, close: () => (closing ??= host.close()) },
    store,
    modelOf: (session) => nameOf(choiceOf(session)),
    ready: async (session) => models(session === undefined ? run.choice : choiceOf(session)),
    async chooseModel(session, spec, sender) {
      const choice = named(lastingSpec(spec));
      await models(choice);
      const data = { model: nameOf(choice), ...sender };
      store.append(session, { key: `model/${randomUUID()}`, type: "model.chosen", at: Date.now(), data });
    },
    home,
    cwd,
    config,
    skills,
    subagents,
  };
}
