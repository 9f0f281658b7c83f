import type { SurfaceStore } from "../../../../protocol/host/surface-store.ts";
import { thrownText } from "../../../../texts/shared/error.ts";
import type { FeishuChannel, Sent, Target } from "../../channel/channel.ts";
import { FeishuFailure } from "../../channel/failure.ts";
import { segment, type Answer, type Api } from "../api/api.ts";
import type { Log } from "../api/config.ts";
import { createDrawing, createPace, type Queues } from "../api/queues.ts";
import { createEntities, forgetOldest } from "./entities.ts";
import { readItems } from "../incoming/event.ts";

/** The platform allows five per second and chat, shared by all bots in it. */
const PER_CHAT = 4;
const PER_MESSAGE = 4;

type Sending = Pick<
  FeishuChannel,
  | "sendCard"
  | "patchCard"
  | "sendText"
  | "sendFile"
  | "sendImage"
  | "react"
  | "recall"
  | "download"
  | "userName"
  | "members"
  | "message"
  | "createEntity"
  | "streamText"
  | "entitySettings"
  | "updateEntity"
> & {
  /** Blocks changes to this message until the returned function is called. */
  hold(messageId: string): () => void;
  /** The message now shows a newer version than any pending patch. */
  replaced(messageId: string): void;
};

type SendingParts = {
  api: Api;
  appId: string;
  queues: Queues;
  store: SurfaceStore;
  sleep: (ms: number) => Promise<void>;
  log: Log;
};

/** Everything that is sent. Each message, card entity and chat has one writer at a time. */
export function createSending({ api, appId, queues, store, sleep, log }: SendingParts): Sending {
  const chatPace = createPace(PER_CHAT, sleep);
  const messagePace = createPace(PER_MESSAGE, sleep);
  const drawing = createDrawing(queues);
  const send = (target: Target, type: string, content: object): Promise<Sent> =>
    // In order within each thread of a chat: one that cannot be written to delays no other.
    queues.run(`chat/${target.chat}/${target.replyTo ?? ""}`, async () => {
      const data = { msg_type: type, content: JSON.stringify(content), uuid: target.uuid };
      await chatPace(target.chat);
      const sent = (await replyOrCreate(api, target, data))["data"] as
        | { message_id?: string; create_time?: string }
        | undefined;
      if (sent?.message_id === undefined) throw new FeishuFailure("unknown", "Feishu gave no id for what was sent");
      const at = Number(sent.create_time);
      return { messageId: sent.message_id, ...(at > 0 && { at }) };
    });

  const upload = async (path: string, key: string, data: Record<string, unknown>): Promise<string> => {
    const answer = await api.call({ method: "POST", path, data, upload: true });
    const found = (answer["data"] as Record<string, unknown> | undefined)?.[key];
    if (typeof found !== "string") throw new FeishuFailure("unknown", "Feishu gave no key for what was uploaded");
    return found;
  };

  /** Card entities by their message: a click on the message also blocks changes to the entity. */
  const entityOf = new Map<string, string>();

  return {
    ...createLookups({ api, appId, store, log }),
    ...createEntities({ api, queues, drawing, sleep }),
    async sendCard(it) {
      if ("card" in it) return send(it, "interactive", it.card);
      const sent = await send(it, "interactive", { type: "card", data: { card_id: it.cardId } });
      entityOf.set(sent.messageId, it.cardId);
      forgetOldest(entityOf);
      return sent;
    },
    patchCard: (messageId, card) =>
      drawing.draw(`message/${messageId}`, `message/${messageId}`, async (moot) => {
        await messagePace(messageId);
        const data = { content: JSON.stringify(card) };
        await api.call({ method: "PATCH", path: `im/v1/messages/${segment(messageId)}`, data }, { moot });
      }),
    sendText({ text, mention = [], ...target }) {
      if (typeof text === "string" && mention.length === 0) return send(target, "text", { text });
      const all = Object.entries(typeof text === "string" ? { zh_cn: text } : text);
      return send(target, "post", Object.fromEntries(all.map(([locale, text]) => [locale, postOf(text, mention)])));
    },
    async sendFile({ name, content, ...target }) {
      const data = { file_type: "stream", file_name: name, file: content };
      return send(target, "file", { file_key: await upload("im/v1/files", "file_key", data) });
    },
    async sendImage({ content, ...target }) {
      const data = { image_type: "message", image: content };
      return send(target, "image", { image_key: await upload("im/v1/images", "image_key", data) });
    },
    async react(messageId, emoji) {
      const data = { reaction_type: { emoji_type: emoji } };
      const path = `im/v1/messages/${segment(messageId)}/reactions`;
      await api
        .call({ method: "POST", path, data }, { once: true })
        .catch((error: unknown) => log("debug", `no reaction: ${thrownText(error)}`));
    },
    async recall(messageId) {
      await api.call({ method: "DELETE", path: `im/v1/messages/${segment(messageId)}` }).catch((error: unknown) => {
        // Already deleted, as intended.
        if (!(error instanceof FeishuFailure) || error.kind !== "gone") throw error;
      });
    },
    hold(messageId) {
      const cardId = entityOf.get(messageId);
      const releases = [`message/${messageId}`, ...(cardId === undefined ? [] : [`card/${cardId}`])].map(queues.hold);
      return () => releases.forEach((release) => release());
    },
    replaced: (messageId) => drawing.drop(`message/${messageId}`),
  };
}

