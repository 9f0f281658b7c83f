import { harmless, prose } from "../../../base/visible.ts";

// Tags that the client gives a meaning to. In code an entity would be shown as it is, so there a token breaks them.
const tags = /<(?=\/?(?:at|person|font|text_tag|number_tag|local_datetime|link|a|img|button|br|hr|audio|card)\b)/gi;

/** Foreign text as text: nothing in it is a link, a mention or a layout. On one line or several. */
export function words(text: string): string {
  return harmless(text)
    .replace(/[&<>*_~`[\]()#:+\-!$"'|\\]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replaceAll("\n", "<br>");
}

/** A block of code that its content cannot leave. */
export function code(lines: readonly string[], language = "text"): string {
  return `\`\`\`${language}\n${inCode(lines.join("\n"))}\n\`\`\``;
}

/** A short piece of code within a line. */
export function inline(text: string): string {
  const safe = inCode(harmless(text)).replaceAll("\n", " ").replaceAll("`", "‹U+0060›");
  return safe === "" ? "" : `\`${safe}\``;
}

function inCode(text: string): string {
  return prose(text)
    .replace(/`{3,}/g, (run) => `‹U+0060×${run.length}›`)
    .replace(tags, "‹U+003C›");
}

/** For a message that is no card: there mentions are written as tags, too, and links as in Markdown. */
export function plainWords(text: string): string {
  return harmless(text).replace(tags, "‹U+003C›").replaceAll("](", "]‹U+0028›");
}

/** The model's Markdown without live addresses and tags; a table becomes code, for a card takes only a few of them. */
export function markdownOf(text: string): string {
  const out: string[] = [];
  let fence: string | undefined;
  let table: string[] = [];
  const closeTable = () => {
    if (table.length > 1) out.push("```text", ...table.map(inCode), "```");
    else out.push(...table.map(running));
    table = [];
  };
  for (const line of prose(text).split("\n")) {
    const mark = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(line);
    if (fence !== undefined) {
      const closes = mark?.[1]?.startsWith(fence) && mark[2] === "";
      out.push(closes ? "```" : inCode(line));
      if (closes) fence = undefined;
    } else if (mark) {
      closeTable();
      fence = mark[1];
      out.push(`\`\`\`${mark[2]}`);
    } else if (/^\s*\|/.test(line)) table.push(line);
    else {
      closeTable();
      out.push(running(line));
    }
  }
  closeTable();
  if (fence !== undefined) out.push("```");
  return out.join("\n");
}

function running(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((piece, n) => (n % 2 === 1 ? piece.replace(tags, "‹U+003C›") : spoken(piece)))
    .join("");
}

function spoken(text: string): string {
  return text
    .split(/(\b(?:https?|ftp|file|mailto|lark|feishu):[^\s<>)\]"'，。）】]+)/i)
    .map((piece, n) =>
      // A sign of code without its fellow would find one on another line, and turn what is between them round.
      n % 2 === 1 ? inline(piece) : piece.replace(/[&<[\]|$\\`]|(?<!^\s*)>/g, (sign) => `&#${sign.charCodeAt(0)};`),
    )
    .join("");
}

const HALF_DAY_MS = 12 * 60 * 60_000;
const MARK = "@time@";

/** A sentence around a time of day, which the client shows by the clock of whoever reads it. Safe Markdown. */
export function withTime(sentence: (time: string) => string, at: number, now: number): string {
  return words(sentence(MARK)).replace(MARK, timeTag(at, now));
}

export function timeTag(at: number, now: number): string {
  const part = (type: string) =>
    `<local_datetime millisecond='${Math.round(at)}' format_type='${type}'></local_datetime>`;
  return Math.abs(at - now) > HALF_DAY_MS ? `${part("date_num")} ${part("time")}` : part("time");
}

/** Takes secrets out of what leaves the machine; whoever attaches the surface knows them. */
export type Redaction = {
  text(text: string): string;
  /** The same in every string of plain data. */
  value<T>(value: T): T;
};

export const noRedaction: Redaction = { text: (text) => text, value: (value) => value };

/** With the number of places that were covered, which people should know of. */
export function redacted<T>(value: T, redaction: Redaction): { value: T; masked: number } {
  const clean = redaction.value(value);
  return { value: clean, masked: Math.max(0, count(clean) - count(value)) };
}

const count = (value: unknown) => JSON.stringify(value).split("[secret").length - 1;
