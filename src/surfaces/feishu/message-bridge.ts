import { join } from "node:path";
import { messageOf, reasonOf, type InputRequest, type Sender } from "../../protocol/index.ts";
import { errorText } from "../../texts/error.ts";
import { plainWords } from "./cards/escape.ts";
import { whoOf } from "./cards/closed.ts";
import { helpCard } from "./cards/lists.ts";
import { inLocales, type Phrase, type Speeches } from "./cards/speech.ts";
import type { FeishuChannel, Incoming, Recall } from "./channel.ts";
import type { CommandHandler, CommandResult } from "./command-handler.ts";
import { receiveFiles } from "./files.ts";
import type { Follow } from "./follow.ts";
import { mayAnswer, mayTalk } from "./people.ts";
import { decided, readText } from "./input.ts";
import { broughtBy } from "./referred.ts";
import { codeOfCard, isAt, uuidOf, type AskRecord, type Records } from "./records.ts";
import type { SessionManager } from "./session-manager.ts";
import { codeOf, route, type Hint, type Said } from "./state.ts";
import type { Stops } from "./stops.ts";
import { folderOf, limitsOf, type Team } from "./team.ts";

const DAY_MS = 24 * 60 * 60_000;

export type BridgeParts = {
  channel: FeishuChannel;
  records: Records;
  sessions: SessionManager;
  commands: CommandHandler;
  team(): Team;
  speak(chat: string): Speeches;
  model?: string;
  /** Where received files go: below it a folder for each session, which that session alone may read. */
  inbox: string;
  stops: Stops;
  log(line: string): void;
  senderOf(openId: string): Promise<Sender>;
};

/** A message on its way. `refers`: it replies to something that no session has heard of. */
type Going = { signal: AbortSignal; refers: boolean };

type Meant = { said: Said; record?: AskRecord; follow?: Follow };

export type MessageBridge = {
  handle(message: Incoming): Promise<void>;
  recalled(recall: Recall): Promise<void>;
  /** Replies that were on their way are sent, or have failed. */
  settled(): Promise<void>;
};

