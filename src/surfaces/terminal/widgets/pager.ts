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
  let [width, height] = [80, 10];
  let focused = false;

  const rowsAt = (line: number): string[] => {
    const [text] = source.lines(line, 1);
    return text === undefined ? [] : wrapRows(text, width);
  };
  const down = (by: number) => {
    for (let n = 0; n < by; n++) {
      if (state.row + 1 < rowsAt(state.line).length) state = { ...state, row: state.row + 1 };
      else if (state.line + 1 < source.count()) state = { ...state, line: state.line + 1, row: 0 };
      else return;
    }
  };
  const up = (by: number) => {
    for (let n = 0; n < by; n++) {
      if (state.row > 0) state = { ...state, row: state.row - 1 };
      else if (state.line > 0) state = { ...state, line: state.line - 1, row: rowsAt(state.line - 1).length - 1 };
      else return;
    }
  };
  const end = () => {
    const line = Math.max(0, source.count() - 1);
    state = { ...state, line, row: Math.max(0, rowsAt(line).length - 1) };
    up(height - 1);
  };
  const find = (back: boolean) => {
    const line = back ? findBefore(source, state.query, state.line) : findAfter(source, state.query, state.line + 1);
    state = line === undefined ? { ...state, found: "no" } : { ...state, line, row: 0, found: "yes" };
  };
  const search = () => {
    const line = state.query === "" ? undefined : findAfter(source, state.query, state.line);
    state = { ...state, typing: false, found: state.query === "" ? "none" : line === undefined ? "no" : "yes" };
    if (line !== undefined) state = { ...state, line, row: 0 };
  };

  const typed = (key: Key) => {
    if (key.name === "enter") return search();
    if (key.name === "escape") return void (state = { ...state, typing: false, query: "" });
    if (key.name === "backspace") return void (state = { ...state, query: [...state.query].slice(0, -1).join("") });
    if (key.text !== undefined) state = { ...state, query: state.query + key.text.replaceAll("\n", " ") };
  };
  const pressed = (key: Key) => {
    switch (key.name) {
      case "q":
      case "escape":
        return parts.close();
      case "down":
      case "j":
      case "enter":
        return down(1);
      case "up":
      case "k":
        return up(1);
      case "space":
      case "f":
      case "pageDown":
        return down(Math.max(1, height - 1));
      case "b":
      case "pageUp":
        return up(Math.max(1, height - 1));
      case "g":
      case "home":
        return void (state = { ...state, line: 0, row: 0 });
      case "G":
      case "shift+g":
      case "end":
        return end();
      case "/":
        return void (state = { ...state, typing: true, query: "", found: "none" });
      case "n":
        return state.query === "" ? undefined : find(false);
      case "N":
      case "shift+n":
        return state.query === "" ? undefined : find(true);
      default:
        return undefined;
    }
  };

  return {
    get focused() {
      return focused;
    },
    set focused(on) {
      focused = on;
    },
    invalidate() {},
    render(columns) {
      [width, height] = [columns, Math.max(1, parts.rows() - 2)];
      state = { ...state, row: Math.min(state.row, Math.max(0, rowsAt(state.line).length - 1)) };
      const { rows, last } = page(source, state, { width, height });
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
      if (!key) return;
      if (state.typing) typed(key);
      else pressed(key);
      parts.redraw();
    },
  };
}

/** The rows from the top on, and the number of the last line among them. */
function page(source: Source, { line, row }: State, { width, height }: { width: number; height: number }) {
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
