import { statSync } from "node:fs";
import type { SessionRow, Store } from "../../../journal/store.ts";
import type { Prices } from "../../../models/prices.ts";
import { SageError, type Host, type SurfaceStore } from "../../../protocol/index.ts";
import { assembleEach, type SessionParts } from "../../../host/assemble.ts";
import { loadConfig } from "../../../config/config.ts";
import { loadContent } from "../../../config/content.ts";
import type { Home } from "../../../config/home.ts";
import type { LocalHost } from "../../../host/host.ts";
import { recover, type Recovered } from "../../../host/recovery.ts";
import { readSettings } from "../../../config/settings.ts";
import { cliTexts } from "../../../texts/cli.ts";
import type { Lang } from "../../../texts/language.ts";
import { serveTexts } from "../../../texts/serve.ts";
import { createModels, modelOf, modelOfSession, smallModelOf } from "../../wiring.ts";

export type DaemonParts = {
  home: Home;
  store: Store;
  /** Which sessions are this daemon's: it goes on with them after a restart, and with nobody else's. */
  own: SurfaceStore;
  env: NodeJS.ProcessEnv;
  lang: Lang;
  /** For sessions that name no model of their own. */
  spec: string | undefined;
  warn(text: string): void;
};

export type Daemon = { host: LocalHost; recover(): Promise<Recovered> };

/** A host for sessions in many folders. What a folder says is read when a turn begins there, as it would be by a new process. */
export function openDaemon({ home, store, own, env, lang, spec, warn }: DaemonParts): Daemon {
  const told = new Set<string>();
  const tell = (text: string) => {
    if (told.has(text)) return;
    told.add(text);
    warn(text);
  };
  const models = createModels();

  const partsOf = (session: SessionRow): SessionParts => {
    if (!statSync(session.cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new SageError("config-invalid", serveTexts(lang).folderGone(session.cwd));
    const { settings, rules, hooks, saveRule, ruleFiles, trust, warnings } = loadConfig(home, session.cwd, env);
    const { skills, subagents, warnings: problems } = loadContent(home, trust);
    for (const warning of [...warnings, ...problems]) tell(warning);
    if (trust.state === "untrusted" || trust.state === "changed") tell(cliTexts(lang).untrusted(trust.root));
    const { maxContextTokens, autoCompactThreshold } = settings;
    const small = smallModelOf(settings, env);
    return {
      model() {
        const choice = modelOf(settings, env, modelOfSession(store, session.id) ?? spec);
        if (!choice) throw new SageError("model-unavailable", cliTexts(lang).noModel);
        return models(choice);
      },
      ...(small && { smallModel: () => models(small) }),
      prices: settings.prices as Prices,
      rules,
      hooks,
      skills,
      subagents,
      saveRule,
      ruleFiles,
      permissionMode: "default",
      options: {
        ...(maxContextTokens !== undefined && { maxContextTokens }),
        ...(autoCompactThreshold !== undefined && { autoCompactThreshold }),
      },
      env,
      output: home.output,
    };
  };

  const namer = smallModelOf(readSettings(home.settings), env);
  const host = assembleEach(store, partsOf, namer && (() => models(namer)));
  let waiting: Recovered | undefined;
  return {
    host: {
      ...host,
      send: remembering(host, own),
      close() {
        waiting?.stop();
        return host.close();
      },
    },
    async recover() {
      const all = own.list("session/").map(({ key }) => key.slice("session/".length));
      const isUnderWay = (id: string) => (store.session(id)?.open ?? false) || store.leftBehind(id).message;
      const { true: sessions = [], false: ended = [] } = Object.groupBy(all, (id) => `${isUnderWay(id)}` as const);
      for (const id of ended) own.delete(`session/${id}`);
      return (waiting = await recover(store, host, sessions));
    },
  };
}

/** A session becomes the daemon's before anything is said in it. */
function remembering(host: Host, own: SurfaceStore): Host["send"] {
  return (command) => {
    if (command.type === "say" || command.type === "resume") own.set(`session/${command.session}`, true);
    return host.send(command);
  };
}
