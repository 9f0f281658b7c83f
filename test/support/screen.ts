import xterm from "@xterm/headless";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Component, Terminal } from "../../src/surfaces/terminal/draw/tui.ts";
import { keepScrollback, SafeTui } from "../../src/surfaces/terminal/screen/screen.ts";

/** A terminal without a window: what is written is drawn by a real emulator, and keys go in as bytes would. */
export function createScreen({ cols = 80, rows = 24, scrollback = 1_000 } = {}) {
  const emulator = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true });
  let onInput: (data: string) => void = () => {};
  let onResize: () => void = () => {};
  let raw = "";
  const write = (data: string) => {
    raw += data;
    emulator.write(keepScrollback(data));
  };
  const terminal: Terminal = {
    start(input, resize) {
      [onInput, onResize] = [input, resize];
    },
    stop() {},
    async drainInput() {},
    write,
    get columns() {
      return emulator.cols;
    },
    get rows() {
      return emulator.rows;
    },
    kittyProtocolActive: false,
    moveBy: (lines) => (lines === 0 ? undefined : write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`)),
    hideCursor: () => write("\x1b[?25l"),
    showCursor: () => write("\x1b[?25h"),
    clearLine: () => write("\x1b[K"),
    clearFromCursor: () => write("\x1b[J"),
    clearScreen: () => write("\x1b[2J\x1b[H"),
    setTitle() {},
    setProgress() {},
  };
  const drawn = () => new Promise<void>((done) => emulator.write("", done));
  const row = (n: number) => emulator.buffer.active.getLine(n)?.translateToString(true) ?? "";
  return {
    terminal,
    raw: () => raw,
    /** One key, or one paste. */
    press(data: string) {
      onInput(data);
    },
    resize(columns: number, lines: number) {
      emulator.resize(columns, lines);
      onResize();
    },
    /** The rows that are in the window, once all that was written is drawn. */
    async rows(): Promise<string[]> {
      await drawn();
      const { baseY } = emulator.buffer.active;
      return Array.from({ length: emulator.rows }, (_, n) => row(baseY + n));
    },
    /** The scrollback and the window. */
    async all(): Promise<string> {
      await drawn();
      return Array.from({ length: emulator.buffer.active.length }, (_, n) => row(n))
        .join("\n")
        .trimEnd();
    },
    async text(): Promise<string> {
      return (await this.rows()).join("\n").trimEnd();
    },
    /** Place of the terminal's own cursor, for input methods. */
    async cursor(): Promise<{ row: number; col: number }> {
      await drawn();
      return { row: emulator.buffer.active.cursorY, col: emulator.buffer.active.cursorX };
    },
    [Symbol.dispose]() {
      emulator.dispose();
    },
  };
}

export type Screen = ReturnType<typeof createScreen>;

/** One component alone on a screen, with the keyboard. */
export function stage(component: Component, size: { cols?: number; rows?: number } = {}) {
  const screen = createScreen(size);
  const logs = mkdtempSync(join(tmpdir(), "sage-test-"));
  const tui = new SafeTui(screen.terminal, logs);
  tui.addChild(component);
  tui.setFocus(component);
  tui.start();
  return {
    ...screen,
    tui,
    /** Draws now, and gives what is seen. */
    async seen(): Promise<string> {
      tui.renderNow();
      return screen.text();
    },
    async caret() {
      tui.renderNow();
      return screen.cursor();
    },
    [Symbol.dispose]() {
      tui.stop();
      screen[Symbol.dispose]();
      rmSync(logs, { recursive: true, force: true });
    },
  };
}
