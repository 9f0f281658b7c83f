import { components } from "./card-check.ts";
import type { Delivery } from "./delivery.ts";
import {
  forgetOldest,
  newId,
  type Chat,
  type Json,
  type Locale,
  type Message,
  type Shown,
  type World,
} from "./world.ts";

export type Saying = {
  /** The chat; with the bot alone by default. */
  chat?: string;
  replyTo?: string;
  mentionBot?: boolean;
  /** Further people who are mentioned as `@name`. */
  mention?: User[];
};

/** A person with a client: can do what one can do there, and sees what one sees there. */
export type User = {
  openId: string;
  name: string;
  /** The chat with the bot alone. */
  chat: string;
  /** The id of the message. It is delivered in the background. */
  say(text: string, how?: Saying): string;
  /** A file or a picture, as a message of its own. */
  send(kind: "image" | "file", content: Buffer, name?: string, how?: Saying): string;
  post(content: Json[][], how?: Saying): string;
  voice(how?: Saying): string;
  /** Several messages as one. */
  forward(messages: readonly string[], how?: Saying): string;
  /** The message says something else from now on, and is delivered again. */
  edit(messageId: string, text: string): void;
  recall(messageId: string): void;
  /**
   * Presses a button by its element id, its name, or what stands on it; whatever the card says now decides what is sent. One that
   * submits a form sends it as it is, with nothing filled in.
   */
  click(messageId: string, button: string): Promise<Shown>;
  /** Fills in a form and presses a button that submits it. */
  submit(messageId: string, values: Json, button?: string): Promise<Shown>;
};

