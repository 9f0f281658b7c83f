import { oneLine } from "../../../base/visible.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { whyOf } from "../../../view/request/answering.ts";
import { originLines } from "../../../view/request/origin.ts";
import { silenceLines } from "../../../view/request/silence.ts";
import type { Theme } from "../draw/theme.ts";
import { truncateToWidth, visibleWidth } from "../draw/tui.ts";
import { framed, own, type Draw } from "../widgets/draw.ts";
import type { Queue } from "./panel.ts";

type Head = {
  queue: Queue;
  now: number;
  draw: Draw;
  dangerous: boolean;
  size: { characters: number; lines: number } | undefined;
};

/** Head of a panel: kind of request, its number among the open ones, age and deadline. */
export function headLines(request: InputRequest, { queue, now, draw, dangerous, size }: Head): string[] {
  const { theme, t, wording, width } = draw;
  const age = now - request.at;
  const title = [
    queue.total > 1 ? t.aside(t.title[request.kind], t.place(queue.position, queue.total)) : t.title[request.kind],
    ...(size ? [t.size(size.characters, size.lines)] : []),
    ...(age >= 60_000 ? [wording.asked(t.age(age))] : []),
  ].join(" · ");
  const line = "─".repeat(Math.max(0, Math.min(width, 72) - visibleWidth(title) - 4));
  const urgent = request.deadline !== undefined && request.deadline.at - now < 60_000;
  return [
    ...own(`── ${title}${line === "" ? "" : ` ${line}`}`, draw, {
      paint: (text) => theme.bold(dangerous ? theme.danger(text) : theme.warn(text)),
    }),
    ...onRows(originLines(request, t), width).flatMap((line) => own(line, draw, { paint: theme.dim })),
    ...silenceLines(request, t, now).flatMap((line) => own(line, draw, { paint: urgent ? theme.danger : theme.dim })),
  ];
}

/** On one row where there is room for it. */
function onRows(lines: readonly string[], width: number): readonly string[] {
  const row = lines.join(" · ");
  return visibleWidth(row) <= width ? [row].filter(Boolean) : lines;
}

/** Why, from where and by whom it is asked. */
export function aboutLines(request: InputRequest, draw: Draw): string[] {
  const { theme, t } = draw;
  const { source } = request;
  const why = whyOf(request);
  return [
    ...(why === undefined ? [] : framed(t.because(why), draw)),
    ...(t.source[source] === "" ? [] : own(t.source[source], draw, { paint: theme.dim })),
    ...agentLines(request, draw),
  ];
}

export function agentLines({ agent }: Pick<InputRequest, "agent">, draw: Draw): string[] {
  return agent.length > 0 ? own(oneLine(draw.t.agent(agent)), draw, { paint: draw.theme.warn }) : [];
}

/** Lines of a note. */
export function noteLines(note: string, draw: Draw, paint: (text: string) => string): string[] {
  return note === "" ? [] : own(oneLine(note), draw, { paint });
}

/** A key and what it does stay on one line. */
export function keyLines(keys: readonly string[], draw: Draw): string[] {
  const lines: string[] = [];
  for (const key of keys) {
    const joined = lines.length === 0 ? key : `${lines.at(-1)} · ${key}`;
    if (lines.length > 0 && visibleWidth(joined) <= draw.width) lines[lines.length - 1] = joined;
    else lines.push(key);
  }
  return lines.flatMap((line) => own(line, draw, { paint: draw.theme.dim }));
}

/** The lines of a panel from top to bottom; `body` scrolls, the choices follow the person, the rest stands. */
type Sections = {
  head: string[];
  body: string[];
  /** Rows of the body that have to be seen. */
  must: number;
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
export function lay({ head, body, must, choices, focus, notes, keys }: Sections, room: Room): Laid {
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

/** The first row of the body after this key; undefined when it is none that scrolls. What is too far is brought back. */
export function scrolled(key: string, { scroll, page, writes }: { scroll: number; page: number; writes: boolean }) {
  switch (key) {
    case "pageUp":
      return scroll - page;
    case "pageDown":
      return scroll + page;
    case "shift+up":
      return scroll - 1;
    case "shift+down":
      return scroll + 1;
    case "home":
      return writes ? undefined : 0;
    case "end":
      return writes ? undefined : Infinity;
    default:
      return undefined;
  }
}
