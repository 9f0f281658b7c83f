import type { ContentBlock, InitializeResponse } from "@agentclientprotocol/sdk";
import { listIssues } from "../../base/issue.ts";
import { oneLine } from "../../base/visible.ts";
import type { Host } from "../../protocol/host/host.ts";
import { isOutsideSession } from "../../protocol/host/outside.ts";
import { refusalOf } from "../../protocol/host/refusal.ts";
import { sessionModes } from "../../protocol/mode.ts";
import type { Sender } from "../../protocol/sender.ts";
import * as z from "../../base/z.ts";
import { slashTexts } from "../../texts/surfaces/slash.ts";
import { acpTexts } from "../../texts/surfaces/acp.ts";
import { errorText, thrownText } from "../../texts/shared/error.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { titleOf } from "../../view/items/summary.ts";
import { rpcCode, codes, type Editor, Refusal, send } from "./editor.ts";
import type { Words } from "./input.ts";
import { createSessions } from "./sessions.ts";
import type { GivenImage } from "../../protocol/image.ts";

const PROTOCOL = 1;
const PAGE = 50;

type AcpOptions = {
  version: string;
  lang: Lang;
  by: string;
  model?: string | undefined;
  /** May a session work there? Throws the reason why not. */
  checkFolder(cwd: string): string;
  signal: AbortSignal;
};

type Params = Record<string, unknown>;

/** Sage as an agent that an editor runs, until the editor goes. The same sessions stay open to every other surface. */
export async function attachAcp(host: Host, editor: Editor, options: AcpOptions): Promise<void> {
  const { lang } = options;
  const words: Words = { t: texts(lang), w: acpTexts(lang), slash: slashTexts(lang) };
  const me: Sender = { by: options.by, surface: "acp" };
  const prompting = new Map<string | number, string>();
  let form: boolean | undefined;
  const parts = { host, editor, words, me, form: () => form === true, signal: options.signal };
  const sessions = createSessions(parts);
  const initialized = (elicits: boolean) => void (form = elicits);
  const methods = createMethods({ host, words, me, sessions, prompting, initialized, options });

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

  const answer = async (id: string | number, method: string, params: Params): Promise<void> => {
    try {
      const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!handle) throw new Refusal(codes.methodUnknown, `unknown method: ${oneLine(method).slice(0, 100)}`);
      if (form === undefined && method !== "initialize") throw new Refusal(codes.invalidRequest, "initialize first");
      editor.reply(id, await handle(params, id));
    } catch (error) {
      if (error instanceof Refusal) return editor.refuse(id, error.code, error.message);
      const refusal = refusalOf(error);
      editor.refuse(id, rpcCode(refusal.code), errorText(refusal, words.t));
    }
  };

  for await (const { id, method, params } of editor.incoming) {
    if (id !== undefined) void answer(id, method, params);
    else if (Object.hasOwn(notifications, method)) void notifications[method]?.(params).catch(() => {});
  }
}

type Methods = Record<string, (params: Params, id?: string | number) => Promise<object>>;

type MethodParts = {
  host: Host;
  words: Words;
  me: Sender;
  sessions: ReturnType<typeof createSessions>;
  /** Prompts that have not ended, by the editor's id of the request. */
  prompting: Map<string | number, string>;
  /** Told whether the editor has forms. */
  initialized(elicits: boolean): void;
  options: AcpOptions;
};

