import { SafeTui, type Terminal } from "./tui.ts";

/** What is on the screen: rows that are drawn for good, and below them the ones that still change. */
export type Frame = { above: string[]; live: string[] };

/** `fresh`: nothing that was drawn before can be relied on, for the screen has another size or was used by others. */
export type Compose = (width: number, rows: number, fresh: boolean) => Frame;

/**
 * Rows `above` are written once, and from then on belong to the terminal, which scrolls and keeps them as it does with the output
 * of any program. The library is made to forget them after each frame, so that what it compares and redraws stays small.
 */
export class Screen extends SafeTui {
  readonly #compose: Compose;
  #size = "";
  #above = 0;

  constructor(terminal: Terminal, logDirectory: string, compose: Compose) {
    super(terminal, logDirectory);
    this.#compose = compose;
    // A component of its own, so that rows pass the gate of the tree: none is too wide.
    this.addChild({ invalidate() {}, render: (width) => this.#frame(width) });
  }

  /** Something else was on the screen meanwhile: an editor, a shell. */
  redraw(): void {
    this.#size = "?";
    this.requestRender(true);
  }

  /** Leaves with the cursor below the last row. */
  leave(): void {
    this.renderNow();
    this.terminal.write("\r\n");
    this.stop({ preserveScreen: true });
  }

  #frame(width: number): string[] {
    const { rows } = this.terminal;
    const size = `${width}x${rows}`;
    const fresh = this.#size !== "" && this.#size !== size;
    this.#size = size;
    const { above, live } = this.#compose(width, rows, fresh);
    this.#above = above.length;
    return [...above, ...live];
  }

  protected override doRender(): void {
    this.#above = 0;
    super.doRender();
    if (this.#above === 0) return;
    const state = this.captureRenderState();
    this.restoreRenderState({
      ...state,
      previousLines: state.previousLines.slice(this.#above),
      cursorRow: state.cursorRow - this.#above,
      hardwareCursorRow: state.hardwareCursorRow - this.#above,
      maxLinesRendered: Math.max(0, state.maxLinesRendered - this.#above),
      // May be negative: the tree then begins below the top of the screen.
      previousViewportTop: state.previousViewportTop - this.#above,
    });
  }
}
