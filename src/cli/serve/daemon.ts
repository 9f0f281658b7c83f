import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { workspacesOf, readInstallation, type Installation } from "../../config/home/home.ts";
import { isRemote } from "../../config/remote-repository.ts";
import { createAgent } from "../../host/assembly/agent.ts";
import type { Agent } from "../../host/assembly/agent-parts.ts";
import { readFolder, withModules } from "../../host/assembly/builder.ts";
import { clearAfterKills } from "../../host/assembly/agent.ts";
import { assembleEach } from "../../host/assembly/assemble.ts";
import type { Guard, PersonOf } from "../../host/guard.ts";
import type { LocalHost } from "../../host/host.ts";
import { recover, type Recovered, watchEscalations } from "../../host/recovery.ts";
import type { SessionRow, Store } from "../../journal/store/store.ts";
import type { Model } from "../../models/model.ts";
import type { CommandRunner } from "../../tools/process/command-runner.ts";
import type { WorkFolder } from "../../protocol/host/about.ts";
import type { Host } from "../../protocol/host/host.ts";
import type { ExecutionOptions } from "../../protocol/host/options.ts";
import type { SurfaceStore } from "../../protocol/host/surface-store.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { serveTexts } from "../../texts/serve/serve.ts";
import { createModels, modelOf, modelOfSession, smallModelOf } from "../../host/assembly/model-choice.ts";
import { hostHome } from "../host/host-home.ts";
import { sessionEnvironment } from "../assemble/session-environment.ts";
import { anchorEndedTurns, folderWarnings, ownCommands, taskEnds } from "../assemble/open-sage.ts";

export type DaemonParts = {
  store: Store;
  /** The sessions that are this daemon's: it continues these after a restart, and no others. Without it, others see to that. */
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
  /** Folders in which remote people may open sessions. */
  folders?(): WorkFolder[];
  /** Called before a message is sent to a session, or it is resumed. */
  begins?(session: string): void;
  /** Keeps commands that outlive this process. */
  runner?: CommandRunner | undefined;
} & Pick<NonNullable<Parameters<typeof assembleEach>[2]>, "letsGo" | "elsewhere" | "sleepAfterMs">;

type Run = { agent: Agent; options: Partial<ExecutionOptions> };

const isOfRemote = (code: string) => code.startsWith("remote-") || code.startsWith("clone-");

