import { ProcessTerminal, truncateToWidth, TuiMainScreen, visibleWidth, type Terminal } from "../draw/tui.ts";
import { leftovers, titleStack } from "./notify.ts";

/** Content of the screen: rows that are drawn for good, and below them the ones that still change. */
type Frame = { above: string[]; live: string[] };

/** The screen was resized and erased within the window: so many of its rows are to be drawn again, `Infinity` for all. */
type Fresh = number | undefined;

export type Compose = (width: number, rows: number, fresh: Fresh) => Frame;

const nothing = {
  previousLines: [],
  previousWidth: 0,
  previousHeight: 0,
  cursorRow: 0,
  hardwareCursorRow: 0,
  maxLinesRendered: 0,
  previousViewportTop: 0,
};
const TALLEST = 500;

/** The library throws at a line that is too wide; here it is cut. Shows the hardware cursor, which input methods need. */
export class SafeTui extends TuiMainScreen {
  constructor(terminal: Terminal, logDirectory: string) {
    super(terminal, true, logDirectory);
  }

  override render(width: number): string[] {
    return super.render(width).map((line) => (visibleWidth(line) > width ? truncateToWidth(line, width, "…") : line));
  }
}

/** Writes rows `above` once; the terminal scrolls and keeps them. The library forgets them, so what it compares stays small. */
export class Screen extends SafeTui {
  readonly #compose: Compose;
  #size = { columns: 0, rows: 0 };
  #fresh: Fresh;
  #frame: Frame = { above: [], live: [] };
  /** Width of the last rows that were drawn for good. */
  #drawn: number[] = [];

  constructor(terminal: Terminal, logDirectory: string, compose: Compose) {
    super(terminal, logDirectory);
    this.#compose = compose;
    // A component of its own, so that rows pass the gate of the tree: none is too wide.
    this.addChild({
      invalidate() {},
      render: (width) => {
        this.#frame = this.#compose(width, this.terminal.rows, this.#fresh);
        return [...this.#frame.above, ...this.#frame.live];
      },
    });
  }

  /** Leaves the terminal to others, with the cursor below the last row. */
  leave(): void {
    this.renderNow();
    this.terminal.write("\r\n");
    this.stop({ preserveScreen: true });
  }

  /** Goes on wherever the cursor is now: whatever others have written stays. */
  comeBack(): void {
    this.#size = { columns: 0, rows: 0 };
    this.#drawn = [];
    this.restoreRenderState(nothing);
    this.start();
  }

  protected override doRender(): void {
    if (this.stopped) return;
    const { columns, rows } = this.terminal;
    const same = this.#size.columns === columns && this.#size.rows === rows;
    this.#fresh = this.#size.rows === 0 || same ? undefined : this.#erase();
    this.#size = { columns, rows };
    super.doRender();
    const { above } = this.#frame;
    if (above.length === 0) return;
    this.#drawn = [...this.#drawn, ...above.slice(-TALLEST).map(visibleWidth)].slice(-TALLEST);
    const state = this.captureRenderState();
    this.restoreRenderState({
      ...state,
      previousLines: state.previousLines.slice(above.length),
      cursorRow: state.cursorRow - above.length,
      hardwareCursorRow: state.hardwareCursorRow - above.length,
      maxLinesRendered: Math.max(0, state.maxLinesRendered - above.length),
      // May be negative: the tree then begins below the top of the screen.
      previousViewportTop: state.previousViewportTop - above.length,
    });
  }

  /** Erases our rows in the window, wrapped ones included, row by row: some terminals keep a cleared screen, half-drawn panels and all. */
  #erase(): number {
    const { columns, rows } = this.terminal;
    const { previousLines, hardwareCursorRow } = this.captureRenderState();
    const tall = (width: number) => Math.max(1, Math.ceil(width / columns));
    const sum = (widths: readonly number[]) => widths.reduce((total, width) => total + tall(width), 0);
    const live = previousLines.map(visibleWidth);
    const at = Math.max(0, hardwareCursorRow);
    const ours = sum(this.#drawn) + sum(live.slice(0, at));
    const below = sum(live.slice(at + 1));
    const lowest = Math.max(0, rows - 1 - below);
    const up = Math.min(ours, lowest);
    const emptied = "\x1b[2K\x1b[B".repeat(rows);
    this.terminal.write(`\x1b[?2026h\r${up > 0 ? `\x1b[${up}A` : ""}\x1b7${emptied}\x1b8`);
    this.restoreRenderState(nothing);
    // The rest is in the scrollback, and may come back into the window with the next change.
    let left = ours - up;
    const kept = this.#drawn.findIndex((width) => (left -= tall(width)) < 0);
    this.#drawn = this.#drawn.slice(0, kept < 0 ? this.#drawn.length : kept);
    if (this.#drawn.length === 0) return Infinity;
    // A window that becomes lower loses what is below the cursor first, so there was room for more of the rest.
    return rows + Math.min(below, Math.max(0, this.#size.rows - rows));
  }
}

/** A change of width must not wipe what the person had on the screen before Sage. */
export class KeepScrollback extends ProcessTerminal {
  override write(data: string): void {
    super.write(keepScrollback(data));
  }
}

export function keepScrollback(data: string): string {
  return data.replaceAll("\x1b[3J", "");
}

/** Owner of the terminal: Sage, another program for a while, or the shell again. */
export type Lifetime = {
  mine(): boolean;
  begin(): void;
  /** Lends the terminal to another program while `work` runs. */
  lend(work: () => Promise<void>): Promise<void>;
  /** Restores the terminal, however it ends. */
  end(): void;
};

export function createLifetime({
  device,
  screen,
  redraw,
}: {
  device: Terminal;
  screen: Screen;
  redraw(): void;
}): Lifetime {
  let state: "new" | "mine" | "lent" | "ended" = "new";
  const end = () => {
    if (state === "ended") return;
    const before = state;
    state = "ended";
    process.off("exit", end);
    process.off("uncaughtExceptionMonitor", end);
    try {
      if (before === "mine") screen.leave();
    } catch {
      // A terminal that has gone away needs nothing more.
    }
    device.write(titleStack.pop);
  };
  return {
    mine: () => state === "mine",
    end,
    begin() {
      state = "mine";
      process.on("exit", end);
      process.on("uncaughtExceptionMonitor", end);
      device.write(`${leftovers}${titleStack.push}\r\x1b[2K`); // keys typed before Sage was there are kept, only their echo goes
      screen.start();
    },
    async lend(work) {
      if (state !== "mine") return;
      state = "lent";
      screen.leave();
      try {
        await work();
      } finally {
        if ((state as string) === "lent") {
          state = "mine";
          screen.comeBack();
        }
        redraw();
      }
    },
  };
}
