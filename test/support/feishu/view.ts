import { components } from "./card-check.ts";
import type { Json, Message, World } from "./world.ts";

/** A message as people see it now. */
export type Seen = {
  id: string;
  /** `bot`, or the person's name. */
  from: string;
  kind: string;
  /** A card's title, texts, options and buttons line by line; a text as it is; the name of a file. */
  text: string;
  buttons: string[];
  /** Names of the fields of forms. */
  fields: string[];
  /** Whom it notifies by a mention that the client would honour. */
  pings: string[];
  thread?: string;
  parent?: string;
  /** The line in the list of chats. */
  summary?: string;
  streaming: boolean;
  reactions: string[];
  card?: Json;
};

export function seen(world: World, chat: string): Seen[] {
  return [...world.messages.values()]
    .filter((message) => message.chat === chat && !message.recalled)
    .map((message) => show(world, message));
}

function show(world: World, message: Message): Seen {
  const { card } = message;
  const config = (card?.["config"] ?? {}) as Json;
  const summary = (config["summary"] as Json | undefined)?.["content"];
  const all = card ? [...components(card)] : [];
  return {
    id: message.id,
    from: message.sender === "bot" ? "bot" : (world.people.get(message.sender)?.name ?? message.sender),
    kind: message.type,
    text: card ? textOf(all) : plain(world, message),
    buttons: all.filter(({ tag }) => tag === "button").map(({ text }) => String((text as Json)["content"])),
    fields: all
      .filter(({ tag, name }) => name !== undefined && tag !== "button" && tag !== "form")
      .map(({ name }) => String(name)),
    pings: pingsOf(message, all),
    ...(message.thread !== undefined && { thread: message.thread }),
    ...(message.parent !== undefined && { parent: message.parent }),
    ...(typeof summary === "string" && { summary }),
    streaming: config["streaming_mode"] === true,
    reactions: message.reactions,
    ...(card && { card }),
  };
}

function textOf(all: Json[]): string {
  return all
    .filter(({ tag }) => tag === "plain_text" || tag === "markdown" || tag === "lark_md")
    .map(({ tag, content }) => (tag === "plain_text" ? String(content) : decoded(String(content))))
    .join("\n");
}

/** Escaped characters read as themselves. */
function decoded(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

function plain(world: World, { type, content }: Message): string {
  if (type === "text") return String(content["text"]);
  const key = (content["file_key"] ?? content["image_key"] ?? "") as string;
  return world.files.get(key)?.name ?? JSON.stringify(content);
}

/** Only what stands unescaped in rich text notifies anybody. */
function pingsOf({ type, content }: Message, all: Json[]): string[] {
  const rich = all.filter(({ tag }) => tag === "markdown" || tag === "lark_md").map((one) => String(one["content"]));
  if (type === "text") rich.push(String(content["text"]));
  return rich.flatMap((text) =>
    [...text.matchAll(/<at\s+(?:id|user_id)=["']?([^"'>\s]+)/g)].map(([, who = ""]) => who),
  );
}
