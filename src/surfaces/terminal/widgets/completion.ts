import { harmless } from "../../../base/visible.ts";
import { fuzzyFilter, type AutocompleteItem, type AutocompleteProvider } from "../draw/tui.ts";

type Completable = { name: string; hint: string };

export type Sources = {
  commands(): readonly Completable[];
  /** Files of the project that fit, best first. */
  files?(query: string, signal: AbortSignal): Promise<readonly string[]>;
};

/** Text before the caret that may be completed. */
type Prefix = { kind: "command" | "file"; text: string; query: string };

const MAX_SUGGESTIONS = 20;

export function prefixAt(line: string, { first, forced }: { first: boolean; forced: boolean }): Prefix | undefined {
  const command = first ? /^\s*\/([\p{L}\p{N}_:-]*)$/u.exec(line) : null;
  if (command) return { kind: "command", text: `/${command[1] ?? ""}`, query: command[1] ?? "" };
  const quoted = /(?:^|\s)(@"([^"]*))$/u.exec(line);
  if (quoted) return { kind: "file", text: quoted[1] ?? "", query: quoted[2] ?? "" };
  // Chinese is written without blanks: the sign may follow any letter that is not of a mail address.
  const file = /(?:^|[^\w.@])(@([^\s@"]*))$/u.exec(line);
  if (file) return { kind: "file", text: file[1] ?? "", query: file[2] ?? "" };
  const word = forced ? /(\S+)$/u.exec(line)?.[1] : undefined;
  return word === undefined ? undefined : { kind: "file", text: word, query: word };
}

/** `/name` at the beginning, `@file` anywhere. */
export function createCompletion({ commands, files }: Sources): AutocompleteProvider {
  return {
    triggerCharacters: ["@"],
    async getSuggestions(lines, cursorLine, cursorCol, { signal, force = false }) {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
      const prefix = prefixAt(before, { first: cursorLine === 0, forced: force });
      if (!prefix) return null;
      if (prefix.kind === "command") {
        const fitting = fuzzyFilter([...commands()], prefix.query, ({ name }) => name);
        const items = fitting
          .slice(0, MAX_SUGGESTIONS)
          .map(({ name, hint }) => ({ value: name, label: `/${name}`, description: hint }));
        return { items, prefix: prefix.text };
      }
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
  if (prefix.startsWith("/")) return `/${value} `;
  const at = prefix.startsWith("@") ? "@" : "";
  return /\s/.test(value) ? `${at}"${value}" ` : `${at}${value} `;
}
