import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { oneLine } from "../../base/visible.ts";
import type { SessionAbout } from "../../protocol/host/about.ts";
import type { Host } from "../../protocol/host/host.ts";
import { isOutsideSession } from "../../protocol/host/outside.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { Progress } from "../../view/transcript/progress.ts";
import { ownNames } from "../../view/slash/read.ts";
import { codes, type Editor, Refusal, send } from "./editor.ts";
import type { Words } from "./input.ts";
import { toCommands, editSession, type Session } from "./session.ts";
import { sessionModes, type SessionMode } from "../../protocol/mode.ts";
import type { AcpTexts } from "../../texts/surfaces/acp.ts";

/** Modes and options of a session, as the editor shows them. */
type Setup = { modes: SessionModeState; configOptions: SessionConfigOption[] };

type Sessions = {
  get(id: string): Session | undefined;
  /** The session; refused where the editor has not loaded it. */
  of(id: string): Session;
  /** Follows a new or existing session. `replay`: sends its past to the editor. */
  begin(session: string, replay: boolean): Promise<Setup>;
  resume(session: string, replay: boolean): Promise<Setup>;
  setupOf(session: string, progress: Readonly<Progress>): Promise<Setup>;
};

type SessionsParts = {
  host: Host;
  editor: Editor;
  words: Words;
  me: Sender;
  form(): boolean;
  signal: AbortSignal;
};

export function createSessions({ host, editor, words, me, form, signal }: SessionsParts): Sessions {
  const sessions = new Map<string, Session>();
  let offered: Promise<string[]> | undefined;

  const about = async (session: string, prompts = false): Promise<SessionAbout | undefined> => {
    const reply = await host.send({ type: "about", session, ...(prompts && { prompts }) });
    return reply.ok ? reply.session : undefined;
  };
  const setupOf = async (session: string, { mode }: Progress, models?: readonly string[]): Promise<Setup> => {
    const choice = { mode, offered: models ?? (await (offered ?? [])), model: (await about(session))?.model ?? "" };
    return { modes: modesOf(mode, words.w), configOptions: configOf(choice, words.w) };
  };
  const update = (session: string, what: object) =>
    editor.notify("session/update", { sessionId: session, update: what });

  const changed = (session: string, progress: Readonly<Progress>): void => {
    void (async () => {
      const { configOptions } = await setupOf(session, progress);
      update(session, { sessionUpdate: "config_option_update", configOptions });
    })().catch(() => {});
  };

  /** Tells the editor, after the session is there, what may take a while to find out. */
  const furnish = (session: string, { progress, offer }: Session): void => {
    void (async () => {
      const told = (found: SessionAbout | undefined) => {
        offer.own = () => ownNames(found);
        const availableCommands = toCommands(offer, words.slash);
        update(session, { sessionUpdate: "available_commands_update", availableCommands });
      };
      told(await about(session));
      const found = await about(session, true);
      if ((found?.prompts?.length ?? 0) > 0) told(found);
      offered ??= offeredModels(host);
      if ((await offered).length > 0) changed(session, progress);
    })().catch(() => {});
  };

  const begin: Sessions["begin"] = async (session, replay) => {
    const followed = editSession({ host, editor, words, me, form: form(), signal, changed }, session, { replay });
    sessions.set(session, followed);
    await followed.ready.catch((error: unknown) => {
      if (sessions.get(session) === followed) sessions.delete(session);
      throw error;
    });
    const setup = await setupOf(session, followed.progress, []);
    setImmediate(() => furnish(session, followed)); // after the reply
    return setup;
  };
  return {
    begin,
    setupOf,
    get: (id) => sessions.get(id),
    of(id) {
      const found = sessions.get(id);
      if (!found) throw new Refusal(codes.notFound, `session ${oneLine(id)} is not loaded`);
      return found;
    },
    async resume(session, replay) {
      if (isOutsideSession(session)) throw new Refusal(codes.notFound, `no session ${oneLine(session)}`);
      await send(host, words, { type: "sessions", session });
      sessions.get(session)?.leave();
      return begin(session, replay);
    },
  };
}

/** Modes of a session, in the protocol's first form. */
function modesOf(mode: SessionMode, w: AcpTexts): SessionModeState {
  return { currentModeId: mode, availableModes: sessionModes.map((id) => ({ id, ...w.modes[id] })) };
}

/** Mode and model, in the form that newer editors prefer. */
function configOf({ mode, model, offered }: Chosen, w: AcpTexts): SessionConfigOption[] {
  const models = offered.includes(model) || model === "" ? offered : [model, ...offered];
  return [
    {
      type: "select",
      id: "mode",
      name: w.mode,
      category: "mode",
      currentValue: mode,
      options: sessionModes.map((value) => ({ value, ...w.modes[value] })),
    },
    ...(models.length === 0
      ? []
      : [
          {
            type: "select" as const,
            id: "model",
            name: w.model,
            category: "model" as const,
            currentValue: model,
            options: models.map((value) => ({ value, name: oneLine(value) })),
          },
        ]),
  ];
}

type Chosen = { mode: SessionMode; model: string; offered: readonly string[] };

/** Models of all providers that are set up, as they are named to choose one. Providers that do not answer have none. */
async function offeredModels(host: Host): Promise<string[]> {
  const reply = await host.send({ type: "models" });
  if (!reply.ok) return [];
  const lists = await Promise.all(
    reply.providers.map(async (provider) => {
      const reply = await host.send({ type: "models", provider });
      return reply.ok ? (reply.models ?? []) : [];
    }),
  );
  return lists.flat();
}
