import type { Texts } from "../../texts/texts.ts";

// Whatever a terminal obeys instead of showing, or shows as nothing, or as a blank that is none.
const deceptive =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]--[\n\t\u0020\u3000]]/gv;
// Prose may join emoji and pick their style; it may not steer the terminal or turn its lines around.
const steering = /[[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]--[\n\t]]/gv;

const token = (character: string) =>
  `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;

/** Every character for what it is: what may run is judged by what is seen here. */
export function visible(text: string): string {
  return text.replace(deceptive, token).replaceAll("\t", "    ");
}

/** The same on one line. */
export function oneLine(text: string): string {
  return visible(text).replaceAll("\n", token("\n"));
}

/** Running text of a model, which may not touch the terminal. */
export function prose(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(steering, token);
}

/** Columns a text takes, rather too many than too few: a row that wraps by itself would leave its margin. */
export function columns(text: string): number {
  let count = 0;
  for (const character of text)
    count += /\p{Mn}/u.test(character) ? 0 : (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
  return count;
}

export type Page = { width: number | undefined; t: Texts };

/** Foreign text behind a margin that it cannot leave, whole. A row that goes on has another mark, for a line break may matter. */
export function framed(text: string, { width, t }: Page, mark = ""): string[] {
  const rows: string[] = [];
  for (const line of withoutVoid(visible(text), t)) {
    const room = Math.max(8, (width ?? Infinity) - columns(`  │ ${mark}`));
    wrap(line, room).forEach((row, n) => rows.push(`  ${n === 0 ? "│" : "┊"} ${mark}${row}`));
  }
  return rows;
}

/** The first rows, and how many there are besides. */
export function folded(text: string, rows: number, page: Page): string[] {
  const all = framed(text.trimEnd(), page);
  return all.length <= rows + 1 ? all : [...all.slice(0, rows), `  ${page.t.more(all.length - rows)}`];
}

/** Long stretches of nothing hide what comes after them; they are counted instead. */
function withoutVoid(text: string, t: Texts): string[] {
  return text
    .replace(/ {40,}/g, ({ length }) => t.blanks(length))
    .replace(/(?:^|(?<=\n))(?:[ \u3000]*\n){4,}/g, (run) => `${t.blankLines(run.split("\n").length - 1)}\n`)
    .split("\n");
}

function wrap(line: string, room: number): string[] {
  if (room === Infinity) return [line];
  const rows = [""];
  let used = 0;
  for (const character of line) {
    const wide = columns(character);
    if (used + wide > room) {
      rows.push("");
      used = 0;
    }
    rows[rows.length - 1] += character;
    used += wide;
  }
  return rows;
}

/** For a line that only names something: cut where the row ends, and seen to be cut. */
export function clipped(text: string, room: number | undefined): string {
  const line = oneLine(text);
  if (room === undefined || columns(line) <= room) return line;
  return `${wrap(line, Math.max(8, room - 1))[0] ?? ""}…`;
}
