import { isRemote } from "../../config/remote-repository.ts";
import { builtinSubagents } from "../../agent/state/subagents.ts";
import { loadConfig } from "../../config/config.ts";
import type { Installation } from "../../config/home/home.ts";
import type { Surroundings } from "../../host/commands/parts.ts";
import type { SessionRow, Store } from "../../journal/store/store.ts";
import type { ModelChoice, ModelSettings } from "../../models/choice/choose.ts";
import type { Model } from "../../models/model.ts";
import { contextWindow } from "../../models/window.ts";
import type { Named, WorkFolder } from "../../protocol/host/about.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import {
  checkKnown,
  guestChoice,
  absoluteModelSpec,
  modelOfSession,
  modelName,
} from "../../host/assembly/model-choice.ts";
import { listedRules } from "./listed-rules.ts";
import type { Folder } from "../../host/assembly/builder.ts";

type Parts = {
  store: Store;
  lang: Lang;
  /** Settings and folder of a session, as its next turn will find them. */
  installation(): Installation;
  folder(session: SessionRow): Folder;
  /** The model that a session continues with, or that a name means. */
  choice(session: SessionRow, spec?: string): ModelChoice | undefined;
  models(choice: ModelChoice): Promise<Model>;
  folders?(): WorkFolder[];
};

/** Tells surfaces about the folders, rules and models of sessions, from the settings of this machine. */
export function sessionEnvironment({
  store,
  lang,
  installation,
  folder,
  choice,
  models,
  folders,
}: Parts): Surroundings {
  const setting = () => {
    const { env, settings } = installation();
    return { env, settings: settings as ModelSettings };
  };
  return {
    ...(folders && { folders }),
    async about(session, { prompts }) {
      const { config, skills, subagents, commands, parts } = folder(session);
      const { home, settings, env } = installation();
      const guest = store.opened(session.id)?.agent;
      const found = guest === undefined ? choice(session) : guestChoice(guest);
      const model = found ? modelName(found) : "";
      const chosen = modelOfSession(store, session.id);
      const { mode } = config.sandbox;
      const rules = listedRules(
        isRemote(session.cwd) ? config : loadConfig(home, session.cwd, env),
        home.settings,
      ).filter(({ counts }) => counts);
      return {
        cwd: session.cwd,
        model,
        ...(chosen !== undefined && { chosen }),
        contextWindow: settings.maxContextTokens ?? contextWindow(model),
        ...(mode !== "off" && { sandbox: mode }),
        skills: skills.map((skill) => ({ ...named(skill), invocable: skill.userInvocable })),
        subagents: [...builtinSubagents, ...subagents].map(named),
        commands: commands.map(named),
        rules: rules.map(({ rule, behavior, source, file }) => ({ rule, behavior, source, file })),
        ...(prompts && { prompts: ((await parts.outside?.commands()) ?? []).map(named) }),
      };
    },
    async model(session, spec, { checked }) {
      const meant = choice(session, absoluteModelSpec(spec));
      if (!meant) throw new SageError("config-invalid", said(cliTexts(lang).noModel));
      await models(meant);
      if (checked) await checkKnown(meant, installation());
      return modelName(meant);
    },
    async providers() {
      const { configured } = await import("../../models/choice/offered.ts");
      const { env, settings } = setting();
      return configured(env, settings);
    },
    async modelsOf(provider) {
      const { modelsOf } = await import("../../models/choice/offered.ts");
      return modelsOf(provider, setting());
    },
    saveRule: (session, grant) => folder(session).config.saveRule(grant),
    dropRule: (session, { rule, destination, behavior }) =>
      folder(session).config.dropRule(rule, destination, behavior),
  };
}

function named({ name, description }: Named): Named {
  return { name, description };
}
