import { harmless, tokens } from "../../../base/visible.ts";
import type { PagerTexts } from "../../../texts/surfaces/pager.ts";
import { clipped, wrap } from "../draw/rows.ts";
import type { Theme } from "../draw/theme.ts";
import type { Component } from "../draw/tui.ts";
import { readKey, type Key } from "./key.ts";
import type { Source } from "./source.ts";

/** A long text on the screen, a page at a time. */
type Pager = Component & { focused: boolean; handleInput(data: string): void };

type Paged = { title: string; source: Source };

type Parts = {
  theme: Theme;
  words: PagerTexts;
  rows(): number;
  redraw(): void;
  /** Told about what waits for the person meanwhile. */
  note(): string;
  close(): void;
};

/** `line` and `row` say what stands at the top: a long line takes several rows. */
type State = {
  line: number;
  row: number;
  /** Search text; `typing` while it is written. */
  query: string;
  typing: boolean;
  found: "none" | "yes" | "no";
};

export type Pagers = { open(): Pager | undefined; show(paged: Paged): void; close(): void };

/** At most one is open. */
export function createPagers(parts: Omit<Parts, "close"> & { changed(): void }): Pagers {
  let open: { pager: Pager; source: Source } | undefined;
  const close = () => {
    open?.source.close();
    open = undefined;
    parts.changed();
    parts.redraw();
  };
  return {
    open: () => open?.pager,
    close,
    show(paged) {
      open?.source.close();
      open = { pager: createPager(paged, { ...parts, close }), source: paged.source };
      parts.changed();
      parts.redraw();
    },
  };
}

function createPager({ title, source }: Paged, parts: Parts): Pager {
  const { theme, words } = parts;
  let state: State = { line: 0, row: 0, query: "", typing: false, found: "none" };
  let view: View = { source, width: 80, height: 10 };
  let focused = false;
  return {
    get focused() {
      return focused;
    },
    set focused(on) {
      focused = on;
    },
    invalidate() {},
    render(width) {
      const height = Math.max(1, parts.rows() - 2);
      view = { source, width, height };
      state = { ...state, row: Math.min(state.row, Math.max(0, rowsAt(view, state.line).length - 1)) };
      const { rows, last } = page(view, state);
      const count = source.count();
      const place = words.place(Math.min(count, state.line + 1), Math.min(count, last), count);
      const keys = state.typing ? `/${state.query}▏` : state.found === "no" ? words.notFound(state.query) : words.keys;
      const note = parts.note();
      return [
        theme.bold(clipped(`── ${place}${note === "" ? "" : ` · ${note}`} · ${title}`, width)),
        ...rows.map((row) => painted(row, state.query, theme)),
        ...Array.from({ length: height - rows.length }, () => theme.dim("~")),
        (state.typing || state.found === "no" ? theme.warn : theme.dim)(clipped(keys, width)),
      ];
    },
    handleInput(data) {
      const key = readKey(data);
      const next = key && (state.typing ? typed(state, key, source) : pressed(state, key, view));
      if (next === "closed") return parts.close();
      if (!next) return;
      state = next;
      parts.redraw();
    },
  };
}

/** Where moves happen. */
type View = { source: Source; width: number; height: number };

/** A key while the search text is written. */
function typed(state: State, { name, text }: Key, source: Source): State {
  if (name === "enter") return search(state, source);
  if (name === "escape") return { ...state, typing: false, query: "" };
  if (name === "backspace") return { ...state, query: [...state.query].slice(0, -1).join("") };
  return text === undefined ? state : { ...state, query: state.query + text.replaceAll("\n", " ") };
}

function pressed(state: State, { name }: Key, view: View): State | "closed" {
  const page = Math.max(1, view.height - 1);
  switch (name) {
    case "q":
    case "escape":
      return "closed";
    case "down":
    case "j":
    case "enter":
      return down(state, view);
    case "up":
    case "k":
      return up(state, view);
    case "space":
    case "f":
    case "pageDown":
      return down(state, view, page);
    case "b":
    case "pageUp":
      return up(state, view, page);
    case "g":
    case "home":
      return { ...state, line: 0, row: 0 };
    case "G":
    case "shift+g":
    case "end":
      return end(state, view);
    case "/":
      return { ...state, typing: true, query: "", found: "none" };
    case "n":
      return state.query === "" ? state : found(state, findAfter(view.source, state.query, state.line + 1));
    case "N":
    case "shift+n":
      return state.query === "" ? state : found(state, findBefore(view.source, state.query, state.line));
    default:
      return state;
  }
}

