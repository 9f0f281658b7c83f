/** A message of a person, as the bridge reads it. It is kept until it was handed on. */
export type Incoming = {
  messageId: string;
  chatId: string;
  chatType: "p2p" | "group";
  /** Inside of a topic. */
  threadId?: string;
  rootId?: string;
  /** Quoted message: the id of our card when somebody answers a card in words. */
  parentId?: string;
  sender: { openId: string; tenantKey: string };
  /** The platform's name for what it is: `text`, `post`, `image`, `file`, `audio`, `sticker`, … */
  kind: string;
  /** Without the bot's own mention; other mentions as names. Empty when there are no words in it. */
  text: string;
  mentionsBot: boolean;
  /** People who are mentioned in it, without the bot. */
  mentions: { openId: string; name: string }[];
  attachments: Attachment[];
  at: number;
  /** Its author has changed it since, and it was delivered before: when. */
  editedAt?: number;
};

type Attachment = { kind: "image" | "file"; key: string; name?: string };

/** A message that somebody else has written, fetched because a person refers to it. */
export type Referred = {
  messageId: string;
  /** Undefined for a bot's. */
  author?: string;
  /** It is this bot's own. */
  own: boolean;
  kind: string;
  text: string;
  attachments: Attachment[];
  /** Of a merged forward: the messages in it, which hold no files that could be fetched. */
  parts: Referred[];
};

export type Recall = { messageId: string; chatId: string; /** Its author did. */ byAuthor: boolean };

/** A click on one of our cards. Whether this person may click is not decided here. */
export type CardClick = {
  eventId: string;
  operator: { openId: string; tenantKey: string };
  messageId: string;
  chatId: string;
  /** Value of the button, unchecked. */
  value: unknown;
  /** The button's name inside of a form. */
  name?: string;
  formValue?: Record<string, unknown>;
  at: number;
};

/** Immediate feedback for the person who clicked. Neither: the card stays as it is. */
export type CardAnswer = {
  toast?: {
    type: "info" | "success" | "warning" | "error";
    content: string;
    /** Texts by the platform's name of the language. */ i18n?: Record<string, string>;
  };
  /** A whole card of the new dialect. Not for a card that streams. */
  card?: object;
};

/** Chat or person that something is sent to. */
export type Target = {
  chat: string;
  /** The message this replies to; if that is gone, it goes to the chat. */
  replyTo?: string;
  /** Opens a topic under the message that is replied to. */
  inThread?: boolean;
  /** The same uuid within an hour is the same message: what makes sending again harmless. At most 50 characters. */
  uuid: string;
};

/** `at`: by the platform's clock, like the time of a person's message; ours may be off. */
export type Sent = { messageId: string; at?: number };

export type ChannelStatus = {
  state: "idle" | "connecting" | "connected" | "reconnecting" | "failed" | "closed";
  since: number;
  /** When anything last came in. */
  heardAt?: number;
  problem?: string;
};

/**
 * Feishu as the bridge sees it. Every call checks what the platform answered, waits out limits, tries again what may be tried
 * again, and otherwise rejects with a `FeishuFailure` whose kind says what to do. Changes of one message or one card entity happen
 * in the order in which they were asked for.
 */
export interface FeishuChannel {
  /**
   * Called for each new message of a person, messages of one chat in their order. Resolved means that the message is in safe hands
   * (said to the host, or refused); until then it is kept, and a restart calls again with the same `messageId`. A message that
   * `overtakes` is handed on beside those that came before it.
   */
  onMessage(
    handler: (message: Incoming) => void | Promise<void>,
    options?: { overtakes(message: Incoming): boolean },
  ): void;
  /** Called once for each message that was taken back after it was handed on; one that was not is dropped. */
  onRecall(handler: (recall: Recall) => void | Promise<void>): void;
  /**
   * Called once for each click. The platform waits for three seconds: whoever takes longer is answered for with a toast, and a card
   * that comes later is put in place by a patch. Until it is answered nothing else changes the card: a handler that waits for a
   * change of it waits in vain.
   */
  onCard(handler: (click: CardClick) => Promise<CardAnswer>): void;

  /** A card given whole, or an entity made by `createEntity`. */
  sendCard(card: Target & ({ card: object } | { cardId: string })): Promise<Sent>;
  /** Replaces a card that was sent whole. */
  patchCard(messageId: string, card: object): Promise<void>;
  /** In one language, or by the platform's names of several: each reader sees their own. Notifies those who are mentioned. */
  sendText(text: Target & { text: string | Record<string, string>; mention?: readonly string[] }): Promise<Sent>;
  sendFile(file: Target & { name: string; content: Buffer }): Promise<Sent>;
  sendImage(image: Target & { content: Buffer }): Promise<Sent>;
  /** A small sign under a message that it was seen. Never rejects: it is a courtesy. */
  react(messageId: string, emoji: string): Promise<void>;
  recall(messageId: string): Promise<void>;
  /** Downloads a file that a person sent. Rejects when it is larger than `limit` bytes, and when the signal says so. */
  download(
    messageId: string,
    key: string,
    kind: "image" | "file",
    options: { limit: number; signal: AbortSignal },
  ): Promise<Buffer>;
  /** A message of somebody else. Rejects when it is gone or the app may not read it. */
  message(messageId: string): Promise<Referred>;
  /** Open ids of the people in a chat; undefined when the app may not know. Remembered for a while. */
  members(chat: string): Promise<readonly string[] | undefined>;
  /** An address that opens the chat in the client of somebody who is in it. */
  linkTo(chat: string): string;
  /** The app's organisation, known after the first event. */
  tenant(): string | undefined;
  botName(): string;
  /** Undefined when the app may not know. Remembered for a while. */
  userName(openId: string): Promise<string | undefined>;

  /** A card that can stream. It can be sent once, and changed for 14 days. Numbering the changes is this channel's business. */
  createEntity(card: object): Promise<{ cardId: string }>;
  /** The whole text so far of one element. */
  streamText(cardId: string, elementId: string, text: string): Promise<void>;
  /** For example `{ config: { streaming_mode: false, summary: { content: "Done" } } }`. */
  entitySettings(cardId: string, settings: object): Promise<void>;
  updateEntity(cardId: string, card: object): Promise<void>;

  /** Connects, and handles messages that were kept; resolves once the first attempt to connect came to an end. */
  start(signal: AbortSignal): Promise<void>;
  status(): ChannelStatus;
  /** No new events; what is being handled or sent gets a moment to end. */
  close(): Promise<void>;
}
