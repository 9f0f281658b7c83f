import { basename } from "node:path";
import { harmless, messageOf, type InputRequest, type Resolution } from "../../protocol/index.ts";
import { actionText } from "./cards/action.ts";
import type { Card } from "./cards/card.ts";
import { closedCard, endOf, movedCard, watchCard, whereOf, whoOf } from "./cards/closed.ts";
import { plainWords } from "./cards/escape.ts";
import { permissionCard, type Asked, type AskingCard } from "./cards/permission.ts";
import { questionCard, textCard } from "./cards/question.ts";
import { redacted } from "./cards/redact.ts";
import { inLocales, type Speech } from "./cards/speech.ts";
import type { Sent } from "./channel.ts";
import { passes, wantsPlainer } from "./failure.ts";
import { mayAnswer, needsNoApprover, type People } from "./people.ts";
import { CARD_LIFE_MS, codeOfCard, newRid, uuidOf, type AskRecord, type Home } from "./records.ts";
import { targetOf, type Sending } from "./streamer.ts";
import { describeRequest } from "../../view/describe.ts";

/** A card is sent anew before it is too old to be clicked. */
const RENEW_MS = CARD_LIFE_MS - 24 * 60 * 60_000;

type Audience = Pick<AskRecord, "chat" | "watch" | "for" | "from" | "called">;

/** Requests as cards: sent once to everybody who should see them, changed when they end. */
export type Asker = {
  /** Sends its cards unless they stand there already. */
  present(request: InputRequest): Promise<void>;
  settle(request: InputRequest, resolution: Resolution): Promise<void>;
  /** Calls those who were asked once more. */
  remind(request: InputRequest): Promise<void>;
  /** Calls somebody who was not asked yet, by the name of the settings. */
  escalate(request: InputRequest, to: string): Promise<void>;
  /** The card as it should look now. */
  card(request: InputRequest, record: AskRecord): Card;
  closed(request: InputRequest, resolution: Resolution): Card;
  /** Words that answer this card, as they are to be typed where it stands. */
  typed(record: AskRecord): (words: string) => string;
};

export type AskerParts = Sending & {
  people(): People;
  /** What the bot is called, for those who call it by a mention. */
  botName(): string;
};

