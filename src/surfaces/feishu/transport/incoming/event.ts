import * as z from "../../../../base/z.ts";
import type { CardAnswer, CardClick, Incoming, Recall, Referred } from "../../channel/channel.ts";
import { readContent, mentionSchema } from "./content.ts";

/** A genuine event, from either transport. */
const envelope = z.object({
  header: z.object({
    event_id: z.string(),
    event_type: z.string(),
    create_time: z.string().default("0"),
    token: z.string().default(""),
    app_id: z.string().default(""),
    tenant_key: z.string().default(""),
  }),
  event: z.unknown(),
});

export type Envelope = z.infer<typeof envelope>;

export function readEnvelope(payload: unknown): Envelope | undefined {
  return envelope.safeParse(payload).data;
}

/** The id becomes part of URLs and file paths: only id characters are accepted. */
const id = z.string().regex(/^[\w-]+$/);

const message = z.object({
  sender: z.object({
    sender_id: z.object({ open_id: z.string().min(1) }),
    sender_type: z.string(),
    tenant_key: z.string().default(""),
  }),
  message: z.object({
    message_id: id,
    root_id: z.string().optional(),
    parent_id: z.string().optional(),
    thread_id: z.string().optional(),
    create_time: z.string(),
    update_time: z.string().optional(),
    chat_id: id,
    chat_type: z.string(),
    message_type: z.string(),
    content: z.string(),
    mentions: z.array(mentionSchema).default([]),
  }),
});

/** A person's message; undefined for bots and for unreadable events. */
export function readMessage(event: unknown, botId: string | undefined): Incoming | undefined {
  const parsed = message.safeParse(event).data;
  if (!parsed || parsed.sender.sender_type !== "user") return undefined;
  const { message: it, sender } = parsed;
  const isBot = (mention: (typeof it.mentions)[number]) =>
    botId === undefined ? mention.mentioned_type === "bot" : mention.id.open_id === botId;
  return {
    messageId: it.message_id,
    chatId: it.chat_id,
    chatType: it.chat_type === "p2p" ? "p2p" : "group",
    ...(it.thread_id && { threadId: it.thread_id }),
    ...(it.root_id && { rootId: it.root_id }),
    ...(it.parent_id && { parentId: it.parent_id }),
    sender: { openId: sender.sender_id.open_id, tenantKey: sender.tenant_key },
    kind: it.message_type,
    mentionsBot: it.mentions.some(isBot),
    mentions: it.mentions.flatMap((mention) => {
      const openId = mention.id.open_id;
      return isBot(mention) || openId === undefined ? [] : [{ openId, name: mention.name }];
    }),
    ...readContent(it.message_type, it.content, it.mentions, isBot),
    at: Number(it.create_time) || 0,
    ...(Number(it.update_time) > Number(it.create_time) && { editedAt: Number(it.update_time) }),
  };
}

const recall = z.object({ message_id: id, chat_id: z.string().default(""), recall_type: z.string().default("") });

export function readRecall(event: unknown): Recall | undefined {
  const parsed = recall.safeParse(event).data;
  if (!parsed) return undefined;
  const { message_id: messageId, chat_id: chatId, recall_type: type } = parsed;
  return { messageId, chatId, byAuthor: type === "" || type === "message_owner" };
}

const item = z.object({
  message_id: id,
  msg_type: z.string(),
  upper_message_id: z.string().optional(),
  sender: z.object({ id: z.string().default(""), sender_type: z.string().default("") }).prefault({}),
  body: z.object({ content: z.string().default("") }).prefault({}),
  mentions: z.array(z.object({ key: z.string(), name: z.string().default("") })).default([]),
});

/** A message as the platform gives it back, with those inside of it. */
export function readItems(items: unknown, appId: string): Referred | undefined {
  const all = z.array(item).safeParse(items).data;
  const [first] = all ?? [];
  if (!all || !first) return undefined;
  const referred = (message: z.infer<typeof item>): Referred => {
    const mentions = message.mentions.map(({ key, name }) => ({ key, name, id: {} }));
    return {
      messageId: message.message_id,
      ...(message.sender.sender_type === "user" && { author: message.sender.id }),
      own: message.sender.sender_type === "app" && message.sender.id === appId,
      kind: message.msg_type,
      ...readContent(message.msg_type, message.body.content, mentions, () => false),
      parts: all.filter((other) => other.upper_message_id === message.message_id).map(referred),
    };
  };
  return referred(first);
}

const click = z.object({
  operator: z.object({ open_id: z.string().min(1), tenant_key: z.string().default("") }),
  action: z.object({
    value: z.unknown(),
    name: z.string().optional(),
    form_value: z.record(z.string(), z.unknown()).optional(),
  }),
  context: z.object({ open_message_id: z.string().min(1), open_chat_id: z.string().default("") }),
});

/** Undefined when the event does not say who clicked what: a click without a person is never accepted. */
export function readClick({ header, event }: Envelope): CardClick | undefined {
  const parsed = click.safeParse(event).data;
  if (!parsed) return undefined;
  const { operator, action, context } = parsed;
  return {
    eventId: header.event_id,
    operator: { openId: operator.open_id, tenantKey: operator.tenant_key || header.tenant_key },
    messageId: context.open_message_id,
    chatId: context.open_chat_id,
    value: action.value,
    ...(action.name !== undefined && { name: action.name }),
    ...(action.form_value && { formValue: action.form_value }),
    at: Math.floor(Number(header.create_time) / 1_000),
  };
}

/** The answer to a click in the platform's form. */
export function wireAnswer({ toast, card }: CardAnswer): Record<string, unknown> {
  return { ...(toast && { toast }), ...(card && { card: { type: "raw", data: card } }) };
}
