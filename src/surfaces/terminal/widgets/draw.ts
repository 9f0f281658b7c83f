import { harmless, tokens, visible } from "../../../base/visible.ts";
import type { RulePreview } from "../../../protocol/host/past.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import type { PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import { worded as wordedRows, wrap } from "../draw/rows.ts";
import type { Theme } from "../draw/theme.ts";
import { CURSOR_MARKER, visibleWidth } from "../draw/tui.ts";
import { fieldRows, type Field } from "./field.ts";

/** Theme, texts and width that a panel is drawn with. */
export type Draw = {
  theme: Theme;
  t: Texts;
  wording: PanelTexts;
  width: number;
  /** The panel has the keyboard. */
  focused: boolean;
  /** Something that was still being loaded is there: draw again. */
  loaded(): void;
  /** Meaning of these rules together, once that is known. */
  past?: ((rules: readonly string[]) => RulePreview | undefined) | undefined;
};

type Paint = (text: string) => string;
const plain: Paint = (text) => text;

/** Sage's own words, broken between words; rows after the first are indented. */
export function own(text: string, { width }: Draw, { paint = plain, indent = 0 }: Own = {}): string[] {
  const room = Math.max(4, width - indent);
  return wordedRows(text, room).map((line) => " ".repeat(indent) + paint(line.trimEnd()));
}

type Own = { paint?: Paint; indent?: number };

/** Foreign text behind a margin that it cannot leave, whole. */
export function framed(text: string, draw: Draw, more: Framing = {}): string[] {
  return margined(harmless(text).split("\n"), draw, more);
}

/** The same for running text, broken between words. */
export function worded(text: string, draw: Draw, more: Framing = {}): string[] {
  const { mark = "", indent = 0 } = more;
  const room = Math.max(4, draw.width - indent - 2 - mark.length);
  return harmless(text)
    .split("\n")
    .flatMap((line) => {
      const rows = line === "" ? [""] : wordedRows(line, room).map((row) => row.trimEnd());
      return rows.flatMap((row, n) => margined([row], draw, { ...more, goesOn: n > 0 }));
    });
}

/** The same for what may run or be kept: no character of it hides. */
export function exact(text: string, draw: Draw, more: Framing = {}): string[] {
  return margined(visible(text).split("\n"), draw, more);
}

type Framing = { mark?: string; paint?: Paint; indent?: number; /** A part of the line before it. */ goesOn?: boolean };

/** Lines that are safe to show already. A continued row has another mark at its margin, for a line break may matter. */
export function margined(
  lines: readonly string[],
  { width, theme }: Draw,
  { mark = "", paint = plain, indent = 0, goesOn = false }: Framing = {},
): string[] {
  const start = " ".repeat(indent);
  const room = Math.max(4, width - indent - 2 - mark.length);
  return lines.flatMap((line) =>
    wrap(line, room).map((row, n) => {
      const text = row.replace(tokens, (token) => theme.token(token));
      return `${start}${theme.border(n === 0 && !goesOn ? "│" : "┊")} ${paint(`${mark}${text}`)}`;
    }),
  );
}

/** A line break in what is one line, such as a path, is shown for what it is. */
export function unbroken(text: string): string {
  return text.replaceAll("\n", "‹U+000A›");
}

/** A row that can be chosen. `sign` stands before it, such as a number or a box. */
export type Row = {
  sign: string;
  label: string;
  /** Dim, below the label. */
  more?: string | undefined;
  paint?: Paint;
  field?: Field;
  placeholder?: string;
};

/** A list of rows with the person at one of them, or at none yet. */
export function choiceRows(
  rows: readonly Row[],
  at: number | undefined,
  draw: Draw,
): { choices: string[]; focus: { from: number; to: number } } {
  const choices: string[] = [];
  let focus = { from: 0, to: 1 };
  for (const [n, row] of rows.entries()) {
    const here = n === at;
    const from = choices.length;
    const drawn = rowLines(row, here, draw);
    choices.push(...drawn.lines);
    if (here) focus = { from: from + drawn.from, to: from + drawn.to };
  }
  return { choices, focus };
}

const FIELD_ROWS = 8;

function rowLines(row: Row, here: boolean, draw: Draw): { lines: string[]; from: number; to: number } {
  const { theme, width, focused } = draw;
  const { paint = plain, field } = row;
  const pointer = here ? theme.accent("❯ ") : "  ";
  const sign = row.sign === "" ? "" : `${row.sign} `;
  const indent = 2 + visibleWidth(sign);
  // In a text the caret has the cursor; elsewhere it stands at the row, where a reader of the screen looks.
  const marker = here && focused && !field ? CURSOR_MARKER : "";
  const labels = own(row.label, { ...draw, width: width - indent }, { paint: here ? theme.bold : paint });
  const lines = labels.map((line, n) =>
    n === 0 ? `${marker}${pointer}${sign}${line}` : `${" ".repeat(indent)}${line}`,
  );
  if (row.more !== undefined && row.more.trim() !== "")
    lines.push(...own(row.more, draw, { paint: theme.dim, indent }));
  if (!field) return { lines, from: 0, to: lines.length };
  const room = width - indent - 2;
  const { lines: text, caret } = fieldRows(field, {
    width: Math.max(4, room),
    rows: FIELD_ROWS,
    focused: here && focused,
    theme,
    placeholder: row.placeholder ?? "",
  });
  const edge = here ? theme.accent("▏") : theme.border("▏");
  const from = lines.length + caret;
  lines.push(...text.map((line) => `${" ".repeat(indent)}${edge} ${line}`));
  return { lines, from, to: from + 1 };
}