/** Messages of people → commands to the host. Who may, what it belongs to, what becomes of it: in this order. */
export function createMessageBridge(parts: BridgeParts): MessageBridge {
  const { channel, records, sessions, commands, team, log, stops } = parts;
  const people = () => team().people;
  const replies = new Set<Promise<void>>();

  /** A reply is a courtesy: nothing that people say waits until it could be sent. */
  const reply = (sending: Promise<unknown>): void => {
    const done = sending
      .then(
        () => {},
        (error: unknown) => log(`a reply could not be sent: ${messageOf(error)}`),
      )
      .finally(() => replies.delete(done));
    replies.add(done);
  };
  const targetOf = ({ chatId, messageId, chatType }: Incoming) => ({
    ...{ chat: chatId, replyTo: messageId, ...(chatType === "group" && { inThread: true }) },
  });
  const say = (message: Incoming, phrase: Phrase, what = "reply"): void => {
    const text = inLocales(parts.speak(message.chatId), (speech) => plainWords(phrase(speech)));
    reply(channel.sendText({ ...targetOf(message), uuid: uuidOf(message.messageId, what), text }));
  };

  /** In a group only what is meant for the bot: it is mentioned, or this is its thread, or its card is quoted. */
  const isMeant = ({ chatType, mentionsBot, rootId, parentId, threadId, chatId }: Incoming): boolean => {
    if (chatType === "p2p" || mentionsBot) return true;
    const ours = [rootId, parentId].some(
      (id) => id !== undefined && (records.root(id) ?? records.ofMessage(id)) !== undefined,
    );
    return ours || (threadId !== undefined && records.place(chatId, threadId) !== undefined);
  };

  /** The request that is quoted or named, with the session it belongs to. */
  const meantBy = async (message: Incoming): Promise<Meant> => {
    const { text, parentId, chatId, sender } = message;
    const at = { chatId, openId: sender.openId };
    const coded = codeOf(text);
    if (coded) {
      const named = records.openCards().find((one) => codeOfCard(one.rid) === coded.code && isAt(one, at));
      if (named) return meaning(coded.rest, named);
      if (coded.sure) return { said: { text: coded.rest, meant: "closed" } };
    }
    const record = parentId === undefined ? undefined : records.ofMessage(parentId);
    return record?.k === "ask" && isAt(record, at) ? meaning(text, record) : { said: { text } };
  };

  const meaning = async (text: string, record: AskRecord): Promise<Meant> => {
    const follow = await sessions.of(record.session);
    const request = follow?.view.open().find(({ id }) => id === record.request);
    return { said: { text, meant: request ?? "closed" }, record, ...(follow && { follow }) };
  };

  const perform = async (message: Incoming, result: CommandResult, going: Going): Promise<void> => {
    if ("text" in result) return say(message, result.text);
    if ("task" in result) return task(message, result.follow, result.task, going);
    const { card, sent } = result;
    const sending = channel.sendCard({ ...targetOf(message), uuid: uuidOf(message.messageId, "card"), card });
    reply(sending.then(({ messageId }) => sent?.(messageId)));
  };

  /** What was attached is told by its path, and what the person refers to comes first. */
  const compose = async (
    message: Incoming,
    { handle }: Follow,
    text: string,
    { signal, refers }: Going,
  ): Promise<string> => {
    const isKnown = () => !refers;
    const brought = await broughtBy(message, { channel, isKnown, log });
    const receiving = { channel, folder: join(parts.inbox, handle.session), log, signal };
    const received = [];
    for (const one of [...brought.files, message]) received.push(await receiveFiles(one, receiving));
    const problems = [...(brought.problem ? [brought.problem] : []), ...received.flatMap((one) => one.problems)];
    if (problems.length > 0) say(message, (speech) => problems.map((one) => one(speech)).join("\n"), "files");
    const [quoted = [], own = []] =
      brought.files.length > 0 ? received.map(({ told }) => told) : [[], received[0]?.told];
    return [brought.words, ...quoted, text, ...own].filter((one) => one.trim() !== "").join("\n");
  };

  const task = async (message: Incoming, given: Follow, text: string, going: Going): Promise<void> => {
    let follow = given;
    let whole = await compose(message, follow, text, going);
    if (whole.trim() === "") return;
    const from = await parts.senderOf(message.sender.openId);
    going.signal.throwIfAborted();
    const more = { id: message.messageId, limits: limitsOf(team(), message.chatId) };
    let reply = await follow.handle.sendMessage(whole, from, more);
    // Somebody has deleted it: what is said now begins another.
    if (!reply.ok && reply.code === "session-unknown") {
      follow = await begin(message);
      whole = await compose(message, follow, text, going);
      reply = await follow.handle.sendMessage(whole, from, more);
    }
    if (reply.ok) return records.setSaid(message.messageId, follow.handle.session, message.sender.openId);
    if (reply.code === "queue-full") return say(message, ({ t }) => t.queueFull);
    const why = reply;
    const unknown = reply.code === "input-invalid" && /^\/\S+$/.test(whole.trim());
    return say(message, ({ t, words }) =>
      unknown ? t.unknownCommand(whole.trim()) : t.failedToSay(errorText(why, words)),
    );
  };

  const answer = async (
    message: Incoming,
    { follow, request, text }: { follow: Follow; request: InputRequest; text: string },
    going: Going,
  ): Promise<void> => {
    const read = readText(request, await compose(message, follow, text, { ...going, refers: false }));
    if ("problem" in read) return say(message, (speech) => speech.t.answerFirst(read.problem(speech)));
    return respond(message, follow, request, read.response);
  };

  const respond = async (
    message: Incoming,
    follow: Follow,
    request: InputRequest,
    response: Parameters<Follow["handle"]["sendAnswer"]>[0],
  ): Promise<void> => {
    if (!mayAnswer(people(), message.sender, request, follow.home().owner)) {
      records.refused({ operator: message.sender, messageId: message.messageId, request: request.id, at: message.at });
      return say(message, ({ t }) => t.mayNotAnswer);
    }
    const from = await parts.senderOf(message.sender.openId);
    const reply = await follow.handle.sendAnswer(response, from);
    if (reply.ok) return void channel.react(message.messageId, "DONE"); // nothing waits for a courtesy
    // The same message, come again after a restart, has won already.
    const { resolution: won } = reply;
    if (won && won.by === from.by && won.surface === from.surface) return;
    return say(message, ({ t, words }) => (won ? t.raceLost(whoOf(won, t)) : t.failedToSay(errorText(reply, words))));
  };

  return {
    async handle(given) {
      // A Chinese keyboard writes a wide slash.
      const message = { ...given, text: given.text.replace(/^\s*／/, "/") };
      if (!isMeant(message)) return;
      if (!mayTalk(people(), message.sender)) return refuse(message);
      const { signal, end } = stops.begin(message);
      try {
        await hear(message, { signal, refers: refersElsewhere(message) });
      } catch (error) {
        if (!signal.aborted) throw error;
        say(message, ({ t }) => t.stoppedBefore, "stopped");
      } finally {
        end();
      }
    },
    recalled,
    async settled() {
      while (replies.size > 0) await Promise.all(replies);
    },
  };

  function refuse({ sender, chatId, ...message }: Incoming): void {
    log(`a message of ${sender.openId || "nobody"} was refused`);
    // Once a day is enough to tell them; more would be a way to make the bot talk.
    if (records.once(`stranger/${chatId}/${sender.openId}`, DAY_MS))
      say({ ...message, sender, chatId }, ({ t }) =>
        message.chatType === "group" ? t.mayNotTalk : t.mayNotTalkAlone(sender.openId),
      );
  }

  /** The message that is replied to is somebody else's, and no session has heard of it. */
  function refersElsewhere({ parentId }: Incoming): boolean {
    if (parentId === undefined) return false;
    return [records.root, records.ofMessage, records.said].every((known) => known(parentId) === undefined);
  }

  /** Changed while it is worked on, the session is told; afterwards it is too late. */
  async function edited(message: Incoming, going: Going): Promise<void> {
    const taken = records.said(message.messageId);
    const follow = taken && (await sessions.of(taken.session));
    if (!follow?.view.working()) return taken ? say(message, ({ t }) => t.editedLate, "edited") : undefined;
    const from = await parts.senderOf(message.sender.openId);
    going.signal.throwIfAborted();
    const text = `[The person has changed an earlier message. It now says:]\n${message.text}`;
    await follow.handle.sendMessage(text, from, { id: `${message.messageId}/${message.editedAt}` });
    void channel.react(message.messageId, "Get");
  }

  /** A task that is taken back is stopped; a word that is taken back is told to be. */
  async function recalled({ messageId, byAuthor }: Recall): Promise<void> {
    const taken = records.said(messageId);
    const follow = taken && (await sessions.of(taken.session));
    if (!taken || !follow?.view.working()) return;
    const from = byAuthor ? await parts.senderOf(taken.openId) : { by: "administrator", surface: "feishu" };
    if (follow.view.isBegunWith(messageId)) return void (await follow.handle.finish(from));
    const text = "[An earlier message was taken back. Do not act on it any more.]";
    await follow.handle.sendMessage(text, from, { id: `${messageId}/recalled` });
  }

  async function hear(message: Incoming, going: Going): Promise<void> {
    const { signal } = going;
    if (message.editedAt !== undefined) return edited(message, going);
    if (message.kind === "audio") return say(message, ({ t }) => t.noVoice);
    if (commands.isCommand(message.text)) {
      try {
        await perform(message, await commands.handle(message), going);
      } catch (error) {
        signal.throwIfAborted();
        log(`a command failed: ${messageOf(error)}`);
        say(message, ({ t, words }) => t.failedToSay(words.because(reasonOf(error))), "failed");
      }
      return;
    }
    if (message.text.trim() === "" && message.attachments.length === 0 && message.kind !== "merge_forward") {
      const words = message.kind === "text" || message.kind === "post";
      const help = helpCard(parts.speak(message.chatId));
      return words ? perform(message, { card: help }, going) : say(message, ({ t }) => t.cannotRead);
    }
    signal.throwIfAborted();
    try {
      await deliver(message, going);
    } catch (error) {
      if (!signal.aborted) say(message, ({ t, words }) => t.failedToSay(words.because(reasonOf(error))), "failed");
      throw error; // it is kept, and tried again
    }
  }

  async function deliver(message: Incoming, going: Going): Promise<void> {
    const { said, record, follow: meant } = await meantBy(message);
    const follow = meant ?? (await sessions.find(message));
    const open = follow ? sessions.openBeside(follow) : [];
    const next = route(follow?.view.state() ?? "IDLE", said, open);
    switch (next.to) {
      case "task":
        if (!follow && sessions.hasLeft(message)) say(message, ({ t }) => t.hasLeft, "left");
        return task(message, follow ?? (await begin(message)), said.text, going);
      case "queue":
        return follow && note(message, follow, said.text, going);
      case "answer": {
        const { request, text } = next;
        // Typed before the question was to be seen, it was not meant for it.
        if (follow && !record && isEarlier(message, request)) return note(message, follow, said.text, going);
        return follow && answer(message, { follow: ownerOf(request, follow), request, text }, going);
      }
      case "decide":
        // What the card could not show whole is read first, in words as by button.
        if ("allow" in next.decision && !record?.spoken && (record?.file === "sent" || record?.file === "failed"))
          return say(message, ({ t }) => (record.file === "sent" ? t.readFirst : t.notAttached));
        return (
          follow && respond(message, ownerOf(next.request, follow), next.request, decided(next.request, next.decision))
        );
      case "hint":
        return hint(message, next.hint, open);
      default:
        return next satisfies never;
    }
  }

  /** With the words to type for each card that is open here. */
  function hint(message: Incoming, which: Hint, open: readonly InputRequest[]): void {
    const at = { chatId: message.chatId, openId: message.sender.openId };
    const ways = open.flatMap(({ id, session, kind }) => {
      const [card] = records.openCards(session, id).filter((one) => isAt(one, at) && !one.watch);
      return card ? [sessions.typed(card)(kind === "permission" ? "/allow" : "/answer")] : [];
    });
    say(message, ({ t }) => [t[which], ...(which === "notThis" ? [] : ways)].join("\n"));
  }

  function begin(message: Incoming): Promise<Follow> {
    return sessions.begin(message, {
      cwd: folderOf(team(), message.chatId),
      ...(parts.model !== undefined && { model: parts.model }),
    });
  }

  async function note(message: Incoming, follow: Follow, text: string, going: Going): Promise<void> {
    await task(message, follow, text, going);
    void channel.react(message.messageId, "Get");
  }

  function isEarlier({ at, chatId, sender }: Incoming, { id, session }: InputRequest): boolean {
    const cards = records.openCards(session, id).filter((one) => isAt(one, { chatId, openId: sender.openId }));
    return cards.every((one) => one.message === undefined || at < (one.shownAt ?? one.at));
  }

  /** The one open request of a chat may be another session's. */
  function ownerOf(request: InputRequest, follow: Follow): Follow {
    const { chat } = follow.home();
    return sessions.openInChat(chat).find((one) => one.request.id === request.id)?.follow ?? follow;
  }
}
