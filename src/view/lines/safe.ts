import { harmless, oneLine, tokens, visible } from "../../base/visible.ts";
import type { Style } from "./paint.ts";

/** Foreign text behind a margin that it cannot leave, whole. */
export function framed(text: string, style: Style): string[] {
  return rows(harmless(text).split("\n"), style);
}

/** The same for what may run or be kept: no character of it hides. */
export function exact(text: string, style: Style): string[] {
  return rows(visible(text).split("\n"), style);
}

/** The first rows, and how many there are besides. */
export function folded(text: string, count: number, style: Style): string[] {
  return atMost(count, framed(text.trimEnd(), style), style);
}

export function atMost(count: number, all: string[], { t }: Style): string[] {
  return all.length <= count + 1 ? all : [...all.slice(0, count), `  ${t.more(all.length - count)}`];
}

/** Lines that are safe to show already. A continued row has another mark at its margin, for a line break may matter. */
export function rows(lines: readonly string[], { width, paint }: Style, mark = ""): string[] {
  const room = Math.max(8, (width ?? Infinity) - columns(`  │ ${mark}`));
  return lines.flatMap((line) =>
    wrap(line, room).map((row, n) => `  ${n === 0 ? "│" : "┊"} ${mark}${row.replace(tokens, paint.token)}`),
  );
}

/** Columns a text takes, rather too many than too few: a row that wraps by itself would leave its margin. */
export function columns(text: string): number {
  let count = 0;
  for (const character of text)
    count += /\p{Mn}/u.test(character) ? 0 : (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
  return count;
}

/** Cuts a line where the row ends, never within a token: a row that the terminal wraps by itself would leave its margin. */
export function wrap(line: string, room: number, columnsOf = columns): string[] {
  if (room === Infinity) return [line];
  const found = [""];
  let used = 0;
  const pieces = [...line.matchAll(/‹[^›]*›|\P{Mn}\p{Mn}*|\p{Mn}+/gsu)].flatMap(([piece]) =>
    columnsOf(piece) > room ? [...piece] : [piece],
  );
  for (const piece of pieces) {
    const wide = columnsOf(piece);
    if (used > 0 && used + wide > room) {
      found.push("");
      used = 0;
    }
    found[found.length - 1] += piece;
    used += wide;
  }
  return found;
}

/** For a line that only names something: cut where the row ends, and seen to be cut. */
export function clipped(text: string, room: number | undefined): string {
  const line = oneLine(text);
  if (room === undefined || columns(line) <= room) return line;
  return `${wrap(line, Math.max(8, room - 1))[0] ?? ""}…`;
}

const colourCodes = /\x1b\[[\d;]*m/g;
// A wide character is a word of its own. Signs that open stand before a word, and those that end a sentence or a bracket behind it.
const wordsOf = /\x1b\[[\d;]*m|[ ]+|[（“「]*(?:[\u1100-\uffff]|[^ \x1b\u1100-\uffff]+)[，。、；：！？）”」…]*/gu;

/** Sage's own lines, broken between words; rows after the first are indented, below the words behind a key. Rows behind a margin fit already. */
export function fitted(lines: readonly string[], width: number | undefined): string[] {
  if (width === undefined || width < 20) return [...lines];
  return lines.flatMap((line) => {
    const plain = line.replace(colourCodes, "");
    if (columns(plain) <= width) return [line];
    const [, spaces = "", key = "  "] = /^( *)(\S {2})?/.exec(plain) ?? [];
    const indent = " ".repeat(spaces.length + key.length);
    const found = [""];
    let used = 0;
    for (const [word] of line.matchAll(wordsOf)) {
      const wide = word.startsWith("\x1b") ? 0 : columns(word);
      if (used + wide > width && used > indent.length) {
        found.push(indent);
        used = indent.length;
        if (word.trim() === "") continue;
      }
      found[found.length - 1] += word;
      used += wide;
    }
    return found.map((row) => row.trimEnd());
  });
}
