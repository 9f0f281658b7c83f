import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { oneLine } from "../../base/visible.ts";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { callOfKey, splitRequestId } from "../../protocol/key.ts";
import type { Sender } from "../../protocol/sender.ts";
import { errorText } from "../../texts/shared/error.ts";
import { whyOf } from "../../view/request/answering.ts";
import { originLines } from "../../view/request/origin.ts";
import { silenceLines } from "../../view/request/silence.ts";
import { nameOf } from "../../view/items/summary.ts";
import type { FollowedSession } from "../../view/session.ts";
import type { Editor } from "./editor.ts";
import { chatAnswer, chatText, formAnswer, wayOf, type Button, type Words } from "./input.ts";
import { requestedCall, text } from "./tool-call.ts";

/** Tries for an answer that fits; then the request is left to other surfaces. */
const MAX_TRIES = 5;

type Asking = {
  /** A request is open: the editor asks, in the way it can. */
  open(request: InputRequest): void;
  /** It has ended, here or elsewhere: the editor's question folds. */
  ended(id: string): void;
  /** The editor's questions fold; the requests stay open. */
  leave(): void;
  /** Does the conversation ask for an answer? Then the next message is it. */
  waitsForMessage(): boolean;
  /** False where the answer was refused, and asked for again. */
  answer(message: string): Promise<boolean>;
};

type AskingParts = {
  session: FollowedSession;
  editor: Editor;
  words: Words;
  me: Sender;
  form: boolean;
  cwd(): string;
  tell(update: SessionUpdate): void;
  /** The conversation asks a question now: prompts that wait for the turn's end return. */
  asksInChat(): void;
};

/** Open requests of one session, each asked by the editor's own means until somebody has answered it, wherever they are. */
export function createAsking(parts: AskingParts): Asking {
  const { session, words, me, tell } = parts;
  const shown = new Map<string, AbortController>();
  const chatting: InputRequest[] = [];

  const say = (said: string) =>
    tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `\n\n${said}\n\n` } });

  /** In the conversation one is asked at a time. */
  const chat = (request: InputRequest) => {
    if (chatting.some(({ id }) => id === request.id)) return;
    if (chatting.push(request) === 1) askNext();
  };
  const askNext = () => {
    const [first] = chatting;
    if (!first) return;
    say(chatText(first, words));
    parts.asksInChat();
  };

  /** Undefined where the answer was taken, or came too late. */
  const respond = async (response: InputResponse): Promise<string | undefined> => {
    const reply = await session.send({ type: "respond", response, ...me });
    if (reply.ok || reply.code === "request-resolved") return undefined;
    return words.w.notTaken(oneLine(errorText(reply, words.t)));
  };

  const present = async (request: InputRequest, signal: AbortSignal): Promise<void> => {
    for (let n = 0; n < MAX_TRIES && !signal.aborted; n++) {
      const way = wayOf(request, words, { form: parts.form });
      if (way.type === "chat") return chat(request);
      const response =
        way.type === "buttons"
          ? await chosen(parts, request, way.buttons, signal)
          : await filled(parts, request, way.schema, signal);
      if (signal.aborted || response === undefined) return;
      if (response === "cannot") return request.kind === "permission" ? undefined : chat(request);
      const problem = await respond(response);
      if (problem === undefined) return;
      say(problem);
    }
  };

  return {
    open(request) {
      if (shown.has(request.id)) return;
      const open = new AbortController();
      shown.set(request.id, open);
      void present(request, open.signal).catch(() => {});
    },
    ended(id) {
      shown.get(id)?.abort();
      shown.delete(id);
      const at = chatting.findIndex((request) => request.id === id);
      if (at < 0) return;
      chatting.splice(at, 1);
      if (at === 0) askNext();
    },
    leave() {
      for (const open of shown.values()) open.abort();
    },
    waitsForMessage: () => chatting.length > 0,
    async answer(message) {
      const [request] = chatting;
      if (!request) return false;
      const problem = await respond(chatAnswer(request, message));
      if (problem === undefined) return true;
      say(problem);
      askNext();
      return false;
    },
  };
}

/** Undefined where the editor put the question aside: a dismissal is no answer, and it stays open for everybody else. */
async function chosen(
  { session, editor, words, cwd }: AskingParts,
  request: InputRequest,
  buttons: readonly Button[],
  signal: AbortSignal,
): Promise<InputResponse | "cannot" | undefined> {
  const toolCall = { toolCallId: callIdOf(request), ...askedAs(request, words, cwd()) };
  const options = buttons.map(({ option }) => option);
  const params = { sessionId: session.id, toolCall, options };
  const reply = await editor.request("session/request_permission", params, signal).catch(() => undefined);
  if (!reply) return "cannot";
  const { outcome, optionId } = (reply["outcome"] ?? {}) as { outcome?: unknown; optionId?: unknown };
  if (outcome !== "selected") return undefined;
  return buttons.find(({ option }) => option.optionId === optionId)?.response;
}

async function filled(
  { session, editor, words }: AskingParts,
  request: InputRequest,
  requestedSchema: object,
  signal: AbortSignal,
): Promise<InputResponse | "cannot" | undefined> {
  const call = callOfKey(splitRequestId(request.id).key);
  const params = {
    mode: "form",
    sessionId: session.id,
    ...(call !== undefined && { toolCallId: call }),
    message: askText(request, words),
    requestedSchema,
  };
  const reply = await editor.request("elicitation/create", params, signal).catch(() => undefined);
  if (reply?.["action"] === "accept") return formAnswer(request, (reply["content"] ?? {}) as Record<string, unknown>);
  if (reply?.["action"] === "decline") return { type: "denied", requestId: request.id };
  return "cannot"; // closed without a word: it can still be answered in the conversation
}

/** The call that asks, as the editor knows it; a question of Sage's own stands by itself. */
function callIdOf({ id }: InputRequest): string {
  return callOfKey(splitRequestId(id).key) ?? id;
}

function askedAs(request: InputRequest, words: Words, cwd: string) {
  if (request.kind === "permission") {
    const { content = [], ...call } = requestedCall(request, cwd);
    const about = askText(request, words);
    return { ...call, content: [...content, ...(about === "" ? [] : [text(about)])] };
  }
  const title = oneLine(nameOf(request, words.t));
  return { title, kind: "think" as const, status: "pending" as const, content: [text(askText(request, words))] };
}

/** Why, by whom and for how long it is asked; of questions also the whole question. */
function askText(request: InputRequest, { t }: Words): string {
  const why = whyOf(request);
  const questions = request.kind === "question" ? request.questions.map((question) => t.question(question)) : [];
  return [
    ...questions.flatMap(({ question, options }) => [
      question,
      ...options.flatMap(({ label, description }) => (description.trim() === "" ? [] : [`${label} — ${description}`])),
    ]),
    ...(request.kind === "text" ? [request.prompt] : []),
    ...originLines(request, t),
    ...(why === undefined ? [] : [t.because(why)]),
    ...(t.source[request.source] === "" ? [] : [t.source[request.source]]),
    ...(request.agent.length > 0 ? [t.agent(request.agent)] : []),
    ...(request.deadline ? silenceLines(request, t) : []),
  ].join("\n");
}
