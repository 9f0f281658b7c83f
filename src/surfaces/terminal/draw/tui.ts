// The one file that imports pi-tui: below 1.0 its names move.
import { ProcessTerminal, truncateToWidth, TuiMainScreen, visibleWidth, type Terminal } from "@earendil-works/pi-tui";

export {
  CURSOR_MARKER,
  decodeKittyPrintable,
  Editor,
  fuzzyFilter,
  isKeyRelease,
  isKeyRepeat,
  Markdown,
  matchesKey,
  parseKey,
  setCapabilityOverrides,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
export type {
  AutocompleteItem,
  AutocompleteProvider,
  Component,
  Focusable,
  MarkdownTheme,
  Terminal,
  TUI,
} from "@earendil-works/pi-tui";

/** A line that is too wide would end the process; here it is cut. The cursor is the terminal's own, for input methods. */
export class SafeTui extends TuiMainScreen {
  constructor(terminal: Terminal, logDirectory: string) {
    super(terminal, true, logDirectory);
  }

  override render(width: number): string[] {
    return super.render(width).map((line) => (visibleWidth(line) > width ? truncateToWidth(line, width, "…") : line));
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
