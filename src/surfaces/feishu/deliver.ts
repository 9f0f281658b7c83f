import { join } from "node:path";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { MAX_IMAGES, type GivenImage } from "../../protocol/image.ts";
import { errorText } from "../../texts/shared/error.ts";
import { slashTexts } from "../../texts/surfaces/slash.ts";
import { unknownSlash } from "../../view/slash/read.ts";
import type { Bridge, Going } from "./message-bridge.ts";
import { closedBy } from "./cards/closed.ts";
import type { Incoming } from "./channel/channel.ts";
import { receiveFiles } from "./chat/files.ts";
import type { Follow } from "./session/follow.ts";
import { decided, readText } from "./input.ts";
import { mayAnswer } from "./bot/people.ts";
import { codeOfCard, isAt, isAway, type AskRecord } from "./bot/records.ts";
import { broughtBy } from "./chat/referred.ts";
import { chatOffer, readCode, route, type Hint, type Said } from "./session/state.ts";
import { folderOf, limitsOf } from "./bot/team.ts";

/** The message's text and the request it refers to, with that request's card and session if there are any. */
type Meant = { said: Said; record?: AskRecord; follow?: Follow };

/** Brings a message to its session, as a task, an answer or a decision. */
export async function deliver(bridge: Bridge, message: Incoming, going: Going): Promise<void> {
  const { sessions, say } = bridge;
  const { said, record, follow: meant } = await meantBy(bridge, message);
  // In answer to the card of a session that speaks elsewhere, nothing but an answer is for that session.
  const isOver = said.meant === "closed" && meant !== undefined && isAway(meant.home());
  const follow = isOver ? await sessions.find(message) : (meant ?? (await sessions.find(message)));
  const open = follow ? sessions.openBeside(follow) : [];
  const next = route(follow?.view.state() ?? "IDLE", said, open);
  switch (next.to) {
    case "task":
      if (!follow && sessions.hasLeft(message)) say(message, ({ t }) => t.hasLeft, "left");
      return task(bridge, { message, follow: follow ?? (await begin(bridge, message)), text: said.text }, going);
    case "queue":
      return follow && note(bridge, { message, follow, text: said.text }, going);
    case "answer": {
      const { request, text } = next;
      // Typed before the question was visible, so it is no answer to it.
      if (follow && !record && isEarlier(bridge, message, request))
        return note(bridge, { message, follow, text: said.text }, going);
      return follow && answer(bridge, { message, follow: followFor(bridge, request, follow), text }, request, going);
    }
    case "decide":
      // A call that the card could not show whole is read first, in words as by button.
      if ("allow" in next.decision && !record?.spoken && (record?.file === "sent" || record?.file === "failed"))
        return say(message, ({ t }) => (record.file === "sent" ? t.readFirst : t.notAttached));
      return (
        follow &&
        respond(
          bridge,
          { message, follow: followFor(bridge, next.request, follow) },
          next.request,
          decided(next.request, next.decision),
        )
      );
    case "inquire":
      return (
        follow &&
        inquire(bridge, { message, follow: followFor(bridge, next.request, follow), text: next.text }, next.request)
      );
    case "hint":
      return hint(bridge, message, { which: next.hint, open });
    default:
      return next satisfies never;
  }
}

/** The request that is quoted or named, with the session it belongs to. */
async function meantBy(bridge: Bridge, message: Incoming): Promise<Meant> {
  const { records } = bridge;
  const { text, parentId, chatId, sender } = message;
  const at = { chatId, openId: sender.openId };
  const coded = readCode(text);
  if (coded) {
    const named = records.openCards().find((card) => codeOfCard(card.rid) === coded.code && isAt(card, at));
    if (named) return meaning(bridge, coded.rest, named);
    if (coded.sure) return { said: { text: coded.rest, meant: "closed" } };
  }
  const record = parentId === undefined ? undefined : records.ofMessage(parentId);
  return record?.k === "ask" && isAt(record, at) ? meaning(bridge, text, record) : { said: { text } };
}

async function meaning({ sessions }: Bridge, text: string, record: AskRecord): Promise<Meant> {
  const follow = await sessions.of(record.session);
  const request = follow?.view.open().find(({ id }) => id === record.request);
  return { said: { text, meant: request ?? "closed" }, record, ...(follow && { follow }) };
}

type Words = { message: Incoming; follow: Follow; text: string; when?: "now" | "next" };

export async function task(bridge: Bridge, words: Words, going: Going): Promise<void> {
  const { message } = words;
  const { records, say } = bridge;
  let { follow } = words;
  let whole = await compose(bridge, words, going);
  if (whole.text.trim() === "") return;
  const from = await bridge.senderOf(message.sender.openId);
  going.signal.throwIfAborted();
  const more = { id: message.messageId, when: words.when ?? "next", limits: limitsOf(bridge.team(), message.chatId) };
  const send = () => follow.handle.sendMessage(whole.text, from, { ...more, images: whole.images });
  let reply = await send();
  // The session was deleted: the message begins another.
  if (!reply.ok && reply.code === "session-unknown") {
    follow = await begin(bridge, message);
    whole = await compose(bridge, { ...words, follow }, going);
    reply = await send();
  }
  if (reply.ok) return records.setSaid(message.messageId, follow.handle.session, message.sender.openId);
  if (reply.code === "queue-full") return say(message, ({ t }) => t.queueFull);
  const why = reply;
  return say(
    message,
    ({ lang, t, words }) =>
      unknownSlash(why, whole.text, chatOffer, slashTexts(lang)) ?? t.failedToSay(errorText(why, words)),
  );
}