/** A text as a message that may mention people and may come in several languages. */
function postOf(text: string, mention: readonly string[]): object {
  const people = mention.map((user_id) => ({ tag: "at", user_id }));
  const lines = text.split("\n").map((line) => [{ tag: "text", text: line }]);
  return { content: people.length > 0 ? [people, ...lines] : lines };
}

/** If the message to reply to is gone, sends to the chat instead. */
async function replyOrCreate(api: Api, target: Target, data: Record<string, unknown>): Promise<Answer> {
  if (target.replyTo !== undefined)
    try {
      const path = `im/v1/messages/${segment(target.replyTo)}/reply`;
      const inThread = target.inThread === undefined ? {} : { reply_in_thread: target.inThread };
      return await api.call({ method: "POST", path, data: { ...data, ...inThread } });
    } catch (error) {
      const gone = error instanceof FeishuFailure && (error.kind === "reply-target" || error.code === 230011);
      if (!gone) throw error;
    }
  const kind = target.chat.startsWith("ou_") ? "open_id" : "chat_id";
  return api.call({
    method: "POST",
    path: "im/v1/messages",
    query: { receive_id_type: kind },
    data: { ...data, receive_id: target.chat },
  });
}

const NAME_MS = 24 * 60 * 60_000;
const NO_NAME_MS = 10 * 60_000;
const MEMBERS_MS = 5 * 60_000;
const MAX_PAGES = 20;

type LookupParts = { api: Api; appId: string; store: SurfaceStore; log: Log };

/** Files, messages and people, as the platform tells them. */
function createLookups({
  api,
  appId,
  store,
  log,
}: LookupParts): Pick<FeishuChannel, "download" | "userName" | "message" | "members"> {
  return {
    download: (messageId, key, kind, { limit, signal }) =>
      api.download({
        method: "GET",
        path: `im/v1/messages/${segment(messageId)}/resources/${segment(key)}`,
        query: { type: kind },
        bytes: limit,
        signal,
      }),
    async userName(openId) {
      const known = store.get(`name/${openId}`) as { name?: string } | undefined;
      if (known) return known.name;
      const name = await api
        .call(
          { method: "GET", path: `contact/v3/users/${segment(openId)}`, query: { user_id_type: "open_id" } },
          { once: true },
        )
        .then((answer) => (answer["data"] as { user?: { name?: string } } | undefined)?.user?.name)
        .catch((error: unknown) => void log("debug", `no name for ${openId}: ${thrownText(error)}`));
      store.set(`name/${openId}`, name === undefined ? {} : { name }, { ttlMs: name ? NAME_MS : NO_NAME_MS });
      return name;
    },
    async message(messageId) {
      const answer = await api.call({ method: "GET", path: `im/v1/messages/${segment(messageId)}` });
      const found = readItems((answer["data"] as { items?: unknown } | undefined)?.items, appId);
      if (!found) throw new FeishuFailure("gone", "Feishu gave a message that cannot be read");
      return found;
    },
    async members(chat) {
      const known = store.get(`members/${chat}`) as { all?: string[] } | undefined;
      if (known) return known.all;
      const all = await membersOf(api, chat).catch(
        (error: unknown) => void log("debug", `the people of ${chat} are not known: ${thrownText(error)}`),
      );
      store.set(`members/${chat}`, all === undefined ? {} : { all }, { ttlMs: MEMBERS_MS });
      return all;
    },
  };
}

async function membersOf(api: Api, chat: string): Promise<string[]> {
  const found: string[] = [];
  let page = "";
  for (let count = 0; count < MAX_PAGES; count++) {
    const query = { member_id_type: "open_id", page_size: "100", ...(page !== "" && { page_token: page }) };
    const answer = await api.call(
      { method: "GET", path: `im/v1/chats/${segment(chat)}/members`, query },
      { once: true },
    );
    const { items = [], page_token, has_more } = (answer["data"] ?? {}) as MemberPage;
    found.push(...items.flatMap(({ member_id }) => (member_id === undefined ? [] : [member_id])));
    if (has_more !== true || !page_token) break;
    page = page_token;
  }
  return found;
}

type MemberPage = { items?: { member_id?: string }[]; page_token?: string; has_more?: boolean };
