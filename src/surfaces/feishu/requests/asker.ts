import type { Inquired } from "../../../protocol/facts/inquiry.ts";
import type { Approval, InputRequest, PermissionRequest, Resolution } from "../../../protocol/facts/request.ts";
import type { RuleTrial } from "../../../protocol/host/past.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { askingCard, endedCard, inquiryText, inWords, listedOn, typedAt } from "./asking-card.ts";
import type { Card } from "../cards/card.ts";
import { outcomeFor, movedCard, whereOf, closedBy } from "../cards/closed.ts";
import { plainWords } from "../cards/escape.ts";
import { inLocales, type Speeches } from "../cards/speech.ts";
import type { Sent } from "../channel/channel.ts";
import { passes, wantsPlainer } from "../channel/failure.ts";
import { mayAnswer, needsNoApprover, type People } from "../bot/people.ts";
import { type AskRecord, CARD_LIFE_MS, type Home, isAway, newRid, uuidOf } from "../bot/records.ts";
import { sendTarget, type Sending } from "../chat/streamer.ts";

/** A card is sent anew before it is too old to be clicked. */
const RENEW_MS = CARD_LIFE_MS - 24 * 60 * 60_000;

/** Requests as cards: sent once to everybody who should see them, changed when they end. */
export type Asker = {
  /** Sends its cards unless they are there already. */
  present(request: InputRequest): Promise<void>;
  settle(request: InputRequest, resolution: Resolution): Promise<void>;
  /** Draws its cards anew: somebody approved it. */
  recount(request: InputRequest): Promise<void>;
  /** Tells the agent's replies below its cards, each once. */
  reply(request: InputRequest, inquiries: readonly Inquired[]): Promise<void>;
  /** Calls those who were asked once more, for the `n`th time. */
  remind(request: InputRequest, n: number): Promise<void>;
  /** Calls somebody who was not asked yet, by the name of the settings. */
  escalate(request: InputRequest, to: string): Promise<void>;
  /** Open requests that one answer may be meant for, this one included. */
  alike(request: InputRequest): PermissionRequest[];
  /** The ones of these that this card lists; none where it shows one request. */
  listed(request: InputRequest, record: AskRecord): PermissionRequest[];
  card(request: InputRequest, record: AskRecord): Card;
  closed(request: InputRequest, resolution: Resolution): Card;
  /** Text to type in this chat to answer the card. */
  typed(record: AskRecord): (words: string) => string;
};

export type AskerParts = Sending & {
  people(): People;
  /** Name of the bot, for those who call it by a mention. */
  botName(): string;
};

export type Asking = AskerParts & {
  home(): Home;
  speeches(): Speeches;
  /** Everybody who approved a request so far. */
  approvals(requestId: string): readonly Approval[];
  /** Another agent asked it and was stopped since. */
  isCarried(requestId: string): boolean;
  alike(request: InputRequest): PermissionRequest[];
  /** The past of the rules that are offered with a request, once it was learned. */
  past(requestId: string): readonly RuleTrial[];
  /** The person who gave the task, where no chat did. */
  askedBy(): string | undefined;
  /** Learns it. A hint that cannot be given keeps nobody from being asked. */
  learn(request: InputRequest): Promise<void>;
};

type Open = Pick<Asking, "approvals" | "isCarried" | "alike" | "askedBy"> & {
  trials(requestId: string): Promise<readonly RuleTrial[]>;
};

