import { sqliteStore } from "../journal/sqlite.ts";
import type { Store } from "../journal/store.ts";
import { chooseModel, type ModelChoice, type ModelSettings } from "../models/choose.ts";
import { loadRules } from "../permission/rules.ts";
import { SageError, type ExecutionOptions, type PermissionMode } from "../protocol/index.ts";
import { assemble } from "../runtime/assemble.ts";
import { sageHome, type Home } from "../runtime/home.ts";
import type { LocalHost } from "../runtime/host.ts";
import { readSettings, type Settings } from "../runtime/settings.ts";
import { cliTexts } from "../texts/cli.ts";
import type { Lang } from "../texts/language.ts";

export type Sage = { host: LocalHost; store: Store; model: string };

/** What the files and the environment say, before anything is opened. */
export type Config = { home: Home; settings: Settings; choice: ModelChoice | undefined };

export function readConfig(env: NodeJS.ProcessEnv, spec: string | undefined): Config {
  const home = sageHome(env);
  const settings = readSettings(home.settings);
  return { home, settings, choice: modelOf(settings, env, spec) };
}

export function modelOf(settings: Settings, env: NodeJS.ProcessEnv, spec?: string): ModelChoice | undefined {
  return chooseModel({ spec, env, settings: settings as ModelSettings });
}

/** For what cannot do without one. */
export function requireModel(spec: string | undefined, lang: Lang): Config & { choice: ModelChoice } {
  const { choice, ...files } = readConfig(process.env, spec);
  if (choice) return { ...files, choice };
  throw new SageError("config-invalid", cliTexts(lang).noModel);
}

export type Run = {
  config: Config & { choice: ModelChoice };
  permissionMode: PermissionMode;
  options: Partial<ExecutionOptions>;
  /** The model is loaded while the first turn begins, so nobody else would hear of this. */
  onModelError?: (error: unknown) => void;
};

/** Everything that runs turns. */
export function openSage({ config, permissionMode, options, onModelError }: Run): Sage {
  const { home, settings, choice } = config;
  const { rules, warnings } = loadRules(settings.permissions, "user");
  for (const warning of warnings) console.error(`sage: ${warning}`);
  const store = sqliteStore(home.journal);
  const load = async () => {
    try {
      return await choice.load();
    } catch (error) {
      onModelError?.(error);
      throw error;
    }
  };
  const host = assemble({ store, model: load, rules, permissionMode, options, env: process.env, output: home.output });
  let closing: Promise<void> | undefined;
  return {
    host: { ...host, close: () => (closing ??= host.close()) },
    store,
    model: `${choice.provider}/${choice.modelId}`,
  };
}