export function createAsker(sending: AskerParts, home: () => Home): Asker {
  const { channel, records, people, now, log } = sending;
  const speeches = () => sending.speak(home().chat);

  const make = (request: InputRequest, record: AskRecord): AskingCard => {
    const { value, masked } = redacted(request, sending.redaction);
    const { rid, g, file } = record;
    const asked: Asked = {
      ...{ rid, g, masked, now: now(), session: record.session, folder: basename(home().cwd), typed: typedAt(record) },
      ...(file && { file }),
      ...(record.for !== undefined && { for: record.for }),
      ...(record.called && { called: record.called }),
      ...(record.from !== undefined && { from: channel.linkTo(record.from) }),
    };
    const { watch } = record;
    if (watch) return { card: watchCard(value, ({ t }) => told(watch.asked, request, t), now(), speeches()) };
    if (value.kind === "permission") return permissionCard(value, asked, speeches());
    return value.kind === "question" ? questionCard(value, asked, speeches()) : textCard(value, asked, speeches());
  };

  /** In a group the bot hears only what mentions it. The code says which card is meant, also where none can be quoted. */
  const typedAt =
    ({ rid, chat }: AskRecord) =>
    (words: string): string => {
      const mention = home().group && chat === home().chat ? `@${sending.botName()} ` : "";
      return `${mention}${words.replace(/^\/\w+/, (command) => `${command} #${codeOfCard(rid)}`)}`;
    };

  const told = (names: readonly string[], request: InputRequest, t: Speech["t"]): string =>
    names.length > 0 ? t.approversAsked(names.join(t.comma)) : `${t.noApprovers} ${t.answerThere(request.id)}`;

  const closed = (request: InputRequest, resolution: Resolution): Card => {
    const { value } = redacted({ request, resolution }, sending.redaction);
    return closedCard(value.request, value.resolution, now(), speeches());
  };

  const nameOf = async (id: string) => (await channel.userName(id).catch(() => undefined)) ?? t().somebody;
  const t = () => speeches()[0].t;

  /** Open ids of approvers by their names in the settings. */
  const idsOf = (names: readonly string[]): string[] =>
    people().approve.filter((id) => names.includes(people().names?.[id] ?? id));

  /** Approvers who are called later are not called now, unless nobody would be left. */
  const firstAsked = ({ deadline }: InputRequest): string[] => {
    const later = idsOf((deadline?.escalation ?? []).map(({ to }) => to));
    const first = people().approve.filter((id) => !later.includes(id));
    return first.length > 0 ? first : [...people().approve];
  };

  /**
   * Who may answer is called. In a group the card mentions them; who is not in it is asked in their own chat with the bot. Where
   * nobody can tell who is in a group, they are called in both places: once too often is better than never. In a chat with the bot
   * alone, the person there sees who was asked.
   */
  const audience = async (request: InputRequest): Promise<Audience[]> => {
    const { chat, group, owner } = home();
    const person = { openId: owner, tenantKey: people().tenant ?? "" };
    const forOwner = mayAnswer(people(), person, request, owner) && needsNoApprover(request);
    if (forOwner) return [{ chat, ...(group && { called: [owner] }) }];
    const approvers = firstAsked(request);
    if (!group && approvers.includes(owner)) return [{ chat }];
    const present = group ? await channel.members(chat).catch(() => undefined) : [];
    const absent = approvers.filter((one) => !present?.includes(one));
    const whose = await nameOf(owner);
    const elsewhere = absent.map((one): Audience => ({ chat: one, for: whose, ...(group && { from: chat }) }));
    if (!group) return [...elsewhere, { chat, watch: { asked: await Promise.all(approvers.map(nameOf)) } }];
    return [{ chat, called: approvers.filter((one) => present?.includes(one) ?? true) }, ...elsewhere];
  };

  const targetFor = ({ chat }: AskRecord) => (chat === home().chat ? targetOf(home()) : { chat });

  /** What does not fit goes out before the card that refers to it. */
  const sendFile = async (record: AskRecord, file: { name: string; text: string }): Promise<"sent" | "failed"> => {
    try {
      const content = Buffer.from(file.text);
      await channel.sendFile({ ...targetFor(record), uuid: uuidOf(record.rid, "file"), name: file.name, content });
      return "sent";
    } catch (error) {
      if (!wantsPlainer(error)) throw error;
      log(`the file of a request could not be sent: ${messageOf(error)}`);
      return "failed";
    }
  };

  const sendCard = async (request: InputRequest, record: AskRecord): Promise<Sent & { spoken: boolean }> => {
    const target = targetFor(record);
    try {
      const { card } = make(request, record);
      return { ...(await channel.sendCard({ ...target, uuid: uuidOf(record.rid, "card"), card })), spoken: false };
    } catch (error) {
      if (!wantsPlainer(error)) throw error;
      log(`the card of a request could not be sent: ${messageOf(error)}`);
      const clean = sending.redaction.value(request);
      const text = inLocales(speeches(), (speech) => plainWords(inWords(clean, record, speech)));
      return { ...(await channel.sendText({ ...target, uuid: uuidOf(record.rid, "words"), text })), spoken: true };
    }
  };

  const inWords = (request: InputRequest, record: AskRecord, speech: Speech): string => {
    const { t, words } = speech;
    const { deadline } = request;
    const left = deadline && words.duration(Math.max(1_000, deadline.at - now()));
    const until = deadline && left !== undefined ? [t.waitsFor(left, deadline.policy)] : [];
    const typed = typedAt(record);
    const how = record.watch ? [] : [(request.kind === "permission" ? t.permissionByText : t.questionByText)(typed)];
    if (request.kind === "permission")
      return [t.cardFailed, actionText(describeRequest(request), speech), ...how, ...until].join("\n");
    const asked =
      request.kind === "text"
        ? [harmless(request.prompt)]
        : request.questions
            .map((one) => words.question(one))
            .flatMap(({ question, options }, n) => [
              `${request.questions.length > 1 ? `${n + 1}. ` : ""}${harmless(question)}`,
              ...options.map(({ label, description }, at) => harmless(`   ${at + 1}. ${label} — ${description}`)),
            ]);
    return [t.cardFailed, ...asked, ...how, ...until].join("\n");
  };

  const presentAt = async (request: InputRequest, first: AskRecord): Promise<void> => {
    // On disk before it is sent: a click on it finds it, and after a crash it is the same card.
    let record = first;
    records.saveCard(record);
    const { file } = make(request, record);
    if (file && !record.file) {
      record = { ...record, file: await sendFile(record, file) };
      records.saveCard(record);
    }
    const { messageId: message, at: shownAt = now(), spoken } = await sendCard(request, record);
    // A click may have come before the answer to the sending.
    const latest = records.card(record.rid);
    const known = latest?.k === "ask" ? latest : record;
    records.saveCard({ ...known, message, at: now(), shownAt, ...(spoken && { spoken }) });
  };

  const change = async (record: AskRecord, card: Card): Promise<void> => {
    if (record.message === undefined || record.spoken) return;
    await channel.patchCard(record.message, card).catch((error: unknown) => {
      if (passes(error)) throw error;
      log(`a card could not be changed: ${messageOf(error)}`); // a click on it mends it
    });
  };

  return {
    closed,
    typed: typedAt,
    card: (request, record) => make(request, record).card,
    async present(request) {
      const { session } = home();
      const cards = records.openCards(session, request.id);
      for (const old of cards.filter(({ at }) => now() - at > RENEW_MS)) {
        records.closeCard(old);
        await change(old, movedCard(speeches()));
      }
      const standing = records.openCards(session, request.id);
      if (standing.length > 0 && standing.every(({ message }) => message !== undefined)) return;
      const wanted = standing.length > 0 ? standing : await audience(request);
      const asked = wanted.map((one): AskRecord => {
        const before = standing.find(({ chat }) => chat === one.chat);
        return before ?? { k: "ask", rid: newRid(), request: request.id, session, g: 1, at: now(), ...one };
      });
      for (const record of asked) records.saveCard(record);
      // One who cannot be reached must not keep it from the others.
      const failures: unknown[] = [];
      for (const record of asked)
        if (record.message === undefined) await presentAt(request, record).catch((error) => failures.push(error));
      const again = failures.find(passes) ?? (failures.length === asked.length ? failures[0] : undefined);
      if (again !== undefined) throw again;
      for (const error of failures) log(`somebody could not be asked: ${messageOf(error)}`);
    },
    async remind(request) {
      const { deadline } = request;
      if (!deadline) return;
      const left = Math.max(1_000, deadline.at - now());
      for (const record of records.openCards(home().session, request.id)) {
        const { message, chat, called = [] } = record;
        if (record.watch || record.reminded || message === undefined) continue;
        const text = inLocales(speeches(), ({ t, words }) => t.reminder(words.duration(left), deadline.policy));
        const target = { ...targetFor(record), chat, replyTo: message };
        await channel.sendText({ ...target, uuid: uuidOf(record.rid, "reminder"), text, mention: called });
        records.saveCard({ ...record, reminded: true });
      }
    },
    async escalate(request, to) {
      const ids = idsOf([to]);
      if (ids.length === 0) log(`nobody called ${to} may approve, so nobody else was called`);
      const { session, chat, group, owner } = home();
      const present = group ? await channel.members(chat).catch(() => undefined) : [];
      for (const id of ids) {
        const cards = records.openCards(session, request.id);
        const [there] = cards.filter((card) => card.chat === chat && !card.watch && card.message !== undefined);
        if (there && present?.includes(id)) {
          if (there.called?.includes(id)) continue;
          const text = inLocales(speeches(), ({ t }) => t.escalated(to));
          const target = { ...targetFor(there), replyTo: there.message ?? "", uuid: uuidOf(there.rid, "escalate", id) };
          await channel.sendText({ ...target, text, mention: [id] });
          records.saveCard({ ...there, called: [...(there.called ?? []), id] });
        } else if (!cards.some((card) => card.chat === id && card.message !== undefined)) {
          const before = cards.find((card) => card.chat === id);
          const asked = { chat: id, for: await nameOf(owner), ...(group && { from: chat }) };
          const fresh: AskRecord = { k: "ask", rid: newRid(), request: request.id, session, g: 1, at: now(), ...asked };
          await presentAt(request, before ?? fresh);
        }
      }
    },
    async settle(request, resolution) {
      for (const record of records.openCards(home().session, request.id)) {
        if (record.spoken) {
          const text = inLocales(speeches(), ({ t }) => {
            const end = `${t.closed[request.kind]}: ${t.ended[endOf(resolution)]}`;
            return plainWords(`${end} · ${whoOf(resolution, t)} ${whereOf(resolution.surface, t)}`);
          });
          await channel.sendText({ ...targetFor(record), uuid: uuidOf(record.rid, "closed"), text });
        } else await change(record, closed(request, resolution));
        records.closeCard(record);
      }
    },
  };
}
