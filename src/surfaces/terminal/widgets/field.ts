import { harmless, tokens } from "../../../base/visible.ts";
import type { Theme } from "../draw/theme.ts";
import { CURSOR_MARKER, visibleWidth } from "../draw/tui.ts";
import type { Key } from "./key.ts";

/** A text being written. `at` is where the caret stands, never inside of a character. */
export type Field = { readonly text: string; readonly at: number };

export function createField(text = ""): Field {
  return { text, at: text.length };
}

/** The field after this key; undefined when the key is none for it. */
export function edit(field: Field, key: Key): Field | undefined {
  const { text, at } = field;
  const replace = (from: number, to: number, by = ""): Field => ({
    text: text.slice(0, from) + by + text.slice(to),
    at: from + by.length,
  });
  switch (key.name) {
    case "newline":
      return replace(at, at, "\n");
    case "backspace":
    case "shift+backspace":
      return replace(before(text, at), at);
    case "delete":
    case "shift+delete":
      return replace(at, after(text, at));
    case "left":
    case "ctrl+b":
      return { text, at: before(text, at) };
    case "right":
    case "ctrl+f":
      return { text, at: after(text, at) };
    case "home":
    case "ctrl+a":
      return { text, at: lineStart(text, at) };
    case "end":
    case "ctrl+e":
      return { text, at: lineEnd(text, at) };
    case "ctrl+left":
    case "alt+left":
    case "alt+b":
      return { text, at: wordBefore(text, at) };
    case "ctrl+right":
    case "alt+right":
    case "alt+f":
      return { text, at: wordAfter(text, at) };
    case "ctrl+w":
    case "alt+backspace":
    case "ctrl+backspace":
      return replace(wordBefore(text, at), at);
    case "alt+d":
    case "alt+delete":
      return replace(at, wordAfter(text, at));
    case "ctrl+u":
      return replace(lineStart(text, at), at);
    case "ctrl+k":
      return replace(at, lineEnd(text, at));
    case "up":
      return lineStart(text, at) === 0 ? undefined : { text, at: vertical(text, at, lineStart(text, at) - 1) };
    case "down":
      return lineEnd(text, at) === text.length ? undefined : { text, at: vertical(text, at, lineEnd(text, at) + 1) };
    default:
      return key.text === undefined || key.text === "" ? undefined : replace(at, at, key.text);
  }
}

export function isBlank({ text }: Field): boolean {
  return text.trim() === "";
}

type Drawing = { width: number; rows: number; focused: boolean; theme: Theme; placeholder?: string };

/** The rows around the caret, at most as many as fit; how many are hidden is told. `caret` is the row it is in. */
export function fieldRows(
  { text, at }: Field,
  { width, rows, focused, theme, placeholder = "" }: Drawing,
): { lines: string[]; caret: number } {
  const marker = focused ? CURSOR_MARKER : "";
  if (text === "") return { lines: [marker + theme.dim(cutTo(placeholder, width - 1))], caret: 0 };
  // The last column is for the caret.
  const { lines, caret } = wrapped(text, at, { room: Math.max(2, width - 1), marker, theme });
  if (lines.length <= rows) return { lines, caret };
  const shown = Math.max(1, rows - 2);
  const from = Math.min(Math.max(0, caret - Math.floor(shown / 2)), lines.length - shown);
  const hidden = (sign: string, count: number) => (count > 0 ? [theme.dim(cutTo(`${sign} ${count}`, width - 1))] : []);
  const above = hidden("↑", from);
  return {
    lines: [...above, ...lines.slice(from, from + shown), ...hidden("↓", lines.length - from - shown)],
    caret: caret - from + above.length,
  };
}

type Wrapping = { room: number; marker: string; theme: Theme };

