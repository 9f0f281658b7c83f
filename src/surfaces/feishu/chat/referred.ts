import { thrownText } from "../../../texts/shared/error.ts";
import type { Phrase } from "../cards/speech.ts";
import type { FeishuChannel, Incoming, Referred } from "../channel/channel.ts";

const MAX_TEXT_LENGTH = 20_000;
const MAX_PARTS = 100;

type Brought = {
  /** Text for the model before the person's own words. */
  words: string;
  files: Pick<Incoming, "messageId" | "attachments">[];
  problem?: Phrase;
};

/** Something that a person refers to: the message they reply to, or those that they forward. */
export async function broughtBy(
  message: Incoming,
  { channel, isKnown, log }: { channel: FeishuChannel; isKnown(messageId: string): boolean; log(line: string): void },
): Promise<Brought> {
  const nothing: Brought = { words: "", files: [] };
  const { parentId, kind, messageId } = message;
  const forwarded = kind === "merge_forward";
  const id = forwarded ? messageId : parentId;
  // The session knows its own messages.
  if (id === undefined || (!forwarded && isKnown(id))) return nothing;
  let referred: Referred;
  try {
    referred = await channel.message(id);
  } catch (error) {
    log(`a message that was referred to could not be read: ${thrownText(error)}`);
    return { ...nothing, problem: ({ t }) => (forwarded ? t.forwardUnread : t.quoteUnread) };
  }
  if (referred.own) return nothing;
  const name = await authorName(referred, channel);
  if (forwarded) {
    const lines = await Promise.all(referred.parts.slice(0, MAX_PARTS).map((part) => line(part, channel)));
    const more = referred.parts.length - lines.length;
    return {
      ...nothing,
      words: quoted("The person forwards these messages:", [...lines, ...(more > 0 ? [`… ${more} more`] : [])]),
    };
  }
  const inside = await Promise.all(referred.parts.slice(0, MAX_PARTS).map((part) => line(part, channel)));
  return {
    words: quoted(`In reply to a message of ${name}:`, [referredText(referred), ...inside]),
    files: [{ messageId: referred.messageId, attachments: referred.attachments }],
  };
}

async function line(part: Referred, channel: FeishuChannel): Promise<string> {
  return `${await authorName(part, channel)}: ${referredText(part)}`;
}

async function authorName({ author }: Referred, channel: FeishuChannel): Promise<string> {
  if (author === undefined) return "a bot";
  return (await channel.userName(author).catch(() => undefined)) ?? "a colleague";
}

/** Files inside of a forward cannot be fetched, so they are named. */
function referredText({ text, attachments, kind }: Referred): string {
  const files = attachments.map(({ kind: what, name }) => `[${what}${name === undefined ? "" : ` ${name}`}]`);
  return [text, ...files].filter((text) => text.trim() !== "").join(" ") || `[${kind}]`;
}

function quoted(title: string, lines: readonly string[]): string {
  const text = lines.join("\n");
  const whole = text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}\n… (cut here)` : text;
  return [`[${title}]`, ...whole.split("\n").map((line) => `> ${line}`)].join("\n");
}
