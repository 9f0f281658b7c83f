import { components } from "./card-check.ts";
import type { Json, Locale, Message, World } from "./world.ts";

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

/** `locale`: the language of the reader's client; without one, what those see who have another. */
export function seen(world: World, chat: string, locale?: Locale): Seen[] {
  return [...world.messages.values()]
    .filter((message) => message.chat === chat && !message.recalled)
    .map((message) => show(world, message, locale));
}

function show(world: World, message: Message, locale: Locale | undefined): Seen {
  const card = message.card && (inLocale(message.card, locale) as Json);
  const config = (card?.["config"] ?? {}) as Json;
  const summary = (config["summary"] as Json | undefined)?.["content"];
  const all = card ? [...components(card)] : [];
  return {
    id: message.id,
    from: message.sender === "bot" ? "bot" : (world.people.get(message.sender)?.name ?? message.sender),
    kind: message.type,
    text: card ? textOf(world, all) : plain(world, message, locale),
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

/** The texts of one language, where there are several. */
function inLocale(node: unknown, locale: Locale | undefined): unknown {
  if (Array.isArray(node)) return node.map((one) => inLocale(one, locale));
  if (typeof node !== "object" || node === null) return node;
  const { i18n_content: texts, ...rest } = node as Json;
  const chosen = locale && (texts as Json | undefined)?.[locale];
  const made = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inLocale(value, locale)]));
  return chosen === undefined ? made : { ...made, content: chosen };
}

function textOf(world: World, all: Json[]): string {
  return all
    .filter(({ tag }) => tag === "plain_text" || tag === "markdown" || tag === "lark_md")
    .map(({ tag, content }) => (tag === "plain_text" ? String(content) : drawn(world, String(content))))
    .join("\n");
}

/** Tags as the client draws them, escaped characters as themselves. */
function drawn(world: World, text: string): string {
  return text
    .replace(
      /<local_datetime millisecond='(\d+)' format_type='(\w+)'><\/local_datetime>/g,
      (_, at: string, type: string) => timeIn(Number(at), type),
    )
    .replace(/<person id='(\w+)'[^>]*><\/person>/g, (_, id: string) => world.people.get(id)?.name ?? "unknown user")
    .replace(/<at id=(\w+)><\/at>/g, (_, id: string) => `@${world.people.get(id)?.name ?? id}`)
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

function timeIn(at: number, type: string): string {
  const local = new Date(at + 8 * 60 * 60_000).toISOString(); // these people are in Shanghai
  if (type === "time") return local.slice(11, 16);
  if (type === "date_num") return local.slice(0, 10);
  throw new Error(`what is the format ${type}?`);
}

function plain(world: World, { type, content }: Message, locale: Locale | undefined): string {
  if (type === "text") return String(content["text"]);
  if (type === "post") {
    const all = content["content"] ? { own: content } : (content as Record<string, Json>);
    const { content: lines } = all[locale ?? ""] ?? Object.values(all)[0] ?? { content: [] };
    return (lines as Json[][])
      .map((line) =>
        line.map((part) => (part["tag"] === "at" ? `@${word(part["user_id"])}` : word(part["text"]))).join(""),
      )
      .join("\n");
  }
  const key = (content["file_key"] ?? content["image_key"] ?? "") as string;
  return world.files.get(key)?.name ?? JSON.stringify(content);
}

const word = (value: unknown): string => (typeof value === "string" ? value : "");

/** Only what stands unescaped in rich text notifies anybody. */
function pingsOf({ type, content }: Message, all: Json[]): string[] {
  const rich = all.filter(({ tag }) => tag === "markdown" || tag === "lark_md").map((one) => String(one["content"]));
  if (type === "text") rich.push(String(content["text"]));
  const posted = type === "post" ? [...JSON.stringify(content).matchAll(/"tag":"at","user_id":"(\w+)"/g)] : [];
  return [...new Set(posted.map(([, who = ""]) => who))].concat(
    rich.flatMap((text) => [...text.matchAll(/<at\s+(?:id|user_id)=["']?([^"'>\s]+)/g)].map(([, who = ""]) => who)),
  );
}
