import { oneLine } from "../../../base/visible.ts";
import { reasonOf } from "../../../protocol/reasons/reason.ts";
import type { Lang } from "../../../texts/language.ts";
import { texts, type Texts } from "../../../texts/shared/texts.ts";
import { pickerTexts, type PickerTexts } from "../../../texts/surfaces/picker.ts";
import { clipped } from "../draw/rows.ts";
import { themeFor, type Theme } from "../draw/theme.ts";
import { visibleWidth, type Component, type Terminal as Device } from "../draw/tui.ts";
import { createField, edit, fieldRows, type Field } from "../widgets/field.ts";
import { readKey, type Key } from "../widgets/key.ts";
import type { Picked, Picking, TerminalOptions } from "./options.ts";
import { KeepScrollback, Screen } from "./screen.ts";

/** A line to choose. `detail` stands dim at the right, and is searched too. */
export type PickerEntry = { value: string; label: string; detail?: string };

type PickerState = {
  readonly query: Field;
  readonly entries: readonly PickerEntry[];
  /** Lines that fit the query, in their order. */
  readonly fitting: readonly PickerEntry[];
  readonly at: number;
  /** More is to come. */
  readonly loading: boolean;
  /** Mistake to show. */
  readonly note: string;
  /** A text is asked for instead of an entry. */
  readonly typing: boolean;
};

type PickerStep = { state: PickerState; choose?: PickerEntry; typed?: string; close?: true };

export function startPicker({ query = "", typing = false }: { query?: string; typing?: boolean } = {}): PickerState {
  return { query: createField(query), entries: [], fitting: [], at: 0, loading: !typing, note: "", typing };
}

/** More of the list is there. The person stays at the entry where they are. */
export function filled(
  state: PickerState,
  { entries, loading = false, note = "" }: { entries: readonly PickerEntry[]; loading?: boolean; note?: string },
): PickerState {
  const here = state.at > 0 ? state.fitting[state.at]?.value : undefined;
  const fitting = fit(entries, state.query.text);
  const found = here === undefined ? 0 : fitting.findIndex(({ value }) => value === here);
  return { ...state, entries, fitting, loading, note, at: Math.max(0, found) };
}

const PAGE = 10;

export function pressPicker(state: PickerState, key: Key): PickerStep {
  const { at, fitting } = state;
  const move = (to: number): PickerStep => ({
    state: { ...state, at: Math.min(Math.max(0, to), Math.max(0, fitting.length - 1)) },
  });
  switch (key.name) {
    case "escape":
    case "ctrl+c":
    case "ctrl+d":
      return { state, close: true };
    case "enter": {
      if (key.repeat) return { state };
      if (state.typing) return state.query.text.trim() === "" ? { state } : { state, typed: state.query.text.trim() };
      const chosen = fitting[at];
      return chosen ? { state, choose: chosen } : { state };
    }
    case "up":
    case "ctrl+p":
    case "shift+tab":
      return at === 0 ? move(fitting.length - 1) : move(at - 1);
    case "down":
    case "ctrl+n":
    case "ctrl+r":
    case "tab":
      return at >= fitting.length - 1 ? move(0) : move(at + 1);
    case "pageUp":
      return move(at - PAGE);
    case "pageDown":
      return move(at + PAGE);
    case "newline":
      return { state };
    default: {
      const given = key.text === undefined ? key : { ...key, text: key.text.replaceAll("\n", " ") };
      const query = edit(state.query, given);
      if (!query) return { state };
      if (query.text === state.query.text) return { state: { ...state, query } };
      return { state: { ...state, query, note: "", fitting: fit(state.entries, query.text), at: 0 } };
    }
  }
}