export function createAsker(parts: AskerParts, home: () => Home, { trials, ...open }: Open): Asker {
  const pasts = new Map<string, readonly RuleTrial[]>();
  const asking: Asking = {
    ...parts,
    home,
    ...open,
    speeches: () => parts.speak(home().chat),
    past: (id) => pasts.get(id) ?? [],
    async learn({ id, kind }) {
      if (kind === "permission" && !pasts.has(id)) pasts.set(id, (await trials(id)).map(here));
    },
  };
  /** Calls of other chats, and of a terminal, are counted and not named. */
  const here = (trial: RuleTrial): RuleTrial => ({
    ...trial,
    surprising: trial.surprising.filter(
      ({ session, asked }) => asked?.answer === "no" && parts.records.home(session)?.chat === home().chat,
    ),
  });
  return {
    alike: (request) => asking.alike(request),
    listed: (request, record) =>
      askingCard(asking, request, record).together ? listedOn(asking, request, record) : [],
    closed: (request, resolution) => endedCard(asking, request, resolution),
    typed: (record) => typedAt(asking, record),
    card: (request, record) => askingCard(asking, request, record).card,
    present: (request) => present(asking, request),
    recount: (request) => recount(asking, request),
    reply: (request, inquiries) => replyBelow(asking, request, inquiries),
    remind: (request, n) => remind(asking, request, n),
    escalate: (request, to) => escalate(asking, request, to),
    settle(request, resolution) {
      pasts.delete(request.id);
      return settle(asking, request, resolution);
    },
  };
}

async function present(asking: Asking, request: InputRequest): Promise<void> {
  const { records, home, now, speeches, log } = asking;
  const { session } = home();
  await asking.learn(request);
  const cards = records.openCards(session, request.id);
  for (const old of cards.filter(({ at }) => now() - at > RENEW_MS)) {
    records.closeCard(old);
    await change(asking, old, movedCard(speeches()));
  }
  const standing = records.openCards(session, request.id);
  if (standing.length > 0 && standing.every(({ message }) => message !== undefined)) return;
  const called = cards.map(({ chat, for: name }): Audience => ({ chat, ...(name !== undefined && { for: name }) }));
  const audience = () => (isAway(home()) ? called : audienceOf(asking, request));
  const wanted = standing.length > 0 ? standing : await audience();
  const asked = wanted.map((audience): AskRecord => {
    return standing.find(({ chat }) => chat === audience.chat) ?? freshRecord(asking, request, audience);
  });
  for (const record of asked) records.saveCard(record);
  // A person who cannot be reached must not keep the request from the others.
  const failures: unknown[] = [];
  for (const record of asked)
    if (record.message === undefined) await presentAt(asking, request, record).catch((error) => failures.push(error));
  const again = failures.find(passes) ?? (failures.length === asked.length ? failures[0] : undefined);
  if (again !== undefined) throw again;
  for (const error of failures) log(`somebody could not be asked: ${thrownText(error)}`);
}

async function recount(asking: Asking, request: InputRequest): Promise<void> {
  const { records, home } = asking;
  for (const record of records.openCards(home().session, request.id))
    await change(asking, record, askingCard(asking, request, record).card);
}

async function replyBelow(asking: Asking, request: InputRequest, inquiries: readonly Inquired[]): Promise<void> {
  const { channel, records, home, speeches, redaction } = asking;
  for (const inquiry of redaction.value(inquiries).filter(({ reply }) => reply !== undefined))
    for (const { rid } of records.openCards(home().session, request.id)) {
      const record = records.card(rid);
      if (record?.k !== "ask" || record.message === undefined) continue;
      const { replied = [], message, chat } = record;
      const { inquiry: id } = inquiry.made;
      if (replied.includes(id)) continue;
      const text = inLocales(speeches(), (speech) => plainWords(inquiryText(inquiry, speech)));
      const target = { ...targetFor(asking, record), chat, replyTo: message };
      await channel.sendText({ ...target, uuid: uuidOf(rid, "inquiry", id), text });
      records.saveCard({ ...record, replied: [...replied, id] });
    }
}