export function createUser(world: World, delivery: Delivery, name: string, locale?: Locale): User {
  const openId = newId("ou");
  const chat: Chat = { id: newId("oc"), type: "p2p", name, members: [openId, "bot"], dissolved: false };
  world.chats.set(chat.id, chat);
  world.people.set(openId, { openId, name, tenantKey: world.app.tenantKey, ...(locale && { locale }) });

  /** As they were delivered. */
  const events = new Map<string, Json>();
  const write = (type: string, content: Json, how: Saying): string => {
    const into = world.chats.get(how.chat ?? chat.id);
    if (!into?.members.includes(openId)) throw new Error(`${name} is not in this chat`);
    const to = how.replyTo === undefined ? undefined : world.messages.get(how.replyTo);
    const message: Message = {
      id: newId("om"),
      chat: into.id,
      sender: openId,
      type,
      content,
      at: world.clock.now(),
      edits: 0,
      patches: 0,
      recalled: false,
      locked: false,
      reactions: [],
      ...(to && { parent: to.thread === undefined ? to.id : (to.root ?? to.id), root: to.root ?? to.id }),
      ...(to?.thread !== undefined && { thread: to.thread }),
    };
    world.messages.set(message.id, message);
    const mentions = [...(how.mentionBot ? [world.bot] : []), ...(how.mention ?? [])].map((one, n) => ({
      key: `@_user_${n + 1}`,
      id: { open_id: one.openId, union_id: one.openId.replace("ou_", "on_") },
      mentioned_type: one.openId === world.bot.openId ? "bot" : "user",
      name: one.name,
      tenant_key: world.app.tenantKey,
    }));
    // In a group the bot hears only what mentions it, unless it may hear everything.
    const heard = into.type === "p2p" || how.mentionBot || world.granted.has("im:message.group_msg");
    if (heard && into.members.includes("bot")) {
      const event = {
        sender: {
          sender_id: { open_id: openId, union_id: openId.replace("ou_", "on_") },
          sender_type: "user",
          tenant_key: world.people.get(openId)?.tenantKey ?? world.app.tenantKey,
        },
        message: {
          message_id: message.id,
          ...(message.root !== undefined && { root_id: message.root, parent_id: message.parent }),
          ...(message.thread !== undefined && { thread_id: message.thread }),
          create_time: String(message.at),
          update_time: String(message.at),
          chat_id: into.id,
          chat_type: into.type,
          message_type: type,
          content: JSON.stringify(content),
          ...(mentions.length > 0 && { mentions }),
        },
      };
      events.set(message.id, event);
      forgetOldest(events, 20);
      delivery.event("im.message.receive_v1", event);
    }
    return message.id;
  };

  const cardOf = (messageId: string): Json => {
    const card = world.messages.get(messageId)?.card;
    if (!card) throw new Error(`${messageId} is no card`);
    return card;
  };

  /** Further people are mentioned where the text says `@`, or at its end. */
  const marked = (text: string, { mentionBot, mention = [] }: Saying): string => {
    const first = mentionBot ? 2 : 1;
    const marks = mention.map((_, n) => `@_user_${n + first}`).join(" ");
    const whole = text.endsWith("@") ? `${text.slice(0, -1)}${marks}` : [text, marks].filter(Boolean).join(" ");
    return mentionBot ? `@_user_1 ${whole}` : whole;
  };

  return {
    openId,
    name,
    chat: chat.id,
    say: (text, how = {}) => write("text", { text: marked(text, how) }, how),
    send(kind, content, called = "file", how = {}) {
      const key = newId(kind === "image" ? "img" : "file");
      world.files.set(key, { name: called, content, by: "person" });
      const id = write(kind, kind === "image" ? { image_key: key } : { file_key: key, file_name: called }, how);
      world.files.set(key, { name: called, content, by: "person", message: id });
      return id;
    },
    post: (content, how = {}) => write("post", { title: "", content }, how),
    voice: (how = {}) => write("audio", { file_key: newId("file"), duration: 2_000 }, how),
    forward(messages, how = {}) {
      const id = write("merge_forward", { content: "Merged and Forwarded Message" }, how);
      const whole = world.messages.get(id);
      if (whole) whole.forwards = [...messages];
      return id;
    },
    edit(messageId, text) {
      const message = world.messages.get(messageId);
      const event = events.get(messageId);
      if (!message || !event) throw new Error(`${messageId} was not said by ${name}`);
      message.content = { text };
      message.edits++;
      const update_time = String(world.clock.now() + 1);
      const changed = { ...(event["message"] as Json), content: JSON.stringify({ text }), update_time };
      delivery.event("im.message.receive_v1", { ...event, message: changed });
    },
    recall(messageId) {
      const message = world.messages.get(messageId);
      if (!message) throw new Error(`there is no message ${messageId}`);
      message.recalled = true;
      delivery.event("im.message.recalled_v1", {
        message_id: messageId,
        chat_id: message.chat,
        recall_time: String(world.clock.now()),
        recall_type: "message_owner",
      });
    },
    async click(messageId, which) {
      const card = cardOf(messageId);
      const button = [...components(card)].find((one) => one["tag"] === "button" && named(one, which));
      if (!button) throw new Error(`there is no button ${which} on the card: ${JSON.stringify(card)}`);
      if (button["disabled"] === true) throw new Error(`the button ${which} is disabled`);
      if (button["form_action_type"] === "submit") return this.submit(messageId, {}, which);
      return delivery.click(openId, messageId, pressed(button));
    },
    async submit(messageId, values, which) {
      const card = cardOf(messageId);
      const forms = [...components(card)].filter((one) => one["tag"] === "form");
      const submits = (form: Json) =>
        [...components(form["elements"])].find(
          (one) => one["form_action_type"] === "submit" && (which === undefined || named(one, which)),
        );
      const form = forms.find(submits);
      const button = form && submits(form);
      if (!form || !button) throw new Error(`there is no form to submit on the card: ${JSON.stringify(card)}`);
      const fields = [...components(form["elements"])].filter(
        (one) => typeof one["name"] === "string" && one["tag"] !== "button",
      );
      for (const key of Object.keys(values))
        if (!fields.some((one) => one["name"] === key)) throw new Error(`the form has no field ${key}`);
      for (const one of fields) {
        const value = values[String(one["name"])];
        checkField(one, value);
        // The client stops here, and nothing is sent.
        if (
          one["required"] === true &&
          (value === undefined || value === "" || (Array.isArray(value) && value.length === 0))
        )
          return { by: openId, message: messageId, why: `${String(one["name"])} is required`, ms: 0 };
      }
      const shown = await delivery.click(openId, messageId, { ...pressed(button), form_value: values });
      const confirm = button["confirm"] as Record<"title" | "text", Json> | undefined;
      const said = (text: Json) => String(text["content"]);
      return confirm ? { ...shown, confirm: { title: said(confirm.title), text: said(confirm.text) } } : shown;
    },
  };
}

function checkField(field: Json, value: unknown): void {
  if (value === undefined) return;
  const options = ((field["options"] ?? []) as Json[]).map((option) => option["value"]);
  const name = String(field["name"]);
  if (field["tag"] === "select_static" && value !== "" && !options.includes(value))
    throw new Error(`${name} has no option ${JSON.stringify(value)}`);
  if (field["tag"] === "multi_select_static" && !(value as unknown[]).every((one) => options.includes(one)))
    throw new Error(`${name} has not all of ${JSON.stringify(value)}`);
  if (field["tag"] === "input" && (value as string).length > Number(field["max_length"] ?? 1000))
    throw new Error(`${name} takes at most ${Number(field["max_length"] ?? 1000)} characters`);
}

function named(button: Json, which: string): boolean {
  const text = (button["text"] as Json | undefined)?.["content"];
  return button["element_id"] === which || button["name"] === which || text === which;
}

function pressed(button: Json): Json {
  const behavior = ((button["behaviors"] ?? []) as Json[]).find((one) => one["type"] === "callback");
  const value = behavior?.["value"] ?? button["value"];
  return {
    tag: "button",
    ...(value !== undefined && { value: structuredClone(value) }),
    ...(button["name"] !== undefined && { name: button["name"] }),
  };
}