/** Requests of the editor, by their names in the protocol. */
function createMethods({ host, words, me, sessions, prompting, initialized, options }: MethodParts): Methods {
  const resume = (given: Params, replay: boolean) =>
    sessions.resume(read(z.looseObject({ sessionId: text, cwd: text }), given).sessionId, replay);
  const folder = (cwd: string): string => {
    try {
      return options.checkFolder(cwd);
    } catch (error) {
      throw new Refusal(codes.paramsInvalid, thrownText(error));
    }
  };

  return {
    async initialize(given) {
      const { clientCapabilities } = read(
        z.looseObject({
          protocolVersion: z.number(),
          clientCapabilities: z.looseObject({ elicitation: z.unknown().optional() }).optional(),
        }),
        given,
      );
      const elicitation = clientCapabilities?.elicitation as { form?: unknown } | null | undefined;
      initialized(elicitation?.form !== undefined && elicitation.form !== null);
      return greeting(options.version);
    },
    async authenticate() {
      return {};
    },
    async "session/new"(given) {
      const { cwd } = read(z.looseObject({ cwd: text }), given);
      const { model } = options;
      const opened = { cwd: folder(cwd), ...(model !== undefined && { model }) };
      const { session } = await send(host, words, { type: "open", ...opened });
      return { sessionId: session, ...(await sessions.begin(session, false)) };
    },
    "session/load": (given) => resume(given, true),
    "session/resume": (given) => resume(given, false),
    "session/list": (given) => listSessions(host, words, given),
    async "session/prompt"(given, id) {
      const { sessionId, prompt } = read(
        z.looseObject({ sessionId: text, prompt: z.array(z.looseObject({ type: text })) }),
        given,
      );
      const session = sessions.of(sessionId);
      const said = readPrompt(prompt as unknown as ContentBlock[]);
      if (id !== undefined) prompting.set(id, sessionId);
      try {
        return { stopReason: await session.prompt(said.text, said.images) };
      } finally {
        if (id !== undefined) prompting.delete(id);
      }
    },
    async "session/set_mode"(given) {
      const { sessionId, modeId } = read(z.looseObject({ sessionId: text, modeId: z.enum(sessionModes) }), given);
      sessions.of(sessionId);
      await send(host, words, { type: "chooseMode", session: sessionId, mode: modeId, ...me });
      return {};
    },
    async "session/set_config_option"(given) {
      const { sessionId, configId, value } = read(
        z.looseObject({ sessionId: text, configId: z.enum(["mode", "model"]), value: text }),
        given,
      );
      const { progress } = sessions.of(sessionId);
      if (configId === "model") {
        await send(host, words, { type: "choose", session: sessionId, model: value, checked: true, ...me });
        return { configOptions: (await sessions.setupOf(sessionId, progress)).configOptions };
      }
      const mode = read(z.enum(sessionModes), value);
      await send(host, words, { type: "chooseMode", session: sessionId, mode, ...me });
      return { configOptions: (await sessions.setupOf(sessionId, { ...progress, mode })).configOptions };
    },
  };
}

function greeting(version: string): InitializeResponse {
  return {
    protocolVersion: PROTOCOL,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: false, sse: false },
      sessionCapabilities: { list: {}, resume: {} },
    },
    authMethods: [],
    agentInfo: { name: "sage", title: "Sage", version },
  };
}

async function listSessions(host: Host, words: Words, given: Params): Promise<object> {
  const { cwd, cursor } = read(
    z.looseObject({ cwd: text.nullable().optional(), cursor: text.nullable().optional() }),
    given,
  );
  const page = { limit: PAGE, ...(cursor && { after: cursor }) };
  const found = (await send(host, words, { type: "sessions", ...page })).sessions;
  const last = found.length < PAGE ? undefined : found.at(-1)?.id;
  const shown = found.filter(
    (session) => !isOutsideSession(session.id) && session.title !== "" && (!cwd || session.cwd === cwd),
  );
  return {
    sessions: shown.map((session) => ({
      sessionId: session.id,
      cwd: session.cwd,
      title: oneLine(titleOf(session)),
      updatedAt: new Date(session.lastAt).toISOString(),
    })),
    ...(last !== undefined && { nextCursor: last }),
  };
}

const text = z.string();

function read<T>(schema: z.Schema<T>, given: unknown): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new Refusal(codes.paramsInvalid, `invalid parameters: ${listIssues(parsed.error)}`);
}

/** A prompt of the editor as a message: what was attached follows the words, marked by where it came from. */
export function readPrompt(blocks: readonly ContentBlock[]): { text: string; images: GivenImage[] } {
  const texts: string[] = [];
  const attached: string[] = [];
  const images: GivenImage[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        texts.push(block.text);
        break;
      case "image":
        images.push({ name: nameIn(block.uri ?? "") || `image-${images.length + 1}`, data: block.data });
        break;
      case "resource_link":
        texts.push(pathFrom(block.uri));
        break;
      case "resource":
        if ("text" in block.resource) attached.push(fenced(pathFrom(block.resource.uri), block.resource.text));
        else attached.push(pathFrom(block.resource.uri));
        break;
      case "audio":
        break; // no model of ours hears
      default:
        block satisfies never;
    }
  }
  return { text: [texts.join(""), ...attached].filter((part) => part !== "").join("\n\n"), images };
}

/** A file by its path, anything else by its address. */
function pathFrom(uri: string): string {
  try {
    const { protocol, pathname } = new URL(uri);
    return protocol === "file:" ? decodeURIComponent(pathname) : uri;
  } catch {
    return uri;
  }
}

function nameIn(uri: string): string {
  return pathFrom(uri).split("/").at(-1) ?? "";
}

/** The fence is longer than any in the text. */
function fenced(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${name}\n${text.replace(/\n$/, "")}\n${fence}`;
}