async function remind(asking: Asking, request: InputRequest, n: number): Promise<void> {
  const { channel, records, home, now, speeches } = asking;
  const { deadline } = request;
  const left = Math.max(1_000, (deadline?.at ?? 0) - now());
  for (const record of records.openCards(home().session, request.id)) {
    const { message, chat, called = [] } = record;
    if (record.watch || Number(record.reminded ?? 0) > n || message === undefined) continue;
    const text = inLocales(speeches(), ({ t, words }) => {
      const end = deadline ? [t.waitsFor(words.duration(left), deadline.policy)] : [];
      return [t.reminder, ...end].join("\n");
    });
    const target = { ...targetFor(asking, record), chat, replyTo: message };
    await channel.sendText({ ...target, uuid: uuidOf(record.rid, "reminder", n), text, mention: called });
    records.saveCard({ ...record, reminded: n + 1 });
  }
}

async function escalate(asking: Asking, request: InputRequest, to: string): Promise<void> {
  const { channel, records, home, speeches, log } = asking;
  const ids = idsOf(asking.people(), [to]);
  if (ids.length === 0) log(`nobody called ${to} may approve, so nobody else was called`);
  const { session, chat, group, owner } = home();
  const present = group ? await channel.members(chat).catch(() => undefined) : [];
  for (const id of ids) {
    const cards = records.openCards(session, request.id);
    const [there] = cards.filter((card) => card.chat === chat && !card.watch && card.message !== undefined);
    if (there && present?.includes(id)) {
      if (there.called?.includes(id)) continue;
      const text = inLocales(speeches(), ({ t }) => t.escalated(to));
      const target = {
        ...targetFor(asking, there),
        replyTo: there.message ?? "",
        uuid: uuidOf(there.rid, "escalate", id),
      };
      await channel.sendText({ ...target, text, mention: [id] });
      records.saveCard({ ...there, called: [...(there.called ?? []), id] });
    } else if (!cards.some((card) => card.chat === id && card.message !== undefined)) {
      const before = cards.find((card) => card.chat === id);
      const whose = isAway(home()) ? asking.askedBy() : await userName(asking, owner);
      const asked = { chat: id, ...(whose !== undefined && { for: whose }), ...(group && { from: chat }) };
      await asking.learn(request);
      await presentAt(asking, request, before ?? freshRecord(asking, request, asked));
    }
  }
}

async function settle(asking: Asking, request: InputRequest, resolution: Resolution): Promise<void> {
  const { channel, records, home, speeches } = asking;
  for (const record of records.openCards(home().session, request.id)) {
    if (record.spoken) {
      const text = inLocales(speeches(), ({ t }) => {
        const end = t.pair(t.closed[request.kind], t.ended[outcomeFor(resolution)]);
        return plainWords(`${end} · ${closedBy(resolution, t)} ${whereOf(resolution.surface, t)}`);
      });
      await channel.sendText({ ...targetFor(asking, record), uuid: uuidOf(record.rid, "closed"), text });
    } else await change(asking, record, endedCard(asking, request, resolution));
    records.closeCard(record);
  }
}

async function presentAt(asking: Asking, request: InputRequest, first: AskRecord): Promise<void> {
  const { records, now } = asking;
  // On disk before it is sent: a click on it finds it, and after a crash it is the same card.
  let record = first;
  records.saveCard(record);
  const { file } = askingCard(asking, request, record);
  if (file && !record.file) {
    record = { ...record, file: await sendFile(asking, record, file) };
    records.saveCard(record);
  }
  const { messageId: message, at: shownAt = now(), spoken } = await sendCard(asking, request, record);
  // A click may have come before the answer to the sending.
  const latest = records.card(record.rid);
  const current = latest?.k === "ask" ? latest : record;
  records.saveCard({ ...current, message, at: now(), shownAt, ...(spoken && { spoken }) });
}

function freshRecord({ home, now }: Asking, request: InputRequest, audience: Audience): AskRecord {
  return { k: "ask", rid: newRid(), request: request.id, session: home().session, g: 1, at: now(), ...audience };
}

function targetFor({ home }: Asking, { chat }: AskRecord) {
  return chat === home().chat ? sendTarget(home()) : { chat };
}

