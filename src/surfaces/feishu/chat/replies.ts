import { thrownText } from "../../../texts/shared/error.ts";
import { plainWords } from "../cards/escape.ts";
import { inLocales, type Phrase, type Speeches } from "../cards/speech.ts";
import type { FeishuChannel, Incoming } from "../channel/channel.ts";
import { uuidOf } from "../bot/records.ts";

/** Replies to messages. A reply is a courtesy: nothing that people say waits until it could be sent. */
export type Replies = {
  say(message: Incoming, phrase: Phrase, kind?: string): void;
  /** Logs when `sending` fails. */
  send(sending: Promise<unknown>): void;
  /** Replies that were on their way are sent, or have failed. */
  settled(): Promise<void>;
};

type Parts = { channel: FeishuChannel; speak(chat: string): Speeches; log(line: string): void };

export function createReplies({ channel, speak, log }: Parts): Replies {
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
export function replyTo({ chatId, messageId, chatType }: Incoming) {
  return { chat: chatId, replyTo: messageId, ...(chatType === "group" && { inThread: true }) };
}