function down(state: State, view: View, by = 1): State {
  let { line, row } = state;
  for (let n = 0; n < by; n++) {
    if (row + 1 < rowsAt(view, line).length) row++;
    else if (line + 1 < view.source.count()) [line, row] = [line + 1, 0];
    else break;
  }
  return { ...state, line, row };
}

function up(state: State, view: View, by = 1): State {
  let { line, row } = state;
  for (let n = 0; n < by; n++) {
    if (row > 0) row--;
    else if (line > 0) [line, row] = [line - 1, rowsAt(view, line - 1).length - 1];
    else break;
  }
  return { ...state, line, row };
}

function end(state: State, view: View): State {
  const line = Math.max(0, view.source.count() - 1);
  return up({ ...state, line, row: Math.max(0, rowsAt(view, line).length - 1) }, view, view.height - 1);
}

function search(state: State, source: Source): State {
  const written = { ...state, typing: false };
  return state.query === ""
    ? { ...written, found: "none" }
    : found(written, findAfter(source, state.query, state.line));
}

function found(state: State, line: number | undefined): State {
  return line === undefined ? { ...state, found: "no" } : { ...state, line, row: 0, found: "yes" };
}

function rowsAt({ source, width }: View, line: number): string[] {
  const [text] = source.lines(line, 1);
  return text === undefined ? [] : wrapRows(text, width);
}

/** The rows from the top on, and the number of the last line among them. */
function page({ source, width, height }: View, { line, row }: State) {
  const rows: string[] = [];
  let last = line;
  for (const text of source.lines(line, height)) {
    if (rows.length >= height) break;
    rows.push(...wrapRows(text, width).slice(last === line ? row : 0));
    last++;
  }
  return { rows: rows.slice(0, height), last };
}

/** Nothing of a foreign text steers the screen. Colours, which say nothing here, are left out. */
function shownLine(text: string): string {
  return harmless(text.replace(/\x1b\[[\d;:]*m/g, "").replace(/\r$/, ""));
}

function wrapRows(text: string, width: number): string[] {
  return wrap(shownLine(text), Math.max(4, width - 2)).map((row, n) => `${n === 0 ? " " : "┊"} ${row}`);
}

function painted(row: string, query: string, theme: Theme): string {
  const mark = (text: string) => theme.bold(theme.underline(theme.warn(text)));
  const tokened = (text: string) => text.replace(tokens, (token) => theme.token(token));
  if (query === "") return tokened(row);
  const pieces: string[] = [];
  let at = 0;
  for (let hit = placeIn(row, query, 0); hit >= 0; hit = placeIn(row, query, at)) {
    pieces.push(tokened(row.slice(at, hit)), mark(row.slice(hit, hit + query.length)));
    at = hit + query.length;
  }
  return [...pieces, tokened(row.slice(at))].join("");
}

/** Small letters stand for both; a capital letter for itself. */
function placeIn(text: string, query: string, from: number): number {
  return query === query.toLowerCase() ? text.toLowerCase().indexOf(query, from) : text.indexOf(query, from);
}

const AT_ONCE = 256;

function findAfter(source: Source, query: string, from: number): number | undefined {
  for (let at = from; at < source.count(); at += AT_ONCE) {
    const hit = source.lines(at, AT_ONCE).findIndex((line) => placeIn(shownLine(line), query, 0) >= 0);
    if (hit >= 0) return at + hit;
  }
  return undefined;
}

function findBefore(source: Source, query: string, before: number): number | undefined {
  for (let end = before; end > 0; end -= AT_ONCE) {
    const from = Math.max(0, end - AT_ONCE);
    const lines = source.lines(from, end - from);
    const hit = lines.findLastIndex((line) => placeIn(shownLine(line), query, 0) >= 0);
    if (hit >= 0) return from + hit;
  }
  return undefined;
}
