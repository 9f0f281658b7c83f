import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import type { Host } from "../../protocol/host/host.ts";
import { reasonOf } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import { errorText, thrownText } from "../../texts/shared/error.ts";
import { consentSoFar } from "../../view/request/consent.ts";
import { outcomeFor, unknownCard, closedBy } from "./cards/closed.ts";
import type { CardAnswer, CardClick } from "./channel/channel.ts";
import type { CommandHandler } from "./commands/command-handler.ts";
import { inLocales, type Phrase, type Speech, type Speeches } from "./cards/speech.ts";
import type { Follow } from "./session/follow.ts";
import { decided, readForm, textIn, type Read } from "./input.ts";
import { mayAnswer, mayStop, mayTalk, type People } from "./bot/people.ts";
import { isAt, type AskRecord, type Records, type RunRecord } from "./bot/records.ts";
import type { SessionManager } from "./session/session-manager.ts";

type ClickParts = {
  records: Records;
  sessions: SessionManager;
  people(): People;
  speak(chat: string): Speeches;
  host: Host;
  log(line: string): void;
  senderOf(openId: string): Promise<Sender>;
  resume: CommandHandler["resume"];
};

/** Handles a click: authorised first, recorded second, drawn last. The channel sees to it that it is answered in time. */
export function createClicks(parts: ClickParts): (click: CardClick) => Promise<CardAnswer> {
  const { records, sessions, people, log, host } = parts;

  const toastIn = toaster(parts);
  const { answer, late } = createAnswers(parts);

  const refuse = (click: CardClick, why: "wrongCard" | "notTalker" | "notStopper" | "notYours"): CardAnswer => {
    const { operator, messageId, chatId, value } = click;
    records.refused({ operator, messageId, chatId, value, why, at: click.at });
    log(`a click by ${operator.openId || "nobody"} was refused: ${why}`);
    return toastIn(click)("error", ({ t }) => t.toast[why]);
  };

  /** A request that is no longer held in memory is looked up in the journal. */
  const known = async (follow: Follow, { request: id }: AskRecord) => {
    const held = follow.view.request(id);
    if (held) return held;
    const found = await host.send({ type: "request", id });
    return found.ok ? { request: found.request, ...(found.resolution && { resolution: found.resolution }) } : undefined;
  };

  const clicked = async (click: CardClick): Promise<CardAnswer> => {
    const toast = toastIn(click);
    const gone = () => ({ ...toast("info", ({ t }) => t.toast.gone), card: unknownCard(parts.speak(click.chatId)) });
    const value = readValue(click.value);
    const record = value && records.card(value.rid);
    if (!value || !record) return gone();
    const here = isAt(record, { chatId: click.chatId, openId: click.operator.openId });
    if (!here || (record.message !== undefined && record.message !== click.messageId))
      return refuse(click, "wrongCard");
    const follow = await sessions.of(record.session);
    if (record.k === "run") return clickedRun(click, record, { act: value.act, follow });
    const found = follow && (await known(follow, record));
    if (!follow || !found) return gone();
    const { request, resolution } = found;
    if (!mayAnswer(people(), click.operator, request, follow.home().owner)) return refuse(click, "notYours");
    if (resolution) return late(follow, request, resolution, click);
    if (value.g !== record.g)
      return { ...toast("warning", ({ t }) => t.toast.oldCard), card: follow.asker.card(request, record) };
    return answer(follow, request, record, { act: value.act, click });
  };

  /** A card of a run takes it over, or stops it. */
  const clickedRun = async (
    click: CardClick,
    { session, place }: RunRecord,
    { act, follow }: { act: string; follow: Follow | undefined },
  ): Promise<CardAnswer> => {
    const toast = toastIn(click);
    if (act === "resume" && place) {
      if (!mayTalk(people(), click.operator)) return refuse(click, "notTalker");
      const taken = { ...place, owner: click.operator.openId };
      return toast("success", await parts.resume(session, click.operator, taken));
    }
    if (act !== "stop") return refuse(click, "wrongCard");
    if (!follow || !mayStop(people(), click.operator, follow.home().owner)) return refuse(click, "notStopper");
    const reply = await follow.handle.finish(await parts.senderOf(click.operator.openId));
    const stopped = reply.ok && reply.to !== "nothing";
    return toast("info", ({ t }) => (stopped ? t.toast.stopped : t.toast.nothing));
  };

  return (click) =>
    clicked(click).catch((error: unknown) => {
      log(`a click could not be handled: ${thrownText(error)}`);
      return toastIn(click)("error", ({ t, words }) => t.toast.failed(words.because(reasonOf(error))));
    });
}

/** The person who clicked reads it in the language of their client. */
function toaster({ speak }: Pick<ClickParts, "speak">) {
  return ({ chatId }: CardClick) =>
    (type: NonNullable<CardAnswer["toast"]>["type"], phrase: Phrase): CardAnswer => {
      const speeches = speak(chatId);
      return { toast: { type, content: phrase(speeches[0]), i18n: inLocales(speeches, phrase) } };
    };
}

