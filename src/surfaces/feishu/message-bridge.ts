import { reasonOf } from "../../protocol/reasons/reason.ts";
import { thrownText } from "../../texts/shared/error.ts";
import type { Sender } from "../../protocol/sender.ts";
import { withSlash, type TypedSlash } from "../../view/slash/read.ts";
import { helpCard } from "./cards/lists.ts";
import { inLocales, type Phrase, type Speeches } from "./cards/speech.ts";
import type { FeishuChannel, Incoming, Recall } from "./channel/channel.ts";
import type { CommandHandler, CommandResult } from "./commands/command-handler.ts";
import { deliver, task } from "./deliver.ts";
import { mayTalk } from "./bot/people.ts";
import { type Records, uuidOf } from "./bot/records.ts";
import type { SessionManager } from "./session/session-manager.ts";
import type { Stops } from "./commands/stops.ts";
import type { Team } from "./bot/team.ts";
import { plainWords } from "./cards/escape.ts";

const DAY_MS = 24 * 60 * 60_000;

type BridgeParts = {
  channel: FeishuChannel;
  records: Records;
  sessions: SessionManager;
  commands: CommandHandler;
  team(): Team;
  speak(chat: string): Speeches;
  model?: string;
  /** Folder for received files: below it one for each session, which that session alone may read. */
  inbox: string;
  stops: Stops;
  log(line: string): void;
  senderOf(openId: string): Promise<Sender>;
};

export type Bridge = BridgeParts & Replies;

/** A message on its way. `refers`: it replies to a message that no session has seen. */
export type Going = { signal: AbortSignal; refers: boolean };

type MessageBridge = {
  handle(message: Incoming): Promise<void>;
  recalled(recall: Recall): Promise<void>;
  settled(): Promise<void>;
};

/** Messages of people → commands to the host. In this order: may the person talk, where does it belong, what becomes of it. */
export function createMessageBridge(parts: BridgeParts): MessageBridge {
  const bridge: Bridge = { ...parts, ...createReplies(parts) };
  const { stops, say } = bridge;
  return {
    async handle(given) {
      // A Chinese keyboard writes a wide slash.
      const message = { ...given, text: withSlash(given.text) };
      if (!isMeant(bridge, message)) return;
      if (!mayTalk(bridge.team().people, message.sender)) return refuse(bridge, message);
      const { signal, end } = stops.begin(message);
      try {
        await hear(bridge, message, { signal, refers: refersElsewhere(bridge, message) });
      } catch (error) {
        if (!signal.aborted) throw error;
        say(message, ({ t }) => t.stoppedBefore, "stopped");
      } finally {
        end();
      }
    },
    recalled: (recall) => recalled(bridge, recall),
    settled: bridge.settled,
  };
}

/** In a group a message is for the bot that mentions it, is in its thread, or quotes its card. */
function isMeant({ records }: Bridge, { chatType, mentionsBot, ...message }: Incoming): boolean {
  const { rootId, parentId, threadId, chatId } = message;
  if (chatType === "p2p" || mentionsBot) return true;
  const ours = [rootId, parentId].some(
    (id) => id !== undefined && (records.root(id) ?? records.ofMessage(id)) !== undefined,
  );
  return ours || (threadId !== undefined && records.place(chatId, threadId) !== undefined);
}

function refuse({ records, log, say }: Bridge, { sender, chatId, ...message }: Incoming): void {
  log(`a message of ${sender.openId || "nobody"} was refused`);
  // Once a day is enough to tell them; more would be a way to make the bot talk.
  if (records.once(`stranger/${chatId}/${sender.openId}`, DAY_MS))
    say({ ...message, sender, chatId }, ({ t }) =>
      message.chatType === "group" ? t.mayNotTalk : t.mayNotTalkAlone(sender.openId),
    );
}

/** The message replied to is somebody else's, and no session has seen it. */
function refersElsewhere({ records }: Bridge, { parentId }: Incoming): boolean {
  if (parentId === undefined) return false;
  return [records.root, records.ofMessage, records.said].every((find) => find(parentId) === undefined);
}

