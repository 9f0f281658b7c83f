// The one file that imports pi-tui: below 1.0 its names move.
export {
  CURSOR_MARKER,
  decodeKittyPrintable,
  Editor,
  isKeyRelease,
  isKeyRepeat,
  Markdown,
  matchesKey,
  parseKey,
  ProcessTerminal,
  setCapabilityOverrides,
  truncateToWidth,
  TuiMainScreen,
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
