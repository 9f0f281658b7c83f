import { reasonOf } from "../../protocol/reasons/error.ts";
import { thrownText } from "../../texts/shared/error.ts";
import type { Sender } from "../../protocol/sender.ts";
import { withSlash, type TypedSlash } from "../../view/slash/read.ts";
import { helpCard } from "./cards/lists.ts";
import type { Speeches } from "./cards/speech.ts";
import type { FeishuChannel, Incoming, Recall } from "./channel/channel.ts";
import type { CommandHandler, CommandResult } from "./commands/command-handler.ts";
import { edited, recalled } from "./corrections.ts";
import { deliver, task } from "./deliver.ts";
import { mayTalk } from "./bot/people.ts";
import { uuidOf, type Records } from "./bot/records.ts";
import { createReplies, replyTo, type Replies } from "./chat/replies.ts";
import type { SessionManager } from "./session/session-manager.ts";
import type { Stops } from "./commands/stops.ts";
import type { Team } from "./bot/team.ts";

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

/** Everything that the way of a message needs. */
export type Bridge = BridgeParts & Replies;

/** A message on its way. `refers`: it replies to something that no session has heard of. */
export type Going = { signal: AbortSignal; refers: boolean };

type MessageBridge = {
  handle(message: Incoming): Promise<void>;
  recalled(recall: Recall): Promise<void>;
  /** Replies that were on their way are sent, or have failed. */
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

/** The message that is replied to is somebody else's, and no session has heard of it. */
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
  if ("task" in result) return task(bridge, { message, follow: result.follow, text: result.task }, going);
  const { card, sent } = result;
  const sending = bridge.channel.sendCard({ ...replyTo(message), uuid: uuidOf(message.messageId, "card"), card });
  bridge.send(sending.then(({ messageId }) => sent?.(messageId)));
}