async function hear(bridge: Bridge, message: Incoming, going: Going): Promise<void> {
  const { signal } = going;
  const { commands, say } = bridge;
  if (message.editedAt !== undefined) return edited(bridge, message, going);
  if (message.kind === "audio") return say(message, ({ t }) => t.noVoice);
  const typed = await commands.read(message);
  if (typed) return command(bridge, message, typed, going);
  if (message.text.trim() === "" && message.attachments.length === 0 && message.kind !== "merge_forward") {
    const isText = message.kind === "text" || message.kind === "post";
    const help = helpCard(bridge.speak(message.chatId));
    return isText ? perform(bridge, message, { card: help }, going) : say(message, ({ t }) => t.cannotRead);
  }
  signal.throwIfAborted();
  try {
    await deliver(bridge, message, going);
  } catch (error) {
    if (!signal.aborted) say(message, ({ t, words }) => t.failedToSay(words.because(reasonOf(error))), "failed");
    throw error; // it is kept, and tried again
  }
}

async function command(bridge: Bridge, message: Incoming, typed: TypedSlash, going: Going): Promise<void> {
  const { commands, log, say } = bridge;
  try {
    await perform(bridge, message, await commands.handle(message, typed), going);
  } catch (error) {
    going.signal.throwIfAborted();
    log(`a command failed: ${thrownText(error)}`);
    say(message, ({ t, words }) => t.failedToSay(words.because(reasonOf(error))), "failed");
  }
}

async function perform(bridge: Bridge, message: Incoming, result: CommandResult, going: Going): Promise<void> {
  if ("text" in result) return bridge.say(message, result.text);
  if ("task" in result) {
    const { task: text, follow, when = "next" } = result;
    return task(bridge, { message, follow, text, when }, going);
  }
  const { card, sent } = result;
  const sending = bridge.channel.sendCard({ ...replyTo(message), uuid: uuidOf(message.messageId, "card"), card });
  bridge.send(sending.then(({ messageId }) => sent?.(messageId)));
}

/** An edit is passed to the session while its task runs; afterwards it is too late. */
async function edited(bridge: Bridge, message: Incoming, going: Going): Promise<void> {
  const { records, sessions, say } = bridge;
  const taken = records.said(message.messageId);
  const follow = taken && (await sessions.of(taken.session));
  if (!follow?.view.working()) return taken ? say(message, ({ t }) => t.editedLate, "edited") : undefined;
  const from = await bridge.senderOf(message.sender.openId);
  going.signal.throwIfAborted();
  const text = `[The person has changed an earlier message. It now says:]\n${message.text}`;
  await follow.handle.sendMessage(text, from, { id: `${message.messageId}/${message.editedAt}` });
  void bridge.channel.react(message.messageId, "Get");
}

/** A recalled message stops the turn it began; otherwise the session is told about it. */
async function recalled({ records, sessions, senderOf }: Bridge, { messageId, byAuthor }: Recall): Promise<void> {
  const taken = records.said(messageId);
  const follow = taken && (await sessions.of(taken.session));
  if (!taken || !follow?.view.working()) return;
  const from = byAuthor ? await senderOf(taken.openId) : { by: "administrator", surface: "feishu" };
  if (follow.view.isBegunWith(messageId)) return void (await follow.handle.finish(from));
  const text = "[An earlier message was taken back. Do not act on it any more.]";
  await follow.handle.sendMessage(text, from, { id: `${messageId}/recalled` });
}

/** Replies to messages. A reply is a courtesy: nothing that people say waits until it could be sent. */
type Replies = {
  say(message: Incoming, phrase: Phrase, kind?: string): void;
  send(sending: Promise<unknown>): void;
  settled(): Promise<void>;
};

type Parts = { channel: FeishuChannel; speak(chat: string): Speeches; log(line: string): void };

function createReplies({ channel, speak, log }: Parts): Replies {
  const going = new Set<Promise<void>>();
  const send = (sending: Promise<unknown>): void => {
    const done = sending
      .then(
        () => {},
        (error: unknown) => log(`a reply could not be sent: ${thrownText(error)}`),
      )
      .finally(() => going.delete(done));
    going.add(done);
  };
  return {
    send,
    say(message, phrase, kind = "reply") {
      const text = inLocales(speak(message.chatId), (speech) => plainWords(phrase(speech)));
      send(channel.sendText({ ...replyTo(message), uuid: uuidOf(message.messageId, kind), text }));
    },
    async settled() {
      while (going.size > 0) await Promise.all(going);
    },
  };
}

/** In a group the reply goes to the thread of the message. */
function replyTo({ chatId, messageId, chatType }: Incoming) {
  return { chat: chatId, replyTo: messageId, ...(chatType === "group" && { inThread: true }) };
}
