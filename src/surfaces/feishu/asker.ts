import { basename } from "node:path";
import { describeRequest, harmless, messageOf, type InputRequest, type Resolution } from "../../protocol/index.ts";
import type { Texts } from "../../texts/texts.ts";
import { actionText } from "./cards/action.ts";
import type { Card } from "./cards/card.ts";
import { closedCard, endOf, whereOf, whoOf } from "./cards/closed.ts";
import { plainWords } from "./cards/escape.ts";
import { permissionCard, type Asked, type AskingCard } from "./cards/permission.ts";
import { questionCard, textCard } from "./cards/question.ts";
import { redacted } from "./cards/redact.ts";
import { timeOf } from "./cards/time.ts";
import { newRid, uuidOf, type CardRecord, type Home } from "./records.ts";
import { targetOf, type Sending } from "./streamer.ts";

export type AskRecord = CardRecord & { k: "ask" };

/** Requests as cards: sent once, changed when they end. */
export type Asker = {
  /** Sends its card unless it stands there already. */
  present(request: InputRequest): Promise<void>;
  settle(request: InputRequest, resolution: Resolution): Promise<void>;
  /** The card as it should look now. */
  card(request: InputRequest, record: AskRecord): Card;
  closed(request: InputRequest, resolution: Resolution): Card;
};

export function createAsker(sending: Sending & { words: Texts }, home: () => Home): Asker {
  const { channel, records, t, words, now, log } = sending;

  const make = (request: InputRequest, record: AskRecord): AskingCard => {
    const { value, masked } = redacted(request, sending.redaction);
    const { rid, g, file } = record;
    const asked: Asked = {
      ...{ t, words, rid, g, masked, now: now(), session: record.session, folder: basename(home().cwd) },
      ...(file && { file }),
    };
    if (value.kind === "permission") return permissionCard(value, asked);
    return value.kind === "question" ? questionCard(value, asked) : textCard(value, asked);
  };

  const closed = (request: InputRequest, resolution: Resolution): Card => {
    const { value } = redacted({ request, resolution }, sending.redaction);
    return closedCard(value.request, value.resolution, { t, words, now: now() });
  };

  /** What does not fit goes out before the card that refers to it. */
  const sendFile = async (record: AskRecord, file: { name: string; text: string }): Promise<"sent" | "failed"> => {
    try {
      const content = Buffer.from(file.text);
      await channel.sendFile({ ...targetOf(home()), uuid: uuidOf(record.rid, "file"), name: file.name, content });
      return "sent";
    } catch (error) {
      log(`the file of a request could not be sent: ${messageOf(error)}`);
      return "failed";
    }
  };

  const sendCard = async (request: InputRequest, record: AskRecord): Promise<{ message: string; spoken: boolean }> => {
    const target = targetOf(home());
    try {
      const { card } = make(request, record);
      const { messageId } = await channel.sendCard({ ...target, uuid: uuidOf(record.rid, "card"), card });
      return { message: messageId, spoken: false };
    } catch (error) {
      log(`the card of a request could not be sent: ${messageOf(error)}`);
      const text = plainWords(inWords(sending.redaction.value(request), record));
      const { messageId } = await channel.sendText({ ...target, uuid: uuidOf(record.rid, "words"), text });
      return { message: messageId, spoken: true };
    }
  };

  const inWords = (request: InputRequest, { rid }: AskRecord): string => {
    const code = rid.slice(0, 6);
    const until = request.deadline ? [t.waits(timeOf(request.deadline.at, now()))] : [];
    if (request.kind === "permission")
      return [
        t.cardFailed,
        actionText(describeRequest(request), { t, words }),
        t.permissionByCode(code),
        ...until,
      ].join("\n");
    const asked =
      request.kind === "text"
        ? [harmless(request.prompt)]
        : request.questions.flatMap(({ question, options }, n) => [
            `${request.questions.length > 1 ? `${n + 1}. ` : ""}${harmless(question)}`,
            ...options.map(({ label, description }, at) => harmless(`   ${at + 1}. ${label} — ${description}`)),
          ]);
    return [t.cardFailed, ...asked, t.answerByCode(code), ...until].join("\n");
  };

  return {
    closed,
    card: (request, record) => make(request, record).card,
    async present(request) {
      const { session, chat } = home();
      const before = records.openCard(session, request.id);
      if (before?.message !== undefined) return;
      // On disk before it is sent: a click on it finds it, and after a crash it is the same card.
      let record: AskRecord =
        before?.k === "ask" ? before : { k: "ask", rid: newRid(), request: request.id, session, chat, g: 1, at: now() };
      records.saveCard(record);
      const { file } = make(request, record);
      if (file && !record.file) {
        record = { ...record, file: await sendFile(record, file) };
        records.saveCard(record);
      }
      const { message, spoken } = await sendCard(request, record);
      // A click may have come before the answer to the sending.
      const latest = records.card(record.rid);
      records.saveCard({ ...(latest?.k === "ask" ? latest : record), message, ...(spoken && { spoken }) });
    },
    async settle(request, resolution) {
      const { session } = home();
      const record = records.openCard(session, request.id);
      if (!record) return;
      records.closeCard({ session, request: request.id });
      if (record.message === undefined) return;
      if (record.k === "ask" && record.spoken) {
        const line = `${t.closed[request.kind]}: ${t.ended[endOf(resolution)]} · ${whoOf(resolution, t)} ${whereOf(resolution.surface, t)}`;
        const uuid = uuidOf(record.rid, "closed");
        await channel.sendText({ ...targetOf(home()), uuid, text: plainWords(line) });
        return;
      }
      await channel.patchCard(record.message, closed(request, resolution));
    },
  };
}