/** The text that the session gets: the message referred to, the person's words, and attached files by their paths. */
async function compose(
  bridge: Bridge,
  { message, follow, text }: Words,
  { signal, refers }: Going,
): Promise<{ text: string; images: GivenImage[] }> {
  const { channel, log, say } = bridge;
  const isKnown = () => !refers;
  const brought = await broughtBy(message, { channel, isKnown, log });
  const receiving = { channel, folder: join(bridge.inbox, follow.handle.session), log, signal };
  const received = [];
  for (const source of [...brought.files, message]) received.push(await receiveFiles(source, receiving));
  const problems = [...(brought.problem ? [brought.problem] : []), ...received.flatMap((files) => files.problems)];
  if (problems.length > 0) say(message, (speech) => problems.map((problem) => problem(speech)).join("\n"), "files");
  const [quoted = [], own = []] = brought.files.length > 0 ? received.map(({ told }) => told) : [[], received[0]?.told];
  return {
    text: [brought.words, ...quoted, text, ...own].filter((part) => part.trim() !== "").join("\n"),
    images: received.flatMap(({ images }) => images).slice(0, MAX_IMAGES),
  };
}

async function answer(bridge: Bridge, words: Words, request: InputRequest, going: Going): Promise<void> {
  const { message } = words;
  const read = readText(request, (await compose(bridge, words, { ...going, refers: false })).text);
  if ("problem" in read) return bridge.say(message, (speech) => speech.t.answerFirst(read.problem(speech)));
  return respond(bridge, words, request, read.response);
}

async function respond(
  bridge: Bridge,
  { message, follow }: Omit<Words, "text">,
  request: InputRequest,
  response: InputResponse,
): Promise<void> {
  const { records, say } = bridge;
  if (!mayAnswer(bridge.team().people, message.sender, request, follow.home().owner)) {
    records.refused({ operator: message.sender, messageId: message.messageId, request: request.id, at: message.at });
    return say(message, ({ t }) => t.mayNotAnswer);
  }
  const from = await bridge.senderOf(message.sender.openId);
  const reply = await follow.handle.sendAnswer(response, from);
  if (reply.ok && !reply.resolution && reply.approved.again) return say(message, ({ words }) => words.approvedAgain);
  if (reply.ok) return void bridge.channel.react(message.messageId, "DONE"); // nothing waits for a courtesy
  // The same message, come again after a restart, has won already.
  const { resolution: won } = reply;
  if (won && won.by === from.by && won.surface === from.surface) return;
  return say(message, ({ t, words }) => (won ? t.raceLost(closedBy(won, t)) : t.failedToSay(errorText(reply, words))));
}

/** Everybody who may talk may ask; the reply comes below every card of the request. */
async function inquire(bridge: Bridge, { message, follow, text }: Words, request: InputRequest): Promise<void> {
  const from = await bridge.senderOf(message.sender.openId);
  const reply = await follow.handle.sendInquiry({ requestId: request.id, text, id: message.messageId }, from);
  if (reply.ok) return void bridge.channel.react(message.messageId, "Get");
  const { resolution: won } = reply;
  return bridge.say(message, ({ t, words }) =>
    won ? t.raceLost(closedBy(won, t)) : t.failedToSay(errorText(reply, words)),
  );
}

/** Says why the message was not accepted, and what to type for each open card. */
function hint(
  { records, sessions, say }: Bridge,
  message: Incoming,
  { which, open }: { which: Hint; open: readonly InputRequest[] },
): void {
  const at = { chatId: message.chatId, openId: message.sender.openId };
  const ways = open.flatMap(({ id, session, kind }) => {
    const [card] = records.openCards(session, id).filter((record) => isAt(record, at) && !record.watch);
    return card ? [sessions.typed(card)(kind === "permission" ? "/allow" : "/answer")] : [];
  });
  say(message, ({ t }) => [t[which], ...(which === "notThis" ? [] : ways)].join("\n"));
}

function begin({ sessions, team, model }: Bridge, message: Incoming): Promise<Follow> {
  return sessions.begin(message, { cwd: folderOf(team(), message.chatId), ...(model !== undefined && { model }) });
}

/** A word to a session that works: read with its next step. */
async function note(bridge: Bridge, words: Words, going: Going): Promise<void> {
  await task(bridge, words, going);
  void bridge.channel.react(words.message.messageId, "Get");
}

/** The message was written before the card of the request could be seen. */
function isEarlier({ records }: Bridge, { at, chatId, sender }: Incoming, { id, session }: InputRequest): boolean {
  const cards = records.openCards(session, id).filter((card) => isAt(card, { chatId, openId: sender.openId }));
  return cards.every((card) => card.message === undefined || at < (card.shownAt ?? card.at));
}

/** The one open request of a chat may be another session's. */
function followFor({ sessions }: Bridge, request: InputRequest, follow: Follow): Follow {
  const { chat } = follow.home();
  return sessions.openInChat(chat).find((open) => open.request.id === request.id)?.follow ?? follow;
}
