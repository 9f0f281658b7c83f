import type { ContentBlock, InitializeResponse, SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import {
  isOutsideSession,
  messageOf as errorMessage,
  oneLine,
  refusalOf,
  sessionModes,
  type Host,
  type Sender,
  type SessionAbout,
} from "../../protocol/index.ts";
import { listIssues } from "../../protocol/issue.ts";
import * as z from "../../protocol/z.ts";
import { acpTexts } from "../../texts/acp.ts";
import { errorText } from "../../texts/error.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/texts.ts";
import type { Progress } from "../../view/progress.ts";
import { titleOf } from "../../view/summary.ts";
import { commandsOf, configOf, modesOf, offeredModels } from "./config.ts";
import { codeOf, codes, Refusal, type Editor } from "./editor.ts";
import type { Words } from "./input.ts";
import { messageOf } from "./prompt.ts";
import { followSession, send, type Session } from "./session.ts";

export type { Editor } from "./editor.ts";

const PROTOCOL = 1;
const PAGE = 50;

export type AcpOptions = {
  version: string;
  lang: Lang;
  /** The person's name. */
  by: string;
  /** For new sessions. */
  model?: string | undefined;
  /** May a session work there? Throws the reason why not. */
  checkFolder(cwd: string): string;
  signal: AbortSignal;
};

type Params = Record<string, unknown>;
type Setup = { modes: SessionModeState; configOptions: SessionConfigOption[] };

/** Sage as an agent that an editor runs, until the editor goes. The same sessions stay open to every other surface. */
export async function attachAcp(host: Host, editor: Editor, options: AcpOptions): Promise<void> {
  const words: Words = { t: texts(options.lang), w: acpTexts(options.lang) };
  const me: Sender = { by: options.by, surface: "acp" };
  const sessions = new Map<string, Session>();
  /** Prompts that have not ended, by the editor's id of the request. */
  const prompting = new Map<string | number, string>();
  let form: boolean | undefined;
  let offered: Promise<string[]> | undefined;

  const follow = (session: string, replay: boolean): Session => {
    const found = followSession(
      { host, editor, words, me, form: form === true, signal: options.signal, changed },
      session,
      { replay },
    );
    sessions.set(session, found);
    return found;
  };
  const sessionOf = (id: string): Session => {
    const found = sessions.get(id);
    if (!found) throw new Refusal(codes.notFound, `session ${oneLine(id)} is not loaded`);
    return found;
  };
  const about = async (session: string, prompts = false): Promise<SessionAbout | undefined> => {
    const reply = await host.send({ type: "about", session, ...(prompts && { prompts }) });
    return reply.ok ? reply.session : undefined;
  };
  const setupOf = async (session: string, { mode }: Progress, models: readonly string[]): Promise<Setup> => {
    const model = (await about(session))?.model ?? "";
    return { modes: modesOf(mode, words.w), configOptions: configOf({ mode, model, offered: models }, words.w) };
  };
  const update = (session: string, what: object) =>
    editor.notify("session/update", { sessionId: session, update: what });

  const changed = (session: string, progress: Progress): void => {
    void (async () => {
      const { configOptions } = await setupOf(session, progress, await (offered ?? []));
      update(session, { sessionUpdate: "config_option_update", configOptions });
    })().catch(() => {});
  };

  /** Everything that may take a while comes after the session is there. */
  const furnish = (session: string, progress: Progress): void => {
    void (async () => {
      const told = (found: SessionAbout | undefined) =>
        update(session, {
          sessionUpdate: "available_commands_update",
          availableCommands: commandsOf(found, words.w),
        });
      told(await about(session));
      const found = await about(session, true);
      if ((found?.prompts?.length ?? 0) > 0) told(found);
      offered ??= offeredModels(host);
      if ((await offered).length > 0) changed(session, progress);
    })().catch(() => {});
  };

  const begin = async (session: string, replay: boolean): Promise<Setup> => {
    const followed = follow(session, replay);
    await followed.ready.catch((error: unknown) => {
      if (sessions.get(session) === followed) sessions.delete(session);
      throw error;
    });
    const setup = await setupOf(session, followed.progress, []);
    setImmediate(() => furnish(session, followed.progress)); // after the reply
    return setup;
  };

  const goOn = async (given: Params, replay: boolean): Promise<Setup> => {
    const { sessionId } = read(z.looseObject({ sessionId: text, cwd: text }), given);
    if (isOutsideSession(sessionId)) throw new Refusal(codes.notFound, `no session ${oneLine(sessionId)}`);
    await send(host, words, { type: "sessions", session: sessionId });
    sessions.get(sessionId)?.leave();
    return begin(sessionId, replay);
  };

  const methods: Record<string, (params: Params, id?: string | number) => Promise<object>> = {
    async initialize(given) {
      const { clientCapabilities } = read(
        z.looseObject({
          protocolVersion: z.number(),
          clientCapabilities: z.looseObject({ elicitation: z.unknown().optional() }).optional(),
        }),
        given,
      );
      const elicitation = clientCapabilities?.elicitation as { form?: unknown } | null | undefined;
      form = elicitation?.form !== undefined && elicitation.form !== null;
      return {
        protocolVersion: PROTOCOL,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: false, sse: false },
          sessionCapabilities: { list: {}, resume: {} },
        },
        authMethods: [],
        agentInfo: { name: "sage", title: "Sage", version: options.version },
      } satisfies InitializeResponse;
    },
    async authenticate() {
      return {};
    },
    async "session/new"(given) {
      const { cwd } = read(z.looseObject({ cwd: text }), given);
      const { model } = options;
      const opened = { cwd: folder(cwd), ...(model !== undefined && { model }) };
      const { session } = await send(host, words, { type: "open", ...opened });
      return { sessionId: session, ...(await begin(session, false)) };
    },
    "session/load": (given) => goOn(given, true),
    "session/resume": (given) => goOn(given, false),
    async "session/list"(given) {
      const { cwd, cursor } = read(
        z.looseObject({ cwd: text.nullable().optional(), cursor: text.nullable().optional() }),
        given,
      );
      const page = { limit: PAGE, ...(cursor && { after: cursor }) };
      const found = (await send(host, words, { type: "sessions", ...page })).sessions;
      const last = found.length < PAGE ? undefined : found.at(-1)?.id;
      const shown = found.filter((one) => !isOutsideSession(one.id) && one.title !== "" && (!cwd || one.cwd === cwd));
      return {
        sessions: shown.map((one) => ({
          ...{ sessionId: one.id, cwd: one.cwd, title: oneLine(titleOf(one)) },
          updatedAt: new Date(one.lastAt).toISOString(),
        })),
        ...(last !== undefined && { nextCursor: last }),
      };
    },
    async "session/prompt"(given, id) {
      const { sessionId, prompt } = read(
        z.looseObject({ sessionId: text, prompt: z.array(z.looseObject({ type: text })) }),
        given,
      );
      const session = sessionOf(sessionId);
      const said = messageOf(prompt as unknown as ContentBlock[]);
      if (id !== undefined) prompting.set(id, sessionId);
      try {
        return { stopReason: await session.prompt(said.text, said.images) };
      } finally {
        if (id !== undefined) prompting.delete(id);
      }
    },
    async "session/set_mode"(given) {
      const { sessionId, modeId } = read(z.looseObject({ sessionId: text, modeId: z.enum(sessionModes) }), given);
      sessionOf(sessionId);
      await send(host, words, { type: "chooseMode", session: sessionId, mode: modeId, ...me });
      return {};
    },
    async "session/set_config_option"(given) {
      const { sessionId, configId, value } = read(
        z.looseObject({ sessionId: text, configId: z.enum(["mode", "model"]), value: text }),
        given,
      );
      const { progress } = sessionOf(sessionId);
      if (configId === "model")
        await send(host, words, { type: "choose", session: sessionId, model: value, checked: true, ...me });
      else {
        const mode = read(z.enum(sessionModes), value);
        await send(host, words, { type: "chooseMode", session: sessionId, mode, ...me });
        const { configOptions } = await setupOf(sessionId, { ...progress, mode }, await (offered ?? []));
        return { configOptions };
      }
      return { configOptions: (await setupOf(sessionId, progress, await (offered ?? []))).configOptions };
    },
  };

  const notifications: Record<string, (params: Params) => Promise<void>> = {
    async "session/cancel"(given) {
      const { sessionId } = read(z.looseObject({ sessionId: text }), given);
      await sessions.get(sessionId)?.cancel();
    },
    /** The editor takes back its own request: of those that wait, a prompt. */
    async "$/cancel_request"(given) {
      const { requestId } = read(z.looseObject({ requestId: z.union([text, z.number()]) }), given);
      const session = prompting.get(requestId);
      if (session !== undefined) await sessions.get(session)?.cancel();
    },
  };

  const folder = (cwd: string): string => {
    try {
      return options.checkFolder(cwd);
    } catch (error) {
      throw new Refusal(codes.paramsInvalid, errorMessage(error));
    }
  };

  const answer = async (id: string | number, method: string, params: Params): Promise<void> => {
    try {
      const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!handle) throw new Refusal(codes.methodUnknown, `unknown method: ${oneLine(method).slice(0, 100)}`);
      if (form === undefined && method !== "initialize") throw new Refusal(codes.invalidRequest, "initialize first");
      editor.reply(id, await handle(params, id));
    } catch (error) {
      if (error instanceof Refusal) return editor.refuse(id, error.code, error.message);
      const refusal = refusalOf(error);
      editor.refuse(id, codeOf(refusal.code), errorText(refusal, words.t));
    }
  };

  for await (const { id, method, params } of editor.incoming) {
    if (id !== undefined) void answer(id, method, params);
    else if (Object.hasOwn(notifications, method)) void notifications[method]?.(params).catch(() => {});
  }
}

const text = z.string();

function read<T>(schema: z.Schema<T>, given: unknown): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new Refusal(codes.paramsInvalid, `invalid parameters: ${listIssues(parsed.error)}`);
}
