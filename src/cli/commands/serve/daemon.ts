import { statSync } from "node:fs";
import { readInstallation } from "../../../config/installation.ts";
import { createAgent, type Agent } from "../../../host/agent.ts";
import { assembleEach } from "../../../host/assemble.ts";
import type { Guard, PersonOf } from "../../../host/guard.ts";
import type { LocalHost } from "../../../host/host.ts";
import { recover, type Recovered } from "../../../host/recovery.ts";
import { keepTime } from "../../../host/timekeeping.ts";
import type { SessionRow, Store } from "../../../journal/store.ts";
import type { Model } from "../../../models/model.ts";
import type { CommandRunner } from "../../../tools/runner/runner.ts";
import { SageError, said, type Host, type SurfaceStore, type WorkFolder } from "../../../protocol/index.ts";
import { cliTexts } from "../../../texts/cli.ts";
import type { Lang } from "../../../texts/language.ts";
import { serveTexts } from "../../../texts/serve.ts";
import { createModels, modelOf, modelOfSession, smallModelOf } from "../../model-choice.ts";
import { hostHome } from "../../host-home.ts";
import { surroundingsOf } from "../../surroundings.ts";
import { anchoring, folderParts, withModules } from "../../wiring.ts";

export type DaemonParts = {
  store: Store;
  /** The sessions that are this daemon's: it goes on with them after a restart, and with no others. Without it, others see to that. */
  own?: SurfaceStore;
  env: NodeJS.ProcessEnv;
  lang: Lang;
  /** For sessions that name no model of their own. */
  spec: string | undefined;
  /** In place of every other model. */
  model?: (() => Promise<Model>) | undefined;
  /** Decides what people of the surfaces may do. */
  guard: Guard;
  personOf: PersonOf;
  warn(text: string): void;
  /** Folders in which sessions may be opened from elsewhere. */
  folders?(): WorkFolder[];
  /** Told before something is said in a session, or it is resumed. */
  begins?(session: string): void;
  /** Where commands are entered that outlive this process. */
  runner?: CommandRunner | undefined;
} & Pick<NonNullable<Parameters<typeof assembleEach>[2]>, "letsGo" | "elsewhere" | "sleepAfterMs">;

export type Daemon = { host: LocalHost; recover(): Promise<Recovered> };

/** A host for sessions in many folders. Settings are read when a turn begins, as a new process would read them. */
export function openDaemon(given: DaemonParts): Daemon {
  const { store, own, env, lang, spec, guard, personOf, warn, folders, begins } = given;
  const warned = new Set<string>();
  const warnOnce = (text: string) => {
    if (warned.has(text)) return;
    warned.add(text);
    warn(text);
  };
  const models = createModels();
  const runOf = ({ id, cwd }: SessionRow) => {
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new SageError("config-invalid", said(serveTexts(lang).folderGone(cwd)));
    const installation = readInstallation(env);
    const folder = folderParts({ installation, cwd, lang, models });
    for (const warning of folder.warnings) warnOnce(warning);
    const model = async () => {
      if (given.model) return given.model();
      const choice = modelOf(installation, modelOfSession(store, id) ?? spec);
      if (!choice) throw new SageError("model-unavailable", said(cliTexts(lang).noModel));
      return models(choice);
    };
    const same = { model, apart: true, ...(given.runner && { runner: given.runner }) };
    const agent = createAgent({ ...folder.parts, ...same });
    const executor: Agent["executor"] = async (...turn) => {
      const { parts, warnings } = await withModules(folder, lang);
      for (const warning of warnings) warnOnce(warning);
      return createAgent({ ...parts, ...same }).executor(...turn);
    };
    return { agent: folder.config.modules.length === 0 ? agent : { ...agent, executor }, options: folder.options };
  };
  const installed = readInstallation(env);
  const small = smallModelOf(installed);
  const host = assembleEach(store, runOf, {
    guard,
    personOf,
    ...{ letsGo: given.letsGo, elsewhere: given.elsewhere, sleepAfterMs: given.sleepAfterMs },
    namer: small && (() => models(small)),
    turnEnded: anchoring(store, installed),
    home: hostHome(installed.home, env),
    surroundings: surroundingsOf({
      ...{ store, lang, models },
      installation: () => readInstallation(env),
      folder: ({ cwd }) => folderParts({ installation: readInstallation(env), cwd, lang, models }),
      choice: ({ id }, named) => modelOf(readInstallation(env), named ?? modelOfSession(store, id) ?? spec),
      ...(folders && { folders }),
    }),
  });
  let waiting: Recovered | undefined;
  let leaveTime: (() => void) | undefined;
  return {
    host: {
      ...host,
      send: remembering(host, own, begins),
      close() {
        waiting?.stop();
        leaveTime?.();
        return host.close();
      },
    },
    async recover() {
      leaveTime ??= keepTime(store);
      const all = (own?.list("session/") ?? []).map(({ key }) => key.slice("session/".length));
      const isUnderWay = (id: string) => {
        const row = store.session(id);
        return row !== undefined && (row.open || row.unheard);
      };
      const { true: sessions = [], false: ended = [] } = Object.groupBy(all, (id) => `${isUnderWay(id)}` as const);
      for (const id of ended) own?.delete(`session/${id}`);
      for (const id of sessions) begins?.(id);
      return (waiting = await recover(store, host, sessions));
    },
  };
}

/** A session becomes the daemon's before anything is said in it. */
function remembering(host: Host, own: SurfaceStore | undefined, begins: DaemonParts["begins"]): Host["send"] {
  return (command) => {
    if (command.type === "say" || command.type === "resume") {
      own?.set(`session/${command.session}`, true);
      begins?.(command.session);
    }
    return host.send(command);
  };
}