/** Line by line: of a long text only the line of the caret is wrapped anew with each key. */
function wrapped(text: string, at: number, how: Wrapping): { lines: string[]; caret: number } {
  const lines: string[] = [];
  let [from, caret] = [0, 0];
  for (const line of text.split("\n")) {
    const inside = at >= from && at <= from + line.length;
    const drawn = inside ? wrapLine(line, how, at - from) : unmarked(line, how);
    if (inside) caret = lines.length + drawn.caret;
    lines.push(...drawn.lines);
    from += line.length + 1;
  }
  return { lines, caret };
}

let known: { room: number; theme: Theme; lines: Map<string, { lines: string[]; caret: number }> } | undefined;
const KNOWN_LINES = 5_000;

function unmarked(line: string, how: Wrapping): { lines: string[]; caret: number } {
  if (known?.room !== how.room || known.theme !== how.theme || known.lines.size > KNOWN_LINES)
    known = { room: how.room, theme: how.theme, lines: new Map() };
  let found = known.lines.get(line);
  if (!found) known.lines.set(line, (found = wrapLine(line, how, undefined)));
  return found;
}

function wrapLine(line: string, { room, marker, theme }: Wrapping, at: number | undefined) {
  const lines = [""];
  let used = 0;
  let caret: number | undefined;
  const put = (piece: string, wide: number) => {
    if (used > 0 && used + wide > room) {
      lines.push("");
      used = 0;
    }
    lines[lines.length - 1] += piece;
    used += wide;
  };
  const mark = () => {
    lines[lines.length - 1] += marker;
    caret = lines.length - 1;
  };
  for (const { segment, index } of graphemes.segment(line)) {
    // Deleting can join the characters on both sides of the caret.
    if (at !== undefined && caret === undefined && index + segment.length > at) mark();
    for (const piece of drawn(segment, room)) put(piece.replace(tokens, theme.token), visibleWidth(piece));
  }
  if (at !== undefined && caret === undefined) mark();
  return { lines, caret: caret ?? 0 };
}

/** An emoji is one sign however it is made; nothing else may hide, not even in what the person wrote. */
function drawn(segment: string, room: number): string[] {
  if (/^[\x20-\x7e]$/.test(segment)) return [segment];
  const shown = /^\p{RGI_Emoji}$/v.test(segment) ? segment : harmless(segment);
  return visibleWidth(shown) > room ? [...shown] : [shown];
}

function cutTo(text: string, width: number): string {
  if (visibleWidth(text) <= width) return text;
  let cut = "";
  for (const { segment } of graphemes.segment(text)) {
    if (visibleWidth(`${cut}${segment}…`) > width) break;
    cut += segment;
  }
  return `${cut}…`;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const words = new Intl.Segmenter(undefined, { granularity: "word" });
/** Text further off than any character or word is long need not be looked at. */
const NEAR = 1_000;

function before(text: string, at: number): number {
  const from = Math.max(0, at - NEAR);
  const last = [...graphemes.segment(text.slice(from, at))].at(-1);
  return last ? from + last.index : 0;
}

function after(text: string, at: number): number {
  const [first] = graphemes.segment(text.slice(at, at + NEAR));
  return at + (first?.segment.length ?? 0);
}

function wordBefore(text: string, at: number): number {
  const from = Math.max(0, at - NEAR);
  const found = [...words.segment(text.slice(from, at))].findLast(({ isWordLike }) => isWordLike);
  return from + (found?.index ?? 0);
}

function wordAfter(text: string, at: number): number {
  for (const { segment, index, isWordLike } of words.segment(text.slice(at, at + NEAR)))
    if (isWordLike) return at + index + segment.length;
  return Math.min(text.length, at + NEAR);
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Position as many columns into the line that holds `other` as the caret is into its own. */
function vertical(text: string, at: number, other: number): number {
  const column = visibleWidth(text.slice(lineStart(text, at), at));
  const from = lineStart(text, other);
  let to = from;
  for (const { segment, index } of graphemes.segment(text.slice(from, lineEnd(text, other)))) {
    if (visibleWidth(text.slice(from, from + index + segment.length)) > column) break;
    to = from + index + segment.length;
  }
  return to;
}
