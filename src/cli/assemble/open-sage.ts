import { ask } from "../../protocol/host/refusal.ts";
import { createAnchors } from "../../config/home/anchors.ts";
import type { Config } from "../../config/config.ts";
import type { Settings } from "../../config/settings/settings.ts";
import type { Home, Installation } from "../../config/home/home.ts";
import { createAgent } from "../../host/assembly/agent.ts";
import { readFolder, withModules, type Folder } from "../../host/assembly/builder.ts";
import { assembleEach } from "../../host/assembly/assemble.ts";
import type { LocalHost } from "../../host/host.ts";
import { sqliteStore } from "../../journal/sqlite/sqlite.ts";
import { localHead, type Store } from "../../journal/store/store.ts";
import type { ModelChoice } from "../../models/choice/choose.ts";
import type { Model } from "../../models/model.ts";
import { oneLine } from "../../base/visible.ts";
import type { PermissionMode } from "../../protocol/facts/permission.ts";
import { modeOf } from "../../protocol/facts/session.ts";
import type { ExecutionOptions } from "../../protocol/host/options.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import { initCommand } from "../../texts/setup/init.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { accountGuard, accountPerson, checkApprover, person } from "../host/journal.ts";
import { contextWindow } from "../../models/window.ts";
import type { HostClient } from "../host/host-client.ts";
import { hostHome } from "../host/host-home.ts";
import { openRunner } from "./command-runner.ts";
import { sessionEnvironment } from "./session-environment.ts";
import { withImages } from "./images.ts";
import {
  createModels,
  absoluteModelSpec,
  modelOf,
  guestChoice,
  modelOfSession,
  modelName,
} from "../../host/assembly/model-choice.ts";

export type Sage = HostClient & {
  host: LocalHost;
  store: Store;
  config: Config;
  /** Loads the model now: what is wrong with it is thrown here, before a session is begun. */
  ready(session?: string): Promise<Model>;
};

/** A model that is named when a session is resumed holds for it from then on. */
export async function chooseModel(sage: Sage, session: string, spec: string | undefined): Promise<void> {
  if (spec === undefined || absoluteModelSpec(spec) === modelOfSession(sage.store, session)) return;
  await ask(sage.host, { type: "choose", session, model: spec, by: person(), surface: "cli" });
}

export async function chooseMode(sage: Sage, session: string, mode: SessionMode | undefined): Promise<void> {
  if (mode === undefined || mode === modeOf(sage.store.load(session))) return;
  await ask(sage.host, { type: "chooseMode", session, mode, by: person(), surface: "cli" });
}

export function openStore({ journal, test }: Home): Store {
  return sqliteStore(journal, { test: test === true });
}

type Run = {
  installation: Installation;
  choice: ModelChoice;
  fallback?: string | undefined;
  store: Store;
  /** Folder of the session: its settings count. */
  cwd: string;
  lang: Lang;
  permissionMode: PermissionMode;
  options: Partial<ExecutionOptions>;
  /** The person knows that the folder's settings do not count: they were asked. */
  asked?: boolean;
  /** The model is loaded while the first turn begins, so nobody else would hear of this. */
  onModelError?: (error: unknown) => void;
};

export async function openSage(run: Run): Promise<Sage> {
  const { installation, store, cwd, lang, permissionMode, options, asked, onModelError } = run;
  const answersItself = options.mode?.type === "nonInteractive" && options.mode.autoResponse !== "alwaysDeny";
  if (permissionMode === "bypass" || answersItself) checkApprover(installation.settings);
  const models = createModels();
  const folder = await withModules(readFolder({ installation, cwd, models, code: ownCommands(lang) }));
  const { config, skills, commands, parts, options: folderOptions, namer } = folder;
  for (const warning of folderWarnings(folder, lang, asked)) console.error(`sage: ${oneLine(warning)}`);
  const named = (spec: string | undefined): ModelChoice =>
    (spec === undefined ? undefined : modelOf(installation, spec, run.fallback)) ?? run.choice;
  const choiceOf = (session: string) => {
    const guest = store.opened(session)?.agent;
    return guest === undefined ? named(modelOfSession(store, session)) : guestChoice(guest);
  };
  const model = async (session: string) => {
    try {
      return await models(choiceOf(session));
    } catch (error) {
      onModelError?.(error);
      throw error;
    }
  };
  const runner = openRunner(installation.home, { attended: true });
  const agent = createAgent({ ...parts, ...(runner && { runner }), permissionMode, model: ({ id }) => model(id) });
  const llmOptions = { ...folderOptions.llmOptions, ...options.llmOptions };
  const settings = { agent, options: { ...folderOptions, ...options, llmOptions } };
  const host = assembleEach(store, () => settings, {
    guard: accountGuard(installation.home),
    personOf: accountPerson(installation.home),
    namer,
    turnEnded: anchorEndedTurns(store, installation),
    ...((options.mode?.type ?? "interactive") === "interactive" && { taskEnds: taskEnds(installation.settings) }),
    home: hostHome(installation.home, process.env),
    surroundings: sessionEnvironment({
      store,
      lang,
      models,
      installation: () => installation,
      folder: () => folder,
      choice: ({ id }, spec) => (spec === undefined ? choiceOf(id) : named(spec)),
    }),
  });
  let closing: Promise<void> | undefined;
  return {
    host: { ...host, send: withImages(host.send, cwd), close: () => (closing ??= host.close()) },
    store,
    ready: async (session) => models(session === undefined ? run.choice : choiceOf(session)),
    by: person(installation.settings),
    flag: "",
    home: installation.home,
    settings: installation.settings,
    cwd,
    config,
    look: async (session) => ({
      cwd,
      model: modelName(choiceOf(session)),
      window: (name) => config.settings.maxContextTokens ?? contextWindow(name),
      ...(config.sandbox.mode !== "off" && { sandbox: config.sandbox.mode }),
      invocable: [...commands, ...skills.filter(({ userInvocable }) => userInvocable)],
      prompts: async () => (await parts.outside?.commands()) ?? [],
    }),
    here: { config, store },
  };
}

export function taskEnds({ wake = true }: Settings): "tells" | "begins" {
  return wake ? "begins" : "tells";
}

export function anchorEndedTurns(
  store: Store,
  { home, env }: Pick<Installation, "home" | "env">,
): (session: string) => void {
  const anchors = createAnchors(home, env);
  return (session) => {
    // Records of a shared journal are not this machine's: its own would seem to have lost them.
    const head = localHead(store, session);
    if (head) anchors.put(session, head);
  };
}

/** Warnings about a folder: parts that were left out, and settings that do not count. `asked`: the person knows of these. */
export function folderWarnings({ warnings, config: { trust } }: Folder, lang: Lang, asked = false): string[] {
  const counts = asked || trust.state === "trusted" || trust.state === "nothing-to-trust";
  return [...warnings.map((why) => sentence(why, lang)), ...(counts ? [] : [cliTexts(lang).untrusted(trust.root)])];
}

/** Commands that are there in every folder. */
export const ownCommands = (lang: Lang) => ({ commands: [initCommand(lang)] });