/** A host for sessions in many folders. Settings are read when a turn begins, as a new process would read them. */
export function openDaemon(parts: DaemonParts): { host: LocalHost; recover(): Promise<Recovered> } {
  const { store, own, env, lang, spec, guard, personOf, folders, begins } = parts;
  const models = createModels();
  const installed = readInstallation(env);
  const leaving = new AbortController();
  const folderOf = (cwd: string) => localFolder(cwd, parts, installed);
  const runOf = createRuns({ parts, models, installed, folderOf, leaving: leaving.signal });
  const small = smallModelOf(installed);
  void clearAfterKills(installed.home.dir);
  const host = assembleEach(store, runOf, {
    guard,
    personOf,
    letsGo: parts.letsGo,
    elsewhere: parts.elsewhere,
    sleepAfterMs: parts.sleepAfterMs,
    namer: small && (() => models(small)),
    turnEnded: anchorEndedTurns(store, installed),
    ...(!parts.elsewhere && { taskEnds: taskEnds(installed.settings) }),
    home: hostHome(installed.home, env),
    surroundings: sessionEnvironment({
      store,
      lang,
      models,
      installation: () => readInstallation(env),
      folder: ({ cwd }) =>
        readFolder({
          installation: readInstallation(env),
          models,
          code: ownCommands(lang),
          cwd: isRemote(cwd) ? folderOf(cwd) : cwd,
        }),
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
        leaving.abort(new Error("this process leaves"));
        waiting?.stop();
        leaveTime?.();
        return host.close();
      },
    },
    async recover() {
      leaveTime ??= watchEscalations(store);
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

/** The folder on this machine. Sessions whose folder is elsewhere, or has yet to be made, have an empty one. */
function localFolder(cwd: string, { elsewhere, lang }: DaemonParts, { home }: Installation): string {
  if (!isRemote(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return cwd;
  if (!elsewhere && !isRemote(cwd)) throw new SageError("config-invalid", said(serveTexts(lang).folderGone(cwd)));
  const nowhere = join(home.dir, "nowhere");
  mkdirSync(nowhere, { recursive: true, mode: 0o500 });
  return nowhere;
}

type RunParts = {
  parts: DaemonParts;
  models: ReturnType<typeof createModels>;
  installed: Installation;
  folderOf(cwd: string): string;
  /** Aborted when this process leaves. */
  leaving: AbortSignal;
};

/** Agents and options for sessions, made when their turns begin. */
function createRuns({ parts, models, installed, folderOf, leaving }: RunParts): (row: SessionRow) => Run {
  const { store, env, lang, spec } = parts;
  const warned = new Set<string>();
  const warnOnce = (text: string) => {
    if (warned.has(text)) return;
    warned.add(text);
    parts.warn(text);
  };
  /** Makes the session's folder when its first turn begins. A turn without one says why, and the next begins with another try. */
  const cloned = (row: SessionRow): Run => {
    const run = runIn(row, folderOf(row.cwd));
    const executor: Agent["executor"] = async (session, settings, scope) => {
      const { makeWorkspace } = await import("../../host/clones.ts");
      const { settings: personal, env: own } = readInstallation(env);
      const folder = workspacesOf(installed.home);
      try {
        const options = { folder, allowed: personal.remotes ?? [], env: own, signal: leaving };
        const cwd = await makeWorkspace(store, row.id, row.cwd, options);
        const made = runIn({ ...row, cwd }, cwd);
        return await made.agent.executor(session, { options: made.options }, scope);
      } catch (error) {
        const failed = error instanceof SageError && error.reason !== undefined && isOfRemote(error.reason.code);
        if (!failed || store.opened(row.id)?.agent !== undefined) throw error;
        const model: Model = { id: "none", reply: () => Promise.reject(error) };
        return runIn(row, folderOf(row.cwd), async () => model).agent.executor(session, settings, scope);
      }
    };
    return { ...run, agent: { ...run.agent, executor } };
  };
  const runIn = ({ id, ...row }: SessionRow, cwd: string, other = parts.model): Run => {
    const installation = readInstallation(env);
    const folder = readFolder({ installation, cwd, models, code: ownCommands(lang) });
    for (const warning of folderWarnings(folder, lang)) warnOnce(warning);
    const model = async () => {
      if (other) return other();
      const choice = modelOf(installation, modelOfSession(store, id) ?? spec);
      if (!choice) throw new SageError("model-unavailable", said(cliTexts(lang).noModel));
      return models(choice);
    };
    const shared = { model, apart: true, ...(parts.runner && { runner: parts.runner }) };
    const agent = createAgent({ ...folder.parts, ...shared });
    const placed = { id, ...row, cwd };
    const executor: Agent["executor"] = async (_, ...turn) => {
      if (folder.config.modules.length === 0) return agent.executor(placed, ...turn);
      const whole = await withModules(folder);
      for (const warning of folderWarnings(whole, lang)) warnOnce(warning);
      return createAgent({ ...whole.parts, ...shared }).executor(placed, ...turn);
    };
    return { agent: { ...agent, executor }, options: folder.options };
  };
  return (row) => {
    const now = isRemote(row.cwd) ? (store.session(row.id) ?? row) : row;
    return isRemote(now.cwd) ? cloned(now) : runIn(now, folderOf(now.cwd));
  };
}

/** The daemon adopts a session before its first message there. */
function remembering(host: Host, own: SurfaceStore | undefined, begins: DaemonParts["begins"]): Host["send"] {
  return (command) => {
    if (command.type === "say" || command.type === "resume") {
      own?.set(`session/${command.session}`, true);
      begins?.(command.session);
    }
    return host.send(command);
  };
}
