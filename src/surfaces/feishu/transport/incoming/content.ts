import * as z from "../../../../base/z.ts";
import type { Incoming } from "../../channel/channel.ts";

export const mentionSchema = z.object({
  key: z.string(),
  id: z.object({ open_id: z.string().optional() }).default({}),
  mentioned_type: z.string().optional(),
  name: z.string().default(""),
});

type Mention = z.infer<typeof mentionSchema>;
type Content = Pick<Incoming, "text" | "attachments">;

const nothing: Content = { text: "", attachments: [] };

/** Text and attachments of a message. An unreadable message has no text. */
export function readContent(
  type: string,
  content: string,
  mentions: readonly Mention[],
  isBot: (mention: Mention) => boolean,
): Content {
  const named = (text: string) => withNames(text, mentions, isBot);
  const body = parse(content);
  switch (type) {
    case "text":
      return { text: named(textOf(body["text"])), attachments: [] };
    case "post": {
      const { text, attachments } = post(body);
      return { text: named(text), attachments };
    }
    case "image":
      return { ...nothing, attachments: attachment("image", body["image_key"]) };
    case "file":
    case "media":
      return { ...nothing, attachments: attachment("file", body["file_key"], body["file_name"]) };
    case "interactive":
      return { text: cardText(body).join("\n"), attachments: [] };
    default:
      return nothing;
  }
}

/** The words on a card, from the top down. Its images cannot be fetched. */
function cardText(node: unknown): string[] {
  if (Array.isArray(node)) {
    const inline = node.every((child) => typeof child === "object" && child !== null && "tag" in child);
    const found = node.map(cardText);
    return inline ? [found.flat().join("")].filter((line) => line !== "") : found.flat();
  }
  if (typeof node !== "object" || node === null) return [];
  const { title, text, content, header, elements, body, columns, fields, actions } = node as Record<string, unknown>;
  const own = [title, text, content].flatMap((part) => (typeof part === "string" ? [part] : cardText(part)));
  return [...cardText(header), ...own, ...[elements, body, columns, fields, actions].flatMap(cardText)].filter(
    (line) => line.trim() !== "",
  );
}

/** The bot's own mention is how it was called, not part of what was said. */
function withNames(text: string, mentions: readonly Mention[], isBot: (mention: Mention) => boolean): string {
  const byKey = new Map(mentions.map((mention) => [mention.key, mention]));
  return text
    .replace(/@_user_\d+/g, (key) => {
      const mention = byKey.get(key);
      if (!mention) return key;
      return isBot(mention) ? "" : `@${mention.name}`;
    })
    .replaceAll("@_all", "@all")
    .trim();
}

function post(body: Record<string, unknown>): Content {
  const attachments: Incoming["attachments"] = [];
  const paragraphs = Array.isArray(body["content"]) ? (body["content"] as unknown[]) : [];
  const lines = paragraphs.map((paragraph) =>
    (Array.isArray(paragraph) ? (paragraph as unknown[]) : [])
      .map((node) => {
        const part = typeof node === "object" && node !== null ? (node as Record<string, unknown>) : {};
        if (part["tag"] === "img") attachments.push(...attachment("image", part["image_key"]));
        if (part["tag"] === "media") attachments.push(...attachment("file", part["file_key"]));
        return piece(part);
      })
      .join(""),
  );
  return { text: [textOf(body["title"]), ...lines].filter((line) => line !== "").join("\n"), attachments };
}

function piece(part: Record<string, unknown>): string {
  switch (part["tag"]) {
    case "text":
      return textOf(part["text"]);
    case "a":
      return part["href"] === part["text"] ? textOf(part["href"]) : `${textOf(part["text"])} (${textOf(part["href"])})`;
    case "at":
      return textOf(part["user_id"]) + (/^@_user_\d+$/.test(textOf(part["user_id"])) ? " " : "");
    case "emotion":
      return `[${textOf(part["emoji_type"])}]`;
    case "code_block":
      return `\n\`\`\`${textOf(part["language"]).toLowerCase()}\n${textOf(part["text"]).replace(/\n$/, "")}\n\`\`\`\n`;
    case "hr":
      return "---";
    default:
      return "";
  }
}

function attachment(kind: "image" | "file", key: unknown, name?: unknown): Incoming["attachments"] {
  // The key becomes part of a URL: only key characters are accepted.
  if (typeof key !== "string" || !/^[\w-]+$/.test(key)) return [];
  return [{ kind, key, ...(typeof name === "string" && { name }) }];
}

function parse(content: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
