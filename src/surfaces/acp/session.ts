import { randomUUID } from "node:crypto";
import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { oneLine } from "../../base/visible.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { TurnEnd } from "../../protocol/facts/outcome.ts";
import type { Host } from "../../protocol/host/host.ts";
import { saidKey } from "../../protocol/key.ts";
import { messageOf } from "../../protocol/reasons/error.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { Item } from "../../view/transcript/item.ts";
import { endNote } from "../../view/note.ts";
import { createProgress, type Progress } from "../../view/transcript/progress.ts";
import { createTranscript } from "../../view/transcript/transcript.ts";
import { readTypedSlash, unknownSlash, type Offer } from "../../view/slash/read.ts";
import { createAsking } from "./asking.ts";
import { codes, Refusal, type Editor } from "./editor.ts";
import type { Words } from "./input.ts";
import { refusalFrom } from "./send.ts";
import { runTyped } from "./slash.ts";
import { createView } from "./view.ts";
import { createWaiting } from "./waiting.ts";

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
  /** Everything that can be typed; the person's own names once they are known. */
  offer: Offer<"acp">;
  /** Follows it no longer: nothing is answered, and nothing is stopped. */
  leave(): void;
};

/** A session as the editor sees it: facts become updates, requests are asked, prompts end with their turns. */
export function followSession(parts: SessionParts, session: string, { replay }: { replay: boolean }): Session {
  const { host, editor, words, me } = parts;
  const left = new AbortController();
  const signal = AbortSignal.any([parts.signal, left.signal]);
  const progress = createProgress();
  const transcript = createTranscript();
  const own = new Set<string>();
  const waiting = createWaiting();
  const ready = Promise.withResolvers<void>();
  const tell = (update: SessionUpdate) => editor.notify("session/update", { sessionId: session, update });
  const view = createView({ t: words.t, me, cwd: () => progress.cwd ?? "", isOwn: (key) => own.has(key) });

  const asking = createAsking({
    ...{ host, editor, session, words, me, form: parts.form, tell },
    cwd: () => progress.cwd ?? "",
    asksInChat: () => waiting.settle("end_turn"),
  });

  const happened = (item: Item) => {
    for (const update of view.update(item)) tell(update);
    if (item.type === "said" && item.read) waiting.read(item.key);
    if (item.type === "interrupted" && item.to === "pause") waiting.settle("cancelled");
    if (item.type === "end") waiting.ended(stopOf(item.end, words));
  };

  const heard = (fact: Fact) => {
    if (fact.type === "input.requested") asking.open(fact.data);
    if (fact.type === "input.resolved") asking.ended(fact.data.requestId);
    if (fact.type === "mode.chosen" || fact.type === "model.chosen") parts.changed(session, progress);
    if (fact.type === "session.titled") tell({ sessionUpdate: "session_info_update", title: oneLine(fact.data.title) });
  };

  /** An item that was not shown is shown whole when it changes; a past one that was told is not told again. */
  const tellPast = (past: ReadonlySet<Item>) => {
    for (const item of past) {
      const updates = view.update(item);
      if (replay) for (const update of updates) tell(update);
    }
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
            waiting.settle(new Refusal(codes.internal, words.t.because(event.delta.reason ?? event.delta.text)));
          break;
        case "ready":
          live = true;
          tellPast(past);
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
      waiting.settle("cancelled");
    },
    (error: unknown) => {
      ready.reject(error);
      waiting.settle(new Refusal(codes.internal, messageOf(error)));
    },
  );

  const say = (text: string) =>
    tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n` } });

  const offer: Offer<"acp"> = { place: "acp" };
  const typist = { host, session, sender: me, offer, mode: () => progress.mode };

  return {
    ready: ready.promise,
    progress,
    offer,
    async prompt(text, images) {
      await ready.promise;
      if (asking.waitsForMessage()) {
        const turn = waiting.add(undefined);
        if (await asking.answer(text)) return turn.end;
        turn.forget();
        return "end_turn";
      }
      const typed = readTypedSlash(text, offer);
      const message = typed ? await runTyped(typed, typist, { words, tell: say }) : text;
      if (message === undefined) return "end_turn";
      const id = randomUUID();
      own.add(saidKey(id));
      const turn = waiting.add(saidKey(id));
      const given = { text: message, id, ...(images.length > 0 && { images }) };
      const reply = await host.send({ type: "say", session, ...given, ...me });
      if (reply.ok) return turn.end;
      turn.forget();
      const unknown = unknownSlash(reply, text, offer, words.slash);
      if (unknown === undefined) throw refusalFrom(reply, words);
      say(unknown);
      return "end_turn";
    },
    leave: () => left.abort(),
    async cancel() {
      await host.send({ type: "interrupt", session, cancel: true, ...me });
    },
  };
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
