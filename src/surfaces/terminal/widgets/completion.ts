import { harmless } from "../../../base/visible.ts";
import type { Completion } from "../../../view/slash/read.ts";
import type { AutocompleteItem, AutocompleteProvider } from "../draw/tui.ts";

export type Sources = {
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
export function createCompletion({ complete, files }: Sources): AutocompleteProvider {
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
      // A name that hides something is not offered: it would stand in the editor as it is.
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
        lines: lines.map((one, n) => (n === cursorLine ? `${before}${put}${joined}` : one)),
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