/** Entries with every word of the query in them, wide letters and small ones alike. */
function fit(entries: readonly PickerEntry[], query: string): readonly PickerEntry[] {
  const words = folded(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries.filter((entry) => {
    const text = folded(`${entry.label} ${entry.detail ?? ""}`);
    return words.every((word) => text.includes(word));
  });
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

type PickerLook = {
  theme: Theme;
  w: PickerTexts;
  title: string;
  placeholder?: string | undefined;
  width: number;
  /** Rows to draw on. */
  rows: number;
  focused: boolean;
};

/** The title, the field, as much of the list as there is room for, and the keys. */
export function pickerRows(state: PickerState, look: PickerLook): string[] {
  const { theme, w, width, focused, placeholder = w.search } = look;
  const count = state.typing ? "" : ` · ${w.shown(state.fitting.length, state.entries.length)}`;
  const title = `── ${oneLine(look.title)}${count} `;
  const line = "─".repeat(Math.max(0, Math.min(width, 72) - visibleWidth(title)));
  const field = fieldRows(state.query, { width: Math.max(4, width - 2), rows: 3, focused, theme, placeholder });
  const keys = clipped((state.typing ? w.typedKeys : w.keys).join(" · "), width);
  const room = Math.max(1, look.rows - field.lines.length - 3);
  return [
    theme.bold(theme.accent(clipped(`${title}${line}`, width))),
    ...field.lines.map((row, n) => `${n === 0 ? theme.accent("⌕ ") : "  "}${row}`),
    ...(state.typing ? [] : listRows(state, look, room)),
    ...(state.note === "" ? [] : [theme.warn(clipped(state.note, width))]),
    theme.dim(keys),
  ];
}

function listRows({ fitting, entries, at, loading }: PickerState, look: PickerLook, room: number): string[] {
  const { theme, w, width } = look;
  if (fitting.length === 0)
    return [theme.dim(clipped(`  ${loading ? w.loading : entries.length === 0 ? w.empty : w.none}`, width))];
  const shown = Math.min(fitting.length, room);
  const from = Math.min(Math.max(0, at - Math.floor(shown / 2)), fitting.length - shown);
  const rows = fitting.slice(from, from + shown).map((entry, n) => entryRow(entry, from + n === at, look));
  return loading ? [...rows, theme.dim(clipped(`  ${w.loading}`, width))] : rows;
}

function entryRow({ label, detail = "" }: PickerEntry, here: boolean, { theme, width }: PickerLook): string {
  const side = detail === "" ? "" : clipped(detail, Math.max(8, Math.floor((width - 4) / 2)));
  const name = clipped(label, width - 3 - (side === "" ? 0 : visibleWidth(side) + 1));
  const blank = " ".repeat(Math.max(1, width - 3 - visibleWidth(name) - visibleWidth(side)));
  const pointer = here ? theme.accent("❯ ") : "  ";
  return `${pointer}${here ? theme.bold(name) : name}${side === "" ? "" : `${blank}${theme.dim(side)}`}`;
}

/** A list that the person chooses from, on the screen. */
type Picker = Component & { focused: boolean; handleInput(data: string): void };

export type Pickers = {
  /** The one that is open. */
  open(): Picker | undefined;
  show(picking: Picking): void;
  close(): void;
};

type Parts = {
  lang: Lang;
  t: Texts;
  theme: Theme;
  /** How many rows a picker may take. */
  rows(): number;
  redraw(): void;
  /** Focuses this picker, or returns the focus to the previous component. */
  focus(picker: Picker | undefined): void;
  /** Result of the choice. */
  done(picked: Exclude<Picked, { pick: Picking }>): void;
  /** The person chose nothing. */
  closed?(): void;
};

export function createPickers(parts: Parts): Pickers {
  let open: { picker: Picker; stop: AbortController } | undefined;
  const close = () => {
    open?.stop.abort();
    open = undefined;
    parts.focus(undefined);
    parts.redraw();
  };
  const leave = () => {
    close();
    parts.closed?.();
  };
  const show = (picking: Picking): void => {
    open?.stop.abort();
    const stop = new AbortController();
    const picked = (result: Picked) => {
      // Closed in the meantime: the action still ran and is reported, but nothing else opens.
      if (stop.signal.aborted) return result && "text" in result ? parts.done(result) : undefined;
      if (result && "pick" in result) return show(result.pick);
      close();
      parts.done(result);
    };
    open = { picker: createPicker(picking, { ...parts, close: leave, picked, signal: stop.signal }), stop };
    parts.focus(open.picker);
    parts.redraw();
  };
  return { open: () => open?.picker, show, close };
}

type Wiring = Pick<Parts, "lang" | "t" | "theme" | "rows" | "redraw"> & {
  close(): void;
  picked(result: Picked): void;
  signal: AbortSignal;
};

function createPicker(picking: Picking, { lang, t, theme, rows, redraw, close, picked, signal }: Wiring): Picker {
  const w = pickerTexts(lang);
  let state = startPicker({ ...(picking.query !== undefined && { query: picking.query }), typing: !picking.load });
  let focused = false;
  /** Something was chosen, and is being done. */
  let busy = false;
  const problem = (error: unknown) => oneLine(t.because(reasonOf(error)));
  const failed = (error: unknown) => {
    state = { ...state, loading: false, note: problem(error) };
  };
  const act = async (work: Promise<Picked>) => {
    busy = true;
    try {
      picked(await work);
    } catch (error) {
      if (signal.aborted) picked({ text: problem(error) });
      else failed(error); // the picker stays open for another choice
    } finally {
      busy = false;
      if (!signal.aborted) redraw();
    }
  };
  const load = async () => {
    try {
      await picking.load?.((list) => {
        if (signal.aborted) return;
        state = filled(state, list);
        redraw();
      }, signal);
    } catch (error) {
      failed(error);
    }
    if (!signal.aborted) redraw();
  };
  void load();
  const choose = (entry: PickerEntry) => picking.choose?.(entry) ?? Promise.resolve();
  return {
    get focused() {
      return focused;
    },
    set focused(on) {
      focused = on;
    },
    invalidate() {},
    render: (width) =>
      pickerRows(state, {
        theme,
        w,
        title: picking.title,
        placeholder: picking.placeholder,
        width,
        rows: rows(),
        focused,
      }),
    handleInput(data) {
      const key = readKey(data);
      if (!key) return;
      const step = pressPicker(state, key);
      state = step.state;
      if (step.close) return close();
      if (!busy && step.choose) void act(choose(step.choose));
      if (!busy && step.typed !== undefined) void act(picking.typed?.(step.typed) ?? Promise.resolve());
      redraw();
    },
  };
}

type Options = Pick<TerminalOptions, "env" | "logDirectory"> & { lang: Lang; device?: Device };

/** A list on a terminal where no session is open yet. Nothing of it stays on the screen. */
export function pickAlone(
  picking: Picking,
  { lang, env, logDirectory, device = new KeepScrollback() }: Options,
): Promise<Exclude<Picked, { pick: Picking }>> {
  return new Promise((resolve) => {
    let over = false;
    const end = (result: Exclude<Picked, { pick: Picking }>) => {
      if (over) return;
      over = true;
      screen.renderNow();
      screen.stop({ preserveScreen: true });
      resolve(result);
    };
    const screen = new Screen(device, logDirectory, (width) => ({
      above: [],
      live: over ? [] : (pickers.open()?.render(width) ?? []),
    }));
    const pickers = createPickers({
      lang,
      t: texts(lang),
      theme: themeFor(env),
      rows: () => Math.max(6, Math.min(20, device.rows - 2)),
      redraw: () => screen.requestRender(),
      focus: (picker) => (picker ? screen.setFocus(picker) : undefined),
      done: end,
      closed: () => end(undefined),
    });
    screen.start();
    pickers.show(picking);
  });
}