/** Text that does not fit goes out before the card that refers to it. */
async function sendFile(asking: Asking, record: AskRecord, file: { name: string; text: string }) {
  const { channel, log } = asking;
  try {
    const content = Buffer.from(file.text);
    await channel.sendFile({
      ...targetFor(asking, record),
      uuid: uuidOf(record.rid, "file"),
      name: file.name,
      content,
    });
    return "sent";
  } catch (error) {
    if (!wantsPlainer(error)) throw error;
    log(`the file of a request could not be sent: ${thrownText(error)}`);
    return "failed";
  }
}

async function sendCard(asking: Asking, request: InputRequest, record: AskRecord): Promise<Sent & { spoken: boolean }> {
  const { channel, redaction, speeches, log } = asking;
  const target = targetFor(asking, record);
  try {
    const { card } = askingCard(asking, request, record);
    return { ...(await channel.sendCard({ ...target, uuid: uuidOf(record.rid, "card"), card })), spoken: false };
  } catch (error) {
    if (!wantsPlainer(error)) throw error;
    log(`the card of a request could not be sent: ${thrownText(error)}`);
    const clean = redaction.value(request);
    const text = inLocales(speeches(), (speech) => plainWords(inWords(asking, record, clean, speech)));
    return { ...(await channel.sendText({ ...target, uuid: uuidOf(record.rid, "words"), text })), spoken: true };
  }
}

async function change({ channel, log }: Asking, record: AskRecord, card: Card): Promise<void> {
  if (record.message === undefined || record.spoken) return;
  await channel.patchCard(record.message, card).catch((error: unknown) => {
    if (passes(error)) throw error;
    log(`a card could not be changed: ${thrownText(error)}`); // a click on it mends it
  });
}

/** A place where a request is shown: to whom, for whom, and whether only to be looked at. */
type Audience = Pick<AskRecord, "chat" | "watch" | "for" | "from" | "called">;

/**
 * Calls the people who may answer. In a group the card mentions them; an approver who is not in it is asked in their own chat
 * with the bot. Where nobody can tell who is in a group, they are called in both places: once too often is better than never.
 * In a chat with the bot alone, the person there sees who was asked.
 */
async function audienceOf(asking: Asking, request: InputRequest): Promise<Audience[]> {
  const { channel, people, home } = asking;
  const { chat, group, owner } = home();
  const person = { openId: owner, tenantKey: people().tenant ?? "" };
  const forOwner = mayAnswer(people(), person, request, owner) && needsNoApprover(request);
  if (forOwner) return [{ chat, ...(group && { called: [owner] }) }];
  const approvers = firstAsked(people(), request);
  if (!group && approvers.includes(owner)) return [{ chat }];
  const present = group ? await channel.members(chat).catch(() => undefined) : [];
  const absent = approvers.filter((approver) => !present?.includes(approver));
  const whose = await userName(asking, owner);
  const elsewhere = absent.map((person): Audience => ({ chat: person, for: whose, ...(group && { from: chat }) }));
  if (!group)
    return [...elsewhere, { chat, watch: { asked: await Promise.all(approvers.map((id) => userName(asking, id))) } }];
  return [{ chat, called: approvers.filter((approver) => present?.includes(approver) ?? true) }, ...elsewhere];
}

async function userName({ channel, speeches }: Asking, openId: string): Promise<string> {
  return (await channel.userName(openId).catch(() => undefined)) ?? speeches()[0].t.somebody;
}

function idsOf({ approve, names: known }: People, names: readonly string[]): string[] {
  return approve.filter((id) => names.includes(known?.[id] ?? id));
}

/** Approvers who are called later are not called now, unless nobody would be left. */
function firstAsked(people: People, { deadline }: InputRequest): string[] {
  const later = idsOf(
    people,
    (deadline?.escalation ?? []).map(({ to }) => to),
  );
  const first = people.approve.filter((id) => !later.includes(id));
  return first.length > 0 ? first : [...people.approve];
}
