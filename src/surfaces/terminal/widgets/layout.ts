import type { Theme } from "../draw/theme.ts";
import { truncateToWidth, visibleWidth } from "../draw/tui.ts";

/** The lines of a panel from top to bottom; `body` scrolls, the choices follow the person, the rest stands. */
export type Sections = {
  head: string[];
  body: string[];
  /** Rows of the body that have to be seen. */
  must?: number;
  choices: string[];
  /** The rows of the choices where the person is. */
  focus: { from: number; to: number };
  notes: string[];
  /** The first row of them is shown whatever happens. */
  keys: string[];
};

type Laid = {
  lines: string[];
  /** The first row of the body that is shown, after it was brought back into bounds. */
  scroll: number;
  /** Rows of a page. */
  page: number;
  /** The last row that has to be seen is, or was passed. */
  endShown: boolean;
};

type Room = {
  rows: number;
  width: number;
  scroll: number;
  theme: Theme;
  /** Says which rows of the body are shown, and of how many. */
  place(from: number, to: number, of: number): string;
};

const LEAST_BODY = 3;

/** Everything on as many rows as there are: choices always among them. */
export function lay({ head, body, must = body.length, choices, focus, notes, keys }: Sections, room: Room): Laid {
  const { rows, width, theme } = room;
  const all = head.length + body.length + choices.length + notes.length + keys.length;
  const foot = [...notes, ...(all > rows ? keys.slice(0, 1) : keys)];
  const least = Math.min(choices.length, 3) + Math.min(body.length, LEAST_BODY);
  const top = head.slice(0, Math.max(1, rows - least - 1));
  const bottom = foot.slice(0, Math.max(1, rows - least - top.length));
  const left = Math.max(2, rows - top.length - bottom.length);
  const chosen = around(choices, focus, {
    rows: Math.max(1, left - Math.min(body.length, Math.max(LEAST_BODY, Math.floor(left / 3)))),
    theme,
  });
  const space = Math.max(1, left - chosen.length);
  const whole = body.length <= space;
  const shown = whole ? body.length : Math.max(1, space - 1);
  const scroll = Math.min(Math.max(0, room.scroll), body.length - shown);
  const middle = body.slice(scroll, scroll + shown);
  if (!whole && space > 1) {
    const place = ` ${room.place(scroll + 1, scroll + shown, body.length)} `;
    const line = "┄".repeat(Math.max(0, Math.min(60, width) - visibleWidth(place) - 2));
    middle.push(theme.warn(truncateToWidth(`┄┄${place}${line}`, width, "…")));
  }
  return {
    lines: [...top, ...middle, ...(all < rows ? [""] : []), ...chosen, ...bottom],
    scroll,
    page: Math.max(1, shown - 1),
    endShown: scroll + shown >= must,
  };
}

/** The part of a list that holds the focus; what is hidden is counted. */
function around(lines: string[], focus: { from: number; to: number }, { rows, theme }: { rows: number; theme: Theme }) {
  if (lines.length <= rows) return lines;
  if (rows < 4) return lines.slice(focus.from, focus.from + rows);
  const inner = rows - 2;
  const height = Math.min(inner, focus.to - focus.from);
  const middle = Math.max(0, focus.from - Math.floor((inner - height) / 2));
  // At either end only one row is needed to say that there is more.
  const from = middle <= 1 ? 0 : Math.min(middle, lines.length - rows + 1);
  const until = from === 0 ? rows - 1 : from + rows - 1 >= lines.length ? lines.length : from + inner;
  return [
    ...(from > 0 ? [theme.dim(`  ↑ ${from}`)] : []),
    ...lines.slice(from, until),
    ...(until < lines.length ? [theme.dim(`  ↓ ${lines.length - until}`)] : []),
  ];
}
