import { basename } from "node:path";
import { harmless } from "../../../base/visible.ts";
import type { Inquired } from "../../../protocol/facts/inquiry.ts";
import type { InputRequest, PermissionRequest, Resolution } from "../../../protocol/facts/request.ts";
import { consentLines } from "../../../view/request/consent.ts";
import { describeRequest } from "../../../view/request/describe.ts";
import { originLines } from "../../../view/request/origin.ts";
import { madeNote, replyNote } from "../../../view/inquiry.ts";
import type { Asking } from "./asker.ts";
import { actionText } from "../cards/action.ts";
import type { Card } from "../cards/card.ts";
import { closedCard, watchCard, closedBy } from "../cards/closed.ts";
import { type Asked, type AskingCard, permissionCard, togetherCard, typedHint } from "../cards/permission.ts";
import { questionCard, textCard } from "../cards/question.ts";
import { redacted } from "../cards/escape.ts";
import type { Speech } from "../cards/speech.ts";
import { codeOfCard, type AskRecord } from "../bot/records.ts";

export function askingCard(asking: Asking, request: InputRequest, record: AskRecord): AskingCard {
  const { channel, redaction, home, now, speeches } = asking;
  const { value, masked } = redacted(request, redaction);
  const { rid, g, file } = record;
  const asked: Asked = {
    rid,
    g,
    masked,
    now: now(),
    session: record.session,
    folder: basename(home().cwd),
    cwd: home().cwd,
    typed: typedAt(asking, record),
    approvals: asking.approvals(request.id),
    carried: asking.isCarried(request.id),
    alike: asking.alike(request).length,
    past: redaction.value(asking.past(request.id)),
    ...(file && { file }),
    ...(record.for !== undefined && { for: record.for }),
    ...(record.called && { called: record.called }),
    ...(record.from !== undefined && { from: channel.linkTo(record.from) }),
  };
  const { watch } = record;
  if (watch) {
    const lines = ({ t, words }: Speech) =>
      [told(watch.asked, request, t), ...consentLines(request, asked.approvals, words)].join("\n");
    return { card: watchCard(value, lines, placeOf(asking), speeches()) };
  }
  const listed = value.kind === "permission" ? listedOn(asking, request, record) : [];
  const together = listed.length > 0 ? togetherCard(redacted(listed, redaction).value, asked, speeches()) : undefined;
  if (together) return { card: together, together: true };
  if (value.kind === "permission") return permissionCard(value, asked, speeches());
  return value.kind === "question" ? questionCard(value, asked, speeches()) : textCard(value, asked, speeches());
}

export function listedOn(asking: Pick<Asking, "alike">, request: InputRequest, record: AskRecord): PermissionRequest[] {
  const { together = [] } = record;
  const listed = asking.alike(request).filter(({ id }) => together.includes(id));
  return together.length > 0 && listed.length === together.length ? listed : [];
}

const placeOf = ({ now, home }: Asking) => ({ now: now(), cwd: home().cwd });

export function endedCard(asking: Asking, request: InputRequest, resolution: Resolution): Card {
  const { value } = redacted({ request, resolution }, asking.redaction);
  return closedCard(value.request, value.resolution, placeOf(asking), asking.speeches());
}

/** The request as text, where no card can be sent. */
export function inWords(asking: Asking, record: AskRecord, request: InputRequest, speech: Speech): string {
  const { t, words } = speech;
  const { deadline } = request;
  const left = deadline && words.duration(Math.max(1_000, deadline.at - asking.now()));
  const until = deadline && left !== undefined ? [t.waitsFor(left, deadline.policy)] : [];
  const typed = typedAt(asking, record);
  const how = record.watch ? [] : [typedHint(request, { typed }, speech)];
  if (request.kind === "permission")
    return [
      t.cardFailed,
      ...originLines(request, words),
      actionText(describeRequest(request), speech),
      ...consentLines(request, asking.approvals(request.id), words),
      ...how,
      ...until,
    ].join("\n");
  const asked =
    request.kind === "text"
      ? [harmless(request.prompt)]
      : request.questions
          .map((question) => words.question(question))
          .flatMap(({ question, options }, n) => [
            `${request.questions.length > 1 ? `${n + 1}. ` : ""}${harmless(question)}`,
            ...options.map(({ label, description }, at) => harmless(`   ${at + 1}. ${label} — ${description}`)),
          ]);
  return [t.cardFailed, ...originLines(request, words), ...asked, ...how, ...until].join("\n");
}

export function inquiryText({ made, ...inquiry }: Inquired, { t, words }: Speech): string {
  const named = { ...inquiry, made: { ...made, by: closedBy(made, t) } };
  const notes = [madeNote(named, words), replyNote(named, words)].filter((note) => note !== undefined);
  return notes
    .flatMap(({ line, foreign }) => [line, ...(foreign === undefined ? [] : [foreign])])
    .map(harmless)
    .join("\n");
}

/** In a group the bot hears only messages that mention it. The code says which card is meant, also where none can be quoted. */
export function typedAt({ home, botName }: Asking, { rid, chat }: AskRecord): (words: string) => string {
  return (words) => {
    const mention = home().group && chat === home().chat ? `@${botName()} ` : "";
    return `${mention}${words.replace(/^\/\w+/, (command) => `${command} #${codeOfCard(rid)}`)}`;
  };
}

function told(names: readonly string[], request: InputRequest, t: Speech["t"]): string {
  return names.length > 0 ? t.approversAsked(names.join(t.comma)) : `${t.noApprovers} ${t.answerThere(request.id)}`;
}
