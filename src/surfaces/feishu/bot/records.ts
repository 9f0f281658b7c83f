import { createHash, randomBytes } from "node:crypto";
import type { SurfaceStore } from "../../../protocol/host/surface-store.ts";
import type { Incoming } from "../channel/channel.ts";

const DAY = 24 * 60 * 60_000;
/** Time during which a card can be clicked and changed. */
export const CARD_LIFE_MS = 14 * DAY;
const MEMORY_MS = 90 * DAY;
const SAID_MS = 7 * DAY;

/** The chat, or thread of it, in which a session speaks. */
export type Home = {
  session: string;
  chat: string;
  group: boolean;
  /** The message whose thread this is. */
  root?: string;
  /** Person who began it here. */
  owner: string;
  cwd: string;
  model?: string;
  /** The other agent that runs it. */
  agent?: string;
  at: number;
};

/** Home of a session that speaks elsewhere. Only requests to which somebody was called are shown, to whom was called. */
export function awayHome(session: string, cwd: string): Home {
  return { session, chat: "", group: false, owner: "", cwd, at: 0 };
}

export function isAway({ chat }: Home): boolean {
  return chat === "";
}

/** Record behind a button's id. Nothing of the request is kept: the journal has it. */
type CardRecord = {
  rid: string;
  session: string;
  /** Chat of the card, or a person (`ou_…`) in their chat with the bot. */
  chat: string;
  /** Unknown until the platform reports it. */
  message?: string;
  /** Version of the card that counts. */
  g: number;
  at: number;
} & (AskPart | { k: "run"; place?: Place });

type AskPart = {
  k: "ask";
  request: string;
  file?: "sent" | "failed" | "read";
  /** Since when it can be seen, by the platform's clock. */
  shownAt?: number;
  /** It could only be sent as text. */
  spoken?: boolean;
  /** It is shown here, and answered by somebody elsewhere: their names. */
  watch?: { asked: string[] };
  /** The name of who gave the task, where that is not plain to see. */
  for?: string;
  /** The chat in which it was given, where the card is in another. */
  from?: string;
  /** Open ids of those whom the card notifies. */
  called?: string[];
  /** The card lists these requests, to be answered together. */
  together?: string[];
  /** Reminders that they had, the last one included; `true` in earlier versions, which sent one. */
  reminded?: number | true;
  /** Inquiries whose replies were already posted below it. */
  replied?: string[];
};

export type AskRecord = CardRecord & { k: "ask" };
export type RunRecord = CardRecord & { k: "run" };

export type Place = { chat: string; group: boolean; root?: string; thread?: string; owner: string; messageId: string };

/** True if the card is in this chat, or in this person's own. */
export function isAt({ chat }: CardRecord, at: { chatId: string; openId: string }): boolean {
  return chat.startsWith("ou_") ? chat === at.openId : chat === at.chatId;
}

export type ProgressRecord = { message: string; card?: string };

export type Records = ReturnType<typeof createRecords>;

/** Records of this bot. Everything is under the app's id: two bots in one group hear the same messages. */
export function createRecords(store: SurfaceStore, app: string, now: () => number) {
  const at = (...path: string[]) => [app, ...path].join("/");
  const get = (key: string) => store.get(key);
  const sessionAt = (key: string) => (get(key) as { session: string } | undefined)?.session;
  const openKey = (session: string, request: string) =>
    session === "" ? at("open", "") : request === "" ? at("open", session, "") : at("open", session, `${request}|`);
  const openAt = ({ session, request, chat }: AskRecord) => `${openKey(session, request)}${chat}`;
  const keep = (key: string, value: unknown, ttlMs = MEMORY_MS) => store.set(key, value, { ttlMs });
  return {
    home: (session: string) => get(at("home", session)) as Home | undefined,
    homes: () => (store.list(at("home", "")) as { value: Home }[]).map(({ value }) => value),
    setHome: (home: Home) => keep(at("home", home.session), home),

    /** The session that a chat, or a thread of it, continues. */
    place: (chat: string, thread = "main") => sessionAt(at("place", chat, thread)),
    setPlace: (session: string, chat: string, thread = "main") => keep(at("place", chat, thread), { session }),

    /** The session that the thread under this message belongs to. */
    root: (message: string) => sessionAt(at("root", message)),
    setRoot: (message: string, session: string) => keep(at("root", message), { session }),

    card: (rid: string) => get(at("card", rid)) as CardRecord | undefined,
    saveCard(record: CardRecord): void {
      store.atomically(() => {
        keep(at("card", record.rid), record, CARD_LIFE_MS);
        if (record.message !== undefined) keep(at("message", record.message), record.rid, CARD_LIFE_MS);
        if (record.k === "ask") keep(openAt(record), record.rid, CARD_LIFE_MS);
      });
    },
    ofMessage(message: string): CardRecord | undefined {
      const rid = get(at("message", message)) as string | undefined;
      return rid === undefined ? undefined : (get(at("card", rid)) as CardRecord | undefined);
    },
    /** Cards of requests that nobody has seen the end of here: of one request, of a session, or all. */
    openCards: (session = "", request = ""): AskRecord[] =>
      (store.list(openKey(session, request)) as { value: string }[]).flatMap(({ value }) => {
        const record = get(at("card", value)) as CardRecord | undefined;
        return record?.k === "ask" ? [record] : [];
      }),
    closeCard: (record: AskRecord) => void store.delete(openAt(record)),

    progress: (session: string) => get(at("progress", session)) as ProgressRecord | undefined,
    setProgress: (session: string, record: ProgressRecord) => keep(at("progress", session), record, CARD_LIFE_MS),
    endProgress: (session: string) => void store.delete(at("progress", session)),

    /** Number of the last fact that the chat has seen. */
    told: (session: string) => get(at("told", session)) as number | undefined,
    setTold: (session: string, seq: number) => keep(at("told", session), seq),

    /** The session that a message went to, and its sender. */
    said: (message: string) => get(at("said", message)) as { session: string; openId: string } | undefined,
    setSaid: (message: string, session: string, openId: string) =>
      keep(at("said", message), { session, openId }, SAID_MS),

    /** Somebody tried what they may not. */
    refused: (what: object) => keep(at("refused", `${now()}`, newRid().slice(0, 8)), what),

    once: (what: string, ttlMs: number) => store.claim(at("once", what), ttlMs),
  };
}

/** Six digits that name a card where it cannot be quoted. Digits, so that no reason begins with something like it. */
export const codeOfCard = (rid: string): string =>
  `${Number.parseInt(rid.slice(0, 8), 16) % 1_000_000}`.padStart(6, "0");

/** 128 bits: nobody guesses one. */
export const newRid = (): string => randomBytes(16).toString("hex");

/** The same for the same thing: sending it twice within the hour sends it once. */
export const uuidOf = (...what: (string | number)[]): string =>
  createHash("sha1").update(what.join("\n")).digest("hex");

/** The session that a message begins; the same however often the message comes. */
export function newSessionId(app: string, message: string): string {
  const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";
  const bytes = createHash("sha256").update(`${app}\n${message}`).digest().subarray(0, 9);
  return [...bytes].map((byte) => alphabet[byte % alphabet.length]).join("");
}

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
      const { chat, group, thread } = placeIn(message);
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
  return chat === message.chatId && root === placeIn(message).root;
}

export function placeIn({ chatId, chatType, rootId, threadId, sender, messageId }: Incoming): Place {
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