function createAnswers(parts: Pick<ClickParts, "speak" | "records" | "senderOf">) {
  const { records } = parts;
  const toastIn = toaster(parts);

  const late = (follow: Follow, request: InputRequest, resolution: Resolution, click: CardClick): CardAnswer => ({
    ...toastIn(click)("info", ({ t }) =>
      resolution.outcome === "timed_out" ? t.toast.expired : t.toast.already(closedBy(resolution, t)),
    ),
    card: follow.asker.closed(request, resolution),
  });

  const redrawn = (follow: Follow, request: InputRequest, record: AskRecord): CardAnswer => {
    const next = { ...record, g: record.g + 1 };
    records.saveCard(next);
    return { card: follow.asker.card(request, next) };
  };

  const answer = async (
    follow: Follow,
    request: InputRequest,
    record: AskRecord,
    { act, click }: { act: string; click: CardClick },
  ): Promise<CardAnswer> => {
    // The next version of the card, and only that one, can allow.
    if (act === "read" && record.file === "sent") return redrawn(follow, request, { ...record, file: "read" });
    if (act === "together" || act === "one") {
      const listed = act === "together" ? follow.asker.alike(request).map(({ id }) => id) : [];
      const { together: _, ...bare } = record;
      // The next version of the card, and only that one, answers the list or the one request.
      return redrawn(follow, request, { ...bare, ...(listed.length > 1 && { together: listed }) });
    }
    if (act === "allow_all" || act === "deny_all") return answerAll(follow, request, record, { act, click });
    const toast = toastIn(click);
    const read = clickedResponse(request, record, act, click.formValue ?? {});
    if ("problem" in read) return toast("warning", read.problem);
    const from = await parts.senderOf(click.operator.openId);
    const reply = await follow.handle.sendAnswer(read.response, from);
    if (reply.ok && !reply.resolution) {
      const { approved } = reply;
      const said: Phrase = ({ words }) => (approved.again ? words.approvedAgain : consentSoFar(approved, words));
      // The card with the new count follows the fact.
      return toast(approved.again ? "info" : "success", said);
    }
    if (reply.ok) {
      const { resolution } = reply;
      const said = toastOf(resolution);
      return { ...toast("success", ({ t }) => t.toast[said]), card: follow.asker.closed(request, resolution) };
    }
    if (reply.resolution) return late(follow, request, reply.resolution, click);
    return toast("error", ({ t, words }) => t.toast.failed(errorText(reply, words)));
  };

  const answerAll = async (
    follow: Follow,
    request: InputRequest,
    record: AskRecord,
    { act, click }: { act: "allow_all" | "deny_all"; click: CardClick },
  ): Promise<CardAnswer> => {
    const toast = toastIn(click);
    const listed = follow.asker.listed(request, record);
    // The card showed a list that is another one by now: nothing is answered.
    if (listed.length === 0)
      return { ...toast("warning", ({ t }) => t.togetherGone), card: follow.asker.card(request, record) };
    const from = await parts.senderOf(click.operator.openId);
    const answer = { type: act === "allow_all" ? "granted" : "denied" } as const;
    const reply = await follow.handle.sendAnswerToAll(
      listed.map(({ id }) => id),
      answer,
      from,
    );
    if (!reply.ok) return toast("error", ({ t, words }) => t.toast.failed(errorText(reply, words)));
    const own = reply.results.find(({ requestId }) => requestId === request.id);
    const answered = reply.results.filter(({ ok }) => ok).length;
    return {
      ...toast("success", ({ t }) => t.togetherDone(answered, listed.length)),
      ...(own?.resolution && { card: follow.asker.closed(request, own.resolution) }),
    };
  };

  return { answer, late };
}

/** From outside: everything about it is checked. */
function readValue(value: unknown): { rid: string; act: string; g: number } | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const { rid, act, g } = value as Record<string, unknown>;
  if (typeof rid !== "string" || !/^[0-9a-f]{32}$/.test(rid)) return undefined;
  return typeof act === "string" && typeof g === "number" ? { rid, act, g } : undefined;
}

const told = ["allowed", "always", "outside", "denied", "declined"] as const;

function toastOf(resolution: Resolution): (typeof told)[number] | "answered" | "stopped" {
  const end = outcomeFor(resolution);
  return end === "cancelled" ? "stopped" : (told.find((known) => known === end) ?? "answered");
}

const allowing: Readonly<Record<string, "once" | "always" | "outside">> = {
  allow_once: "once",
  allow_always: "always",
  allow_outside: "outside",
};

function clickedResponse(request: InputRequest, record: AskRecord, act: string, form: Record<string, unknown>): Read {
  const requestId = request.id;
  const wrong = { problem: ({ t }: Speech) => t.toast.wrongCard };
  if (request.kind === "permission") {
    const comment = textIn(form, "comment");
    if (act === "deny") return { response: decided(request, { deny: comment }) };
    // A call that was not shown whole is not allowed before it was read, whatever a button claims.
    const unread = record.file !== undefined && record.file !== "read";
    const allow = unread ? undefined : allowing[act];
    return allow ? { response: decided(request, { allow, comment }) } : wrong;
  }
  if (act === "decline") return { response: { type: "denied", requestId } };
  if (act === "stop") return { response: { type: "cancelled", requestId } };
  if (request.kind === "text") {
    const text = textIn(form, "text");
    return text === "" ? { problem: ({ t }) => t.toast.empty } : { response: { type: "text", requestId, text } };
  }
  const [only] = request.questions;
  const picked = /^pick(\d+)$/.exec(act);
  const option = picked && request.questions.length === 1 ? only?.options[Number(picked[1])] : undefined;
  if (only && option)
    return { response: { type: "answers", requestId, answers: { [only.question]: { selected: [option.label] } } } };
  return act === "submit" ? readForm(request, form) : wrong;
}
