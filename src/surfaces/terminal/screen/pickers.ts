import { oneLine } from "../../../base/visible.ts";
import { reasonOf } from "../../../protocol/reasons/error.ts";
import { pickerTexts } from "../../../texts/surfaces/picker.ts";
import type { Lang } from "../../../texts/language.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import type { Theme } from "../draw/theme.ts";
import type { Component } from "../draw/tui.ts";
import type { Picked, Picking } from "./options.ts";
import { readKey } from "../widgets/key.ts";
import { filled, pickerRows, pressPicker, startPicker, type PickerEntry } from "../widgets/picker.ts";

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
  /** The keyboard is for this picker now, or for whoever had it before. */
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
      // Closed meanwhile: it was done all the same, and is told; nothing else opens any more.
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
      else failed(error); // the picker stays: something else may be chosen
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
