import { harmless } from "../../base/visible.ts";
import type { Completion } from "../../view/slash/read.ts";
import type { Theme } from "./draw/theme.ts";
import type { AutocompleteItem, AutocompleteProvider, Component, TUI } from "./draw/tui.ts";
import { CURSOR_MARKER, Editor, matchesKey, truncateToWidth, visibleWidth } from "./draw/tui.ts";
import { isNothing } from "./input.ts";
import type { TerminalOptions } from "./screen/options.ts";
import { createVimEditor } from "./widgets/vim.ts";

/** The editor for messages and commands. */
export type Writing = Component & {
  focused: boolean;
  handleInput(data: string): void;
  /** The text, pastes in full. */
  text(): string;
  set(text: string): void;
  /** At the cursor. */
  insert(text: string): void;
  /** A list of completions is open, or Vim's insert mode ends with it: Esc is for the editor. */
  choosing(): boolean;
  /** Mode of Vim's keys, where the person wants them. */
  mode(): "insert" | "normal";
};

type Options = {
  tui: TUI;
  theme: Theme;
  placeholder: { wide: string; narrow: string };
  sources: Sources;
  history: TerminalOptions["history"];
  submit(text: string): void;
  vim?: boolean | undefined;
};

export function createWriting({
  tui,
  theme,
  placeholder,
  sources,
  history,
  submit,
  vim: wanted = false,
}: Options): Writing {
  const editor = new Editor(
    tui,
    {
      // The theme may change once the terminal reports its background.
      borderColor: (text) => theme.border(text),
      selectList: {
        selectedPrefix: (text) => theme.accent(text),
        selectedText: (text) => theme.bold(theme.accent(text)),
        description: (text) => theme.dim(text),
        scrollInfo: (text) => theme.dim(text),
        noMatch: (text) => theme.warn(text),
      },
    },
    { paddingX: 0, autocompleteMaxVisible: 7 },
  );
  editor.setAutocompleteProvider(createCompletion(sources));
  for (const text of history?.load() ?? []) editor.addToHistory(text);
  const vim = wanted ? createVimEditor(editor) : undefined;
  editor.onSubmit = (text) => {
    vim?.reset();
    if (!isNothing(text)) {
      editor.addToHistory(text);
      history?.add(text);
    }
    submit(text);
  };
  return {
    get focused() {
      return editor.focused;
    },
    set focused(on) {
      editor.focused = on;
    },
    handleInput(data) {
      if (vim?.take(data) === true) return;
      const before = editor.getText();
      editor.handleInput(clean(data));
      if (matchesKey(data, "up") && editor.getText() !== before) toEnd(editor);
    },
    mode: () => vim?.mode() ?? "insert",
    invalidate: () => editor.invalidate(),
    render(width) {
      const rows = editor.render(width);
      if (editor.getText() !== "" || rows.length < 3) return rows;
      const caret = editor.focused ? CURSOR_MARKER : "";
      const words = visibleWidth(placeholder.wide) < width ? placeholder.wide : placeholder.narrow;
      return [rows[0] ?? "", caret + theme.dim(truncateToWidth(words, width, "…")), ...rows.slice(2)];
    },
    text: () => editor.getExpandedText(),
    set: (text) => editor.setText(text.replace(unwritable, "")),
    insert: (text) => editor.insertTextAtCursor(text.replace(unwritable, "")),
    choosing: () => editor.isShowingAutocomplete() || (vim?.mode() === "insert" && editor.getText() !== ""),
  };
}

/** After ↑ has recalled a message: the library leaves the cursor at its beginning. Its own keys keep it in the history. */
function toEnd(editor: Editor): void {
  const [lineEnd, right] = ["\x05", "\x1b[C"];
  for (let left = editor.getLines().length - 1 - editor.getCursor().line; left > 0; left--) {
    editor.handleInput(lineEnd);
    editor.handleInput(right);
  }
  editor.handleInput(lineEnd);
}

// Control and direction characters would corrupt the drawn message.
const unwritable = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const steering = /[\x80-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function clean(pressed: string): string {
  // The line break at the end of copied lines ends the last one, and begins none.
  const data = pressed.replace(/\r?[\n\r](?=\x1b\[201~$)/, "");
  return data.length > 1 || data > "\x7f" ? data.replace(steering, "") : data;
}

type Sources = {
  /** Completes a command, from all text before the caret. */
  complete(typed: string): readonly Completion[];
  /** Files of the project that fit, best first. */
  files?(query: string, signal: AbortSignal): Promise<readonly string[]>;
};

/** The name of a file before the caret, as it was typed and without its marks. */
type Prefix = { text: string; query: string };

const MAX_SUGGESTIONS = 20;

export function fileAt(line: string, { forced }: { forced: boolean }): Prefix | undefined {
  const quoted = /(?:^|\s)(@"([^"]*))$/u.exec(line);
  if (quoted) return { text: quoted[1] ?? "", query: quoted[2] ?? "" };
  // Chinese is written without blanks: the sign may follow any letter that is not of a mail address.
  const file = /(?:^|[^\w.@])(@([^\s@"]*))$/u.exec(line);
  if (file) return { text: file[1] ?? "", query: file[2] ?? "" };
  const word = forced ? /(\S+)$/u.exec(line)?.[1] : undefined;
  return word === undefined ? undefined : { text: word, query: word };
}

/** `/name` and its words at the beginning, `@file` anywhere. */
function createCompletion({ complete, files }: Sources): AutocompleteProvider {
  return {
    triggerCharacters: ["@"],
    async getSuggestions(lines, cursorLine, cursorCol, { signal, force = false }) {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
      const commands = cursorLine === 0 ? complete(before) : [];
      if (commands.length > 0) {
        const items = commands.map(({ text, label, hint }) => ({ value: text, label, description: hint }));
        return { items, prefix: before.trimStart() };
      }
      const prefix = fileAt(before, { forced: force });
      if (!prefix) return null;
      const found = (await files?.(prefix.query, signal)) ?? [];
      // A name with hidden characters is not offered: it would enter the editor unescaped.
      const honest = found.filter((name) => harmless(name) === name);
      return {
        items: honest.slice(0, MAX_SUGGESTIONS).map((name) => ({ value: name, label: name })),
        prefix: prefix.text,
      };
    },
    applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
      const line = lines[cursorLine] ?? "";
      const before = line.slice(0, cursorCol - prefix.length);
      const put = insertion(item, prefix);
      const after = line.slice(cursorCol);
      const joined = after.startsWith(" ") ? after.slice(1) : after;
      return {
        lines: lines.map((line, n) => (n === cursorLine ? `${before}${put}${joined}` : line)),
        cursorLine,
        cursorCol: before.length + put.length,
      };
    },
  };
}

function insertion({ value }: AutocompleteItem, prefix: string): string {
  if (value.startsWith("/")) return value;
  const at = prefix.startsWith("@") ? "@" : "";
  return /\s/.test(value) ? `${at}"${value}" ` : `${at}${value} `;
}
