import { randomUUID } from "node:crypto";
import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import {
  modeWords,
  oneLine,
  readSlash,
  saidKey,
  type Command,
  type CommandReply,
  type Fact,
  type Host,
  type Sender,
  type TurnEnd,
} from "../../protocol/index.ts";
import { errorText } from "../../texts/error.ts";
import type { Item } from "../../view/item.ts";
import { endNote } from "../../view/note.ts";
import { createProgress, type Progress } from "../../view/progress.ts";
import { createTranscript } from "../../view/transcript.ts";
import { createAsking } from "./asking.ts";
import { codeOf, codes, Refusal, type Editor } from "./editor.ts";
import type { Words } from "./input.ts";
import { createView } from "./view.ts";

export type SessionParts = {
  host: Host;
  editor: Editor;
  words: Words;
  me: Sender;
  form: boolean;
  signal: AbortSignal;
  /** Mode or model of the session is another one now. */
  changed(session: string, progress: Progress): void;
};

export type Session = {
  /** All of its past was told. */
  ready: Promise<void>;
  progress: Progress;
  /** Answers when the turn that hears the message has ended, or asks for an answer in the conversation. */
  prompt(text: string, images: readonly { name: string; data: string }[]): Promise<StopReason>;
  cancel(): Promise<void>;
  /** Follows it no longer: nothing is answered, and nothing is stopped. */
  leave(): void;
};

type Waiting = {
  /** Key of the message whose turn is waited for; without one, any turn's end. */
  key: string | undefined;
  read: boolean;
  settle(end: StopReason | Refusal): void;
};

/** A session as the editor sees it: facts become updates, requests are asked, prompts end with their turns. */
export function followSession(parts: SessionParts, session: string, { replay }: { replay: boolean }): Session {
  const { host, editor, words, me } = parts;
  const left = new AbortController();
  const signal = AbortSignal.any([parts.signal, left.signal]);
  const progress = createProgress();
  const transcript = createTranscript();
  const own = new Set<string>();
  const waiting = new Set<Waiting>();
  const ready = Promise.withResolvers<void>();
  const tell = (update: SessionUpdate) => editor.notify("session/update", { sessionId: session, update });
  const view = createView({ t: words.t, me, cwd: () => progress.cwd ?? "", isOwn: (key) => own.has(key) });

  const settle = (end: StopReason | Refusal, which: (one: Waiting) => boolean = () => true) => {
    for (const one of [...waiting].filter(which)) {
      waiting.delete(one);
      one.settle(end);
    }
  };
  const asking = createAsking({
    ...{ host, editor, session, words, me, form: parts.form, tell },
    cwd: () => progress.cwd ?? "",
    asksInChat: () => settle("end_turn"),
  });

  const happened = (item: Item) => {
    for (const update of view.update(item)) tell(update);
    if (item.type === "said" && item.read) for (const one of waiting) if (one.key === item.key) one.read = true;
    if (item.type === "interrupted" && item.to === "pause") settle("cancelled");
    if (item.type === "end") settle(stopOf(item.end, words), ({ key, read }) => key === undefined || read);
  };

  const heard = (fact: Fact) => {
    if (fact.type === "input.requested") asking.open(fact.data);
    if (fact.type === "input.resolved") asking.ended(fact.data.requestId);
    if (fact.type === "mode.chosen" || fact.type === "model.chosen") parts.changed(session, progress);
    if (fact.type === "session.titled") tell({ sessionUpdate: "session_info_update", title: oneLine(fact.data.title) });
  };

  const follow = async () => {
    const past = new Set<Item>();
    let live = false;
    for await (const event of host.watch(session, { signal })) {
      switch (event.type) {
        case "fact": {
          progress.note(event.fact);
          const items = transcript.fact(event.fact);
          if (live) for (const item of items) happened(item);
          else for (const item of items) past.add(item);
          if (live) heard(event.fact);
          break;
        }
        case "delta":
          for (const item of transcript.delta(event.delta)) happened(item);
          if (event.delta.kind === "notice" && event.delta.key === "host")
            settle(new Refusal(codes.internal, words.t.because(event.delta.reason ?? event.delta.text)));
          break;
        case "ready":
          live = true;
          // An item that was not shown is shown whole when it changes; one that is past and told is not told again.
          for (const item of past) {
            const updates = view.update(item);
            if (replay) for (const update of updates) tell(update);
          }
          ready.resolve();
          for (const { request } of event.requests) asking.open(request);
          if (progress.working) await host.send({ type: "resume", session }); // a paused turn waits for a word of the person
          break;
        case "owner":
          if (event.stopped && progress.working) await host.send({ type: "resume", session });
          break;
        case "link":
          break;
        default:
          event satisfies never;
      }
    }
  };
  follow().then(
    () => {
      asking.leave();
      settle("cancelled");
    },
    (error: unknown) => {
      ready.reject(error);
      settle(new Refusal(codes.internal, error instanceof Error ? error.message : String(error)));
    },
  );

  const wait = (key: string | undefined): { end: Promise<StopReason>; forget(): void } => {
    const { promise, resolve, reject } = Promise.withResolvers<StopReason>();
    promise.catch(() => {}); // whoever waits for it hears of it
    const one: Waiting = { key, read: false, settle: (end) => (end instanceof Refusal ? reject(end) : resolve(end)) };
    waiting.add(one);
    return { end: promise, forget: () => void waiting.delete(one) };
  };

  const say = (text: string) =>
    tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n` } });

  /** Commands of the surface itself. Undefined for everything else that begins with a slash: the host knows it, or says that it does not. */
  const command = async (text: string): Promise<boolean> => {
    const { name, args = "" } = readSlash(text) ?? {};
    const { w } = words;
    switch (name) {
      case "compact":
        await send(host, words, { type: "compact", session });
        say(w.compacted);
        return true;
      case "rename":
        if (args === "") say(w.needs(name));
        else {
          await send(host, words, { type: "rename", session, title: args, ...me });
          say(w.renamed(oneLine(args)));
        }
        return true;
      case "model":
        if (args === "") say(w.needs(name));
        else await send(host, words, { type: "choose", session, model: args, checked: true, ...me });
        return true;
      case "mode": {
        const mode = modeWords[args];
        if (mode === undefined) say(w.unknownMode(oneLine(args)));
        else await send(host, words, { type: "chooseMode", session, mode, ...me });
        return true;
      }
      default:
        return false;
    }
  };

  return {
    ready: ready.promise,
    progress,
    async prompt(text, images) {
      await ready.promise;
      if (asking.waitsForMessage()) {
        const turn = wait(undefined);
        if (await asking.answer(text)) return turn.end;
        turn.forget();
        return "end_turn";
      }
      if (await command(text)) return "end_turn";
      const id = randomUUID();
      own.add(saidKey(id));
      const turn = wait(saidKey(id));
      try {
        const given = { text, id, ...(images.length > 0 && { images }) };
        await send(host, words, { type: "say", session, ...given, ...me });
      } catch (error) {
        turn.forget();
        throw error;
      }
      return turn.end;
    },
    leave: () => left.abort(),
    async cancel() {
      await host.send({ type: "interrupt", session, cancel: true, ...me });
    },
  };
}

/** The reply to a command, or its refusal in the editor's terms. */
export async function send<C extends Command>(
  host: Host,
  { t }: Pick<Words, "t">,
  command: C,
): Promise<CommandReply<C["type"]> & { ok: true }> {
  const reply = await host.send(command);
  if (reply.ok) return reply;
  throw new Refusal(codeOf(reply.code), errorText(reply, t));
}

function stopOf(end: TurnEnd, { t }: Words): StopReason | Refusal {
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
