import { randomUUID } from "node:crypto";
import type { AvailableCommand, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { oneLine } from "../../base/visible.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { TurnEnd } from "../../protocol/facts/outcome.ts";
import type { Host } from "../../protocol/host/host.ts";
import { saidKey } from "../../protocol/key.ts";
import { thrownText } from "../../texts/shared/error.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { Item } from "../../view/transcript/item.ts";
import { endNote } from "../../view/note.ts";
import { type Offer, readTypedSlash, slashLines, type TypedSlash, unknownSlash } from "../../view/slash/read.ts";
import { followSession, type FollowedSession, type SessionChange } from "../../view/session.ts";
import type { Progress } from "../../view/transcript/progress.ts";
import { createAsking } from "./asking.ts";
import { codes, type Editor, Refusal, refusalFrom } from "./editor.ts";
import type { Words } from "./input.ts";
import { createView } from "./view.ts";
import type { SlashTexts } from "../../texts/surfaces/slash.ts";
import { runSlash, type SlashWords, type Reply, type Typist } from "../../view/slash/run.ts";

type SessionParts = {
  host: Host;
  editor: Editor;
  words: Words;
  me: Sender;
  form: boolean;
  signal: AbortSignal;
  /** Mode or model of the session is another one now. */
  changed(session: string, progress: Readonly<Progress>): void;
};

export type Session = {
  /** All of its past was sent. */
  ready: Promise<void>;
  progress: Readonly<Progress>;
  /** Answers when the turn that hears the message has ended, or asks for an answer in the conversation. */
  prompt(text: string, images: readonly { name: string; data: string }[]): Promise<StopReason>;
  cancel(): Promise<void>;
  /** Everything that can be typed; the person's own names once they are known. */
  offer: Offer<"acp">;
  leave(): void;
};

/** A session as the editor sees it: items become updates, requests are asked, prompts end with their turns. */
export function editSession(parts: SessionParts, id: string, { replay }: { replay: boolean }): Session {
  const { host, editor, words, me } = parts;
  const left = new AbortController();
  const own = new Set<string>();
  const past = new Set<Item>();
  const waiting = createWaiting();
  const ready = Promise.withResolvers<void>();
  const tell = (update: SessionUpdate) => editor.notify("session/update", { sessionId: id, update });

  const resume = () => {
    if (session.run === "stopped") void session.send({ type: "resume", session: id }).catch(() => {});
  };
  const changed = (change: SessionChange) => {
    switch (change.type) {
      case "fact":
        if (change.past) return change.items.forEach((item) => past.add(item));
        for (const item of change.items) happened(item);
        return noted(change.fact);
      case "delta":
        for (const item of change.items) happened(item);
        if (change.refused)
          waiting.settle(new Refusal(codes.internal, words.t.because(change.delta.reason ?? change.delta.text)));
        return;
      case "request":
        if (change.is === "opened") asking.open(change.request.request);
        if (change.is === "ended") asking.ended(change.request.request.id);
        return;
      case "joined":
        tellPast();
        ready.resolve();
        for (const { request } of session.requests) asking.open(request);
        return resume();
      case "owner":
        return resume(); // an editor shows a turn that works or has ended, and no turn that waits for a word
      case "earlier":
      case "link":
        return;
      default:
        return change satisfies never;
    }
  };
  const signal = AbortSignal.any([parts.signal, left.signal]);
  const session = followSession(host, id, { signal, changed, keep: "turn" });
  const cwd = () => session.progress.cwd ?? "";
  const view = createView({ t: words.t, me, cwd, isOwn: (key) => own.has(key) });
  const asking = createAsking({
    session,
    editor,
    words,
    me,
    form: parts.form,
    tell,
    cwd,
    asksInChat: () => waiting.settle("end_turn"),
  });

  const happened = (item: Item) => {
    for (const update of view.update(item)) tell(update);
    if (item.type === "said" && item.read) waiting.read(item.key);
    if (item.type === "interrupted" && item.to === "pause") waiting.settle("cancelled");
    if (item.type === "end") waiting.ended(stopReason(item.end, words));
  };
  const noted = (fact: Fact) => {
    if (fact.type === "mode.chosen" || fact.type === "model.chosen") parts.changed(id, session.progress);
    if (fact.type === "session.titled") tell({ sessionUpdate: "session_info_update", title: oneLine(fact.data.title) });
  };
  /** An item not shown before is shown whole when it changes; past items are not repeated. */
  const tellPast = () => {
    for (const item of past) for (const update of view.update(item)) if (replay) tell(update);
    past.clear();
  };
  session.done.then(
    () => {
      asking.leave();
      waiting.settle("cancelled");
    },
    (error: unknown) => {
      ready.reject(error);
      waiting.settle(new Refusal(codes.internal, thrownText(error)));
    },
  );

  const offer: Offer<"acp"> = { place: "acp" };

  return {
    ready: ready.promise,
    progress: session.progress,
    offer,
    async prompt(text, images) {
      await ready.promise;
      return prompted({ session, asking, waiting, offer, own, words, me, tell }, text, images);
    },
    leave: () => left.abort(),
    async cancel() {
      await session.send({ type: "interrupt", session: id, cancel: true, ...me });
    },
  };
}

type PromptParts = {
  session: FollowedSession;
  asking: ReturnType<typeof createAsking>;
  waiting: Waiting;
  offer: Offer<"acp">;
  /** Keys of messages that the editor shows by itself. */
  own: Set<string>;
  words: Words;
  me: Sender;
  tell(update: SessionUpdate): void;
};

/** A message of the editor: an answer, a command, or something to do. */
async function prompted(
  { session, asking, waiting, offer, own, words, me, tell }: PromptParts,
  text: string,
  images: readonly { name: string; data: string }[],
): Promise<StopReason> {
  const say = (text: string) =>
    tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n` } });
  if (asking.waitsForMessage()) {
    const turn = waiting.add(undefined);
    if (await asking.answer(text)) return turn.end;
    turn.forget();
    return "end_turn";
  }
  const typed = readTypedSlash(text, offer);
  const message: Message | undefined = typed
    ? await runTyped(typed, { session, sender: me, offer }, { words, tell: say })
    : { text };
  if (message === undefined) return "end_turn";
  const key = randomUUID();
  own.add(saidKey(key));
  const turn = waiting.add(saidKey(key));
  const given = { ...message, id: key, ...(images.length > 0 && { images }) };
  const reply = await session.send({ type: "say", session: session.id, ...given, ...me });
  if (reply.ok) return turn.end;
  turn.forget();
  const unknown = unknownSlash(reply, text, offer, words.slash);
  if (unknown === undefined) throw refusalFrom(reply, words);
  say(unknown);
  return "end_turn";
}

function stopReason(end: TurnEnd, { t }: Words): StopReason | Refusal {
  switch (end.status) {
    case "success":
    case "needs-input":
      return "end_turn";
    case "cancelled":
    case "paused":
      return "cancelled";
    case "max-steps":
      return "max_turn_requests";
    case "incomplete":
      return "max_tokens";
    case "error": {
      const { line, foreign } = endNote(end, t);
      return new Refusal(codes.internal, foreign === undefined ? line : `${line}\n${foreign}`);
    }
    default:
      return end satisfies never;
  }
}

export function toCommands(offer: Offer<"acp">, w: SlashTexts): AvailableCommand[] {
  return slashLines(offer, w).map(({ name, takes, does, own }) => {
    const hint = own ? "…" : takes;
    return { name, description: does, ...(hint !== undefined && { input: { hint } }) };
  });
}

type Message = { text: string; when?: "now" | "next" };

/** Does a command; the message that follows it, if one does. */
function runTyped(
  typed: TypedSlash,
  typist: Typist<"acp">,
  { words, tell }: { words: SlashWords; tell(text: string): void },
): Promise<Message | undefined> {
  const say = (reply: Reply, message?: Message) => {
    tell(reply(words).join("\n"));
    return message;
  };
  return runSlash(typed, typist, {
    own: (name: never) => name,
    say: (reply) => say(reply),
    speak: (text, reply, when) => say(reply, { text, when }),
  });
}

/** Prompts that wait for the end of a turn. */
type Waiting = {
  /** `key`: the message whose turn is waited for; without one, any turn's end. */
  add(key: string | undefined): { end: Promise<StopReason>; forget(): void };
  /** A turn has read the message. */
  read(key: string): void;
  /** A turn has ended: for all prompts that it read, and those that wait for any turn. */
  ended(end: StopReason | Refusal): void;
  settle(end: StopReason | Refusal): void;
};

type PendingPrompt = { key: string | undefined; isRead: boolean; settle(end: StopReason | Refusal): void };

function createWaiting(): Waiting {
  const waiting = new Set<PendingPrompt>();
  const settle = (end: StopReason | Refusal, which: (prompt: PendingPrompt) => boolean) => {
    for (const prompt of [...waiting].filter(which)) {
      waiting.delete(prompt);
      prompt.settle(end);
    }
  };
  return {
    add(key) {
      const { promise, resolve, reject } = Promise.withResolvers<StopReason>();
      promise.catch(() => {}); // the awaiting caller handles it
      const prompt: PendingPrompt = {
        key,
        isRead: false,
        settle: (end) => (end instanceof Refusal ? reject(end) : resolve(end)),
      };
      waiting.add(prompt);
      return { end: promise, forget: () => void waiting.delete(prompt) };
    },
    read(key) {
      for (const prompt of waiting) if (prompt.key === key) prompt.isRead = true;
    },
    ended: (end) => settle(end, ({ key, isRead }) => key === undefined || isRead),
    settle: (end) => settle(end, () => true),
  };
}
