import { harmless, oneLine, tokens } from "../../../base/visible.ts";
import { columns, wrap as wrapLine } from "../../../view/lines/safe.ts";
import type { Theme } from "./theme.ts";
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "./tui.ts";

type Paint = (text: string) => string;

/** Sage's own words, broken between words; rows after the first are indented. */
export function own(text: string, width: number, indent = 0): string[] {
  return worded(text, Math.max(4, width - indent)).map((line, n) => `${n > 0 ? " ".repeat(indent) : ""}${line}`);
}

/** A line of a list, such as `/name   words about it`: further rows begin below the words. */
export function listed(line: string, width: number, paint: Paint): string[] {
  const lead = /^\S+ {2,}(?=\S)/.exec(line)?.[0] ?? "";
  if (lead === "" || lead.length * 2 > width) return own(paint(line), width, 2);
  const words = worded(line.slice(lead.length), width - lead.length);
  return words.map((row, n) => paint(`${n === 0 ? lead : " ".repeat(lead.length)}${row}`));
}

/** A sign at the beginning of a row that ends or continues a Chinese sentence or bracket. */
const misplaced = /^(?:\x1b\[[\d;]*m)*[，。、；：！？）”」…]/u;

/** Broken between words, a little earlier where a row would begin with a Chinese sign that belongs to the word before it. */
export function worded(text: string, room: number): string[] {
  const rows = wrapTextWithAnsi(text, room);
  if (!rows.some((row) => misplaced.test(row))) return rows;
  for (let narrower = room - 1; narrower >= Math.max(4, room - 8); narrower--) {
    const others = wrapTextWithAnsi(text, narrower);
    if (!others.some((row) => misplaced.test(row))) return others;
  }
  return rows;
}

type Framing = {
  width: number;
  theme: Theme;
  paint?: Paint;
  /** Each line gets a single row, cut at the edge. */ clip?: boolean;
};

/** Foreign text behind a margin that it cannot leave. A continued row has another mark there, for a line break may matter. */
export function margined(
  lines: readonly string[],
  { width, theme, paint = (text) => text, clip = false }: Framing,
): string[] {
  const room = Math.max(4, width - 4);
  return lines.flatMap((line) =>
    (clip ? [clipped(line.slice(0, 4 * width), room)] : wrap(harmless(line), room)).map(
      (row, n) => `  ${theme.border(n === 0 ? "│" : "┊")} ${paint(row.replace(tokens, (token) => theme.token(token)))}`,
    ),
  );
}

/** For a line that only names something: cut where the row ends, and seen to be cut. */
export function clipped(text: string, width: number): string {
  return truncateToWidth(oneLine(text), Math.max(1, width), "…").replaceAll("\x1b[0m", "");
}

/** Columns of a text: as many as the library counts, or as plain lines do if those are more. */
function columnsOf(text: string): number {
  return /^[\x20-\x7e]$/.test(text) ? 1 : Math.max(columns(text), visibleWidth(text));
}

export function wrap(line: string, room: number): string[] {
  if (line.length * 2 <= room || (line.length <= room && /^[\x20-\x7e]*$/.test(line))) return [line];
  return wrapLine(line, room, columnsOf);
}

const sequences = /\x1b(?:\[[\d;]*m|[^])?|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]/g;

/** Lets colours pass and nothing else that steers: the last gate before the screen for text that a library laid out. */
export function onlyColours(row: string): string {
  return row.replace(sequences, (found) => (/^\x1b\[[\d;]*m$/.test(found) ? found : ""));
}
