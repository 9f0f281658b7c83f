import type { Incoming } from "../channel/channel.ts";
import type { Home, Place, Records } from "./records.ts";

const REMEMBER_MS = 60_000;

/** Remembers which session speaks where: in a chat with one person, or in a thread. */
type Places = {
  /** The session of the place of this message. A mention at the top of a group belongs to none. */
  sessionAt(message: Incoming): string | undefined;
  /** Marks a session as used, so that it is not forgotten. */
  remember(home: Home, message: Incoming): void;
  /** The session speaks at this place from now on. */
  settle(home: Home, place: Place): void;
};

export function createPlaces(records: Records, now: () => number): Places {
  return {
    sessionAt({ chatId, chatType, threadId, rootId }) {
      const byRoot = rootId === undefined ? undefined : records.root(rootId);
      if (byRoot !== undefined && (chatType === "group" || threadId !== undefined)) return byRoot;
      return chatType === "group" && threadId === undefined ? undefined : records.place(chatId, threadId);
    },
    remember(home, message) {
      if (now() - home.at < REMEMBER_MS) return;
      records.setHome({ ...home, at: now() });
      const { chat, group, thread } = placeOf(message);
      if (!group || thread !== undefined) records.setPlace(home.session, chat, thread);
      if (home.root !== undefined) records.setRoot(home.root, home.session);
    },
    settle(home, place) {
      records.setHome(home);
      if (!place.group || place.thread !== undefined) records.setPlace(home.session, place.chat, place.thread);
      records.setRoot(place.root ?? place.messageId, home.session);
    },
  };
}

export function speaksAt({ chat, root }: Home, message: Incoming): boolean {
  return chat === message.chatId && root === placeOf(message).root;
}

export function placeOf({ chatId, chatType, rootId, threadId, sender, messageId }: Incoming): Place {
  const group = chatType === "group";
  // In a group every task has its own thread, under the message that began it.
  const root = group || threadId !== undefined ? (rootId ?? messageId) : undefined;
  return {
    chat: chatId,
    group,
    owner: sender.openId,
    messageId,
    ...(root !== undefined && { root }),
    ...(threadId !== undefined && { thread: threadId }),
  };
}

export function homeAt({ chat, group, root, owner }: Place, session: string): Omit<Home, "cwd" | "at"> {
  return { session, chat, group, owner, ...(root !== undefined && { root }) };
}
