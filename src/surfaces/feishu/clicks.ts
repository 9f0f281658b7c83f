import {
  messageOf,
  type InputRequest,
  type InputResponse,
  type Resolution,
  type Sender,
} from "../../protocol/index.ts";
import type { FeishuTexts } from "../../texts/feishu.ts";
import { decided, readForm, textIn } from "./answers.ts";
import { endOf, unknownCard, whoOf } from "./cards/closed.ts";
import type { CardAnswer, CardClick } from "./channel.ts";
import type { CommandHandler } from "./command-handler.ts";
import type { Follow } from "./follow.ts";
import { mayAnswer, mayStop, mayTalk, type People } from "./people.ts";
import { isAt, type AskRecord, type Records } from "./records.ts";
import type { SessionManager } from "./session-manager.ts";

export type ClickParts = {
  records: Records;
  sessions: SessionManager;
  people: People;
  t: FeishuTexts;
  log(line: string): void;
  senderOf(openId: string): Promise<Sender>;
  /** This chat goes on with that session. */
  resume: CommandHandler["resume"];
};

type Toast = NonNullable<CardAnswer["toast"]>["type"];

/** What a click comes to. Authorised first, recorded second, drawn last. That it is answered in time is the channel's business. */
export function createClicks(parts: ClickParts): (click: CardClick) => Promise<CardAnswer> {
  const { records, sessions, people, t, log } = parts;
  const toast = (type: Toast, content: string): CardAnswer => ({ toast: { type, content } });

  const refuse = (click: CardClick, why: string): CardAnswer => {
    const { operator, messageId, chatId, value } = click;
    records.refused({ operator, messageId, chatId, value, why, at: click.at });
    log(`a click by ${operator.openId || "nobody"} was refused: ${why}`);
    return toast("error", why);
  };

  const clicked = async (click: CardClick): Promise<CardAnswer> => {
    const value = readValue(click.value);
    const record = value && records.card(value.rid);
    if (!value || !record) return { ...toast("info", t.toast.gone), card: unknownCard({ t }) };
    const here = isAt(record, { chatId: click.chatId, openId: click.operator.openId });
    if (!here || (record.message !== undefined && record.message !== click.messageId))
      return refuse(click, t.toast.wrongCard);
    const follow = await sessions.of(record.session);
    if (record.k === "run") {
      if (value.act === "resume" && record.place) {
        if (!mayTalk(people, click.operator)) return refuse(click, t.toast.notTalker);
        const place = { ...record.place, owner: click.operator.openId };
        return toast("success", await parts.resume(record.session, click.operator, place));
      }
      if (value.act !== "stop") return refuse(click, t.toast.wrongCard);
      if (!follow || !mayStop(people, click.operator, follow.home().owner)) return refuse(click, t.toast.notStopper);
      const reply = await follow.handle.finish(await parts.senderOf(click.operator.openId));
      return toast("info", reply.ok && reply.to !== "nothing" ? t.toast.stopped : t.toast.nothing);
    }
    const known = follow?.view.request(record.request) ?? (await follow?.lookUp(record.request));
    if (!follow || !known) return { ...toast("info", t.toast.gone), card: unknownCard({ t }) };
    if (!mayAnswer(people, click.operator, known.request, follow.home().owner)) return refuse(click, t.toast.notYours);
    if (known.resolution) return late(follow, known.request, known.resolution);
    if (value.g !== record.g)
      return { ...toast("warning", t.toast.oldCard), card: follow.asker.card(known.request, record) };
    return answer(follow, known.request, record, { act: value.act, click });
  };

  const late = (follow: Follow, request: InputRequest, resolution: Resolution): CardAnswer => ({
    ...toast("info", resolution.outcome === "timed_out" ? t.toast.expired : t.toast.already(whoOf(resolution, t))),
    card: follow.asker.closed(request, resolution),
  });

  const answer = async (
    follow: Follow,
    request: InputRequest,
    record: AskRecord,
    { act, click }: { act: string; click: CardClick },
  ): Promise<CardAnswer> => {
    if (act === "read" && record.file === "sent") {
      // The next version of the card, and only that one, can allow.
      const next = { ...record, file: "read" as const, g: record.g + 1 };
      records.saveCard(next);
      return { card: follow.asker.card(request, next) };
    }
    const read = responseOf(request, record, act, click.formValue ?? {}, t);
    if ("problem" in read) return toast("warning", read.problem);
    const from = await parts.senderOf(click.operator.openId);
    const reply = await follow.handle.sendAnswer(read.response, from);
    if (reply.ok) {
      const said = t.toast[toastOf(reply.resolution)];
      return { ...toast("success", said), card: follow.asker.closed(request, reply.resolution) };
    }
    return reply.resolution ? late(follow, request, reply.resolution) : toast("error", t.toast.failed(reply.message));
  };

  return (click) =>
    clicked(click).catch((error: unknown) => {
      log(`a click could not be handled: ${messageOf(error)}`);
      return toast("error", t.toast.failed(messageOf(error)));
    });
}

type ReadValue = { rid: string; act: string; g: number };

/** From outside: everything about it is checked. */
function readValue(value: unknown): ReadValue | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const { rid, act, g } = value as Record<string, unknown>;
  if (typeof rid !== "string" || !/^[0-9a-f]{32}$/.test(rid)) return undefined;
  return typeof act === "string" && typeof g === "number" ? { rid, act, g } : undefined;
}

function toastOf(resolution: Resolution): "allowed" | "always" | "denied" | "answered" | "declined" | "stopped" {
  const end = endOf(resolution);
  if (end === "cancelled") return "stopped";
  return end === "allowed" || end === "always" || end === "denied" || end === "declined" ? end : "answered";
}

function responseOf(
  request: InputRequest,
  record: AskRecord,
  act: string,
  form: Record<string, unknown>,
  t: FeishuTexts,
): { response: InputResponse } | { problem: string } {
  const requestId = request.id;
  if (request.kind === "permission") {
    if (act === "deny") return { response: decided(request, { deny: "" }) };
    if (act === "deny_reason") return { response: decided(request, { deny: textIn(form, "deny_reason") }) };
    // What was not shown whole is not allowed before it was read, whatever a button claims.
    const unread = record.file !== undefined && record.file !== "read";
    if (unread || (act !== "allow_once" && act !== "allow_always")) return { problem: t.toast.wrongCard };
    return { response: decided(request, { allow: act === "allow_always" ? "always" : "once" }) };
  }
  if (act === "decline") return { response: { type: "denied", requestId } };
  if (act === "stop") return { response: { type: "cancelled", requestId } };
  if (request.kind === "text") {
    const text = textIn(form, "text");
    return text === "" ? { problem: t.toast.empty } : { response: { type: "text", requestId, text } };
  }
  const [only] = request.questions;
  const picked = /^pick(\d+)$/.exec(act);
  const option = picked && request.questions.length === 1 ? only?.options[Number(picked[1])] : undefined;
  if (only && option)
    return { response: { type: "answers", requestId, answers: { [only.question]: { selected: [option.label] } } } };
  return act === "submit" ? readForm(request, form, t) : { problem: t.toast.wrongCard };
}
