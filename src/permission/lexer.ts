import { decodeAnsi } from "./ansi.ts";
import type { Assignment, Closer, Item, Script } from "./script.ts";

/** Not understood: a reason to ask, never a failure. */
export class Unclear extends Error {}

export type Word = {
  start: number;
  end: number;
  /** What the program is given; undefined when only running it would tell. */
  text: string | undefined;
  /** How a word that is not literal surely begins. */
  lead: string;
  /** Not literal, and may become no word at all or several. */
  splits: boolean;
  /** Not literal because of file name patterns alone: the pattern, what is literal in it escaped. */
  glob: string | undefined;
  /** Commands that run to make this word. */
  scripts: Script[];
};

/** A word of which nothing is known. */
export const unknown: Word = {
  start: 0,
  end: 0,
  text: undefined,
  lead: "",
  splits: false,
  glob: undefined,
  scripts: [],
};

export type Heredoc = { scripts: Script[]; literal: boolean };

export type Lexer = ReturnType<typeof lexer>;

/** The shell's own reading of characters, for the closed part of its language that `readScript` understands. */
export function lexer(text: string, home: string, script: (lex: Lexer, closer: Closer) => Script) {
  let i = 0;
  let ticks = 0;
  const marks: string[] = [];
  const pending: { delimiter: string; tabs: boolean; quoted: boolean; heredoc: Heredoc }[] = [];

  const mark = (start: number) => void marks.push(`${start}-${i}`);
  const take = (length: number): string => {
    const start = i;
    i += length;
    mark(start);
    return text.slice(start, i);
  };
  const isDelimiter = (at: number) => at >= text.length || " \t\n;&|<>()".includes(text[at]!) || isTick(at);
  const isTick = (at: number) => ticks > 0 && text[at] === "`";

  const lex = {
    marks,
    depth: 0,
    source: ({ start, end }: { start: number; end: number }) => text.slice(start, end),

    /** Blanks and a comment. */
    blanks(): void {
      while (text[i] === " " || text[i] === "\t") i++;
      if (text[i] !== "#") return;
      // In backticks a comment ends with them, which other readers see otherwise.
      if (ticks > 0) throw new Unclear("a comment inside backticks");
      const end = text.indexOf("\n", i);
      i = end < 0 ? text.length : end;
    },

    newline(): boolean {
      if (text[i] !== "\n") return false;
      i++;
      for (const next of pending.splice(0)) body(next);
      return true;
    },

    /** Whether the script ends here, with its closer taken. */
    close(closer: Closer): boolean {
      if (closer === "") {
        if (i < text.length) return false;
      } else if (closer === "}") {
        if (!lex.token("}")) return false;
      } else if (text[i] === closer) i++;
      else {
        if (i >= text.length) throw new Unclear(`a ${closer} is missing`);
        return false;
      }
      if (pending.length > 0) throw new Unclear("a here-document does not begin before its command ends");
      return true;
    },

    atEnd: (closer: Closer): boolean =>
      i >= text.length || text[i] === "\n" || (closer !== "" && closer !== "}" && text[i] === closer),

    operator(): Item["op"] | undefined {
      const two = text.slice(i, i + 2);
      if (two === "&&" || two === "||" || two === "|&") return take(2) as Item["op"];
      if (two === "&>") return undefined;
      if (two === ";;" || two === ";&") throw new Unclear(`${two} is not understood`);
      const one = text[i];
      return one === ";" || one === "&" || one === "|" ? (take(1) as Item["op"]) : undefined;
    },

    /** `!`, `{` and `}` count only where they stand alone. */
    token(name: "!" | "{" | "}"): boolean {
      if (text[i] !== name || !isDelimiter(i + 1) || text[i + 1] === "(" || text[i + 1] === "<" || text[i + 1] === ">")
        return false;
      take(1);
      return true;
    },

    open(): "(" | "{" | undefined {
      if (text[i] === "(") {
        if (text[i + 1] === "(") throw new Unclear("arithmetic is not understood");
        take(1);
        return "(";
      }
      return lex.token("{") ? "{" : undefined;
    },

    /** With the number before it, if it has one. */
    redirection(): string | undefined {
      const found = /^(\d*)(<<<|<<-|<<|<>|<&|>&|>>|>\||<|>)|^&>>?/.exec(text.slice(i, i + 12));
      if (found === null) return undefined;
      const op = found[2] ?? found[0];
      i += found[0].length;
      if (text[i] === "(") throw new Unclear("process substitution is not understood");
      // `>&-` closes, and names nothing.
      if (!op.endsWith("&") || text[i] !== "-" || !isDelimiter(i + 1)) return op;
      i++;
      return `${op}-`;
    },

    heredoc(tabs: boolean): { delimiter: Word; heredoc: Heredoc } {
      const delimiter = lex.word();
      if (delimiter?.text === undefined || delimiter.text.includes("\n"))
        throw new Unclear("where a here-document ends is not clear");
      if (pending.length > 0) throw new Unclear("several here-documents on one line");
      if (ticks > 0) throw new Unclear("a here-document inside backticks");
      const quoted = /['"\\]/.test(lex.source(delimiter));
      const heredoc: Heredoc = { scripts: [], literal: true };
      pending.push({ delimiter: delimiter.text, tabs, quoted, heredoc });
      return { delimiter, heredoc };
    },

    /** `NAME=value`, where a command may begin. */
    assignment(word: Word): Assignment | undefined {
      const raw = lex.source(word);
      const name = /^[A-Za-z_][A-Za-z0-9_]*(?==)/.exec(raw)?.[0];
      if (name === undefined) {
        if (/^[A-Za-z_][A-Za-z0-9_]*(\+=|\[)/.test(raw)) throw new Unclear("this kind of assignment is not understood");
        return undefined;
      }
      const cut = (all: string) => all.slice(name.length + 1);
      return { name, value: { ...word, text: word.text === undefined ? undefined : cut(word.text) } };
    },

    /** No word, where one is not needed. */
    nothing: (): Word => ({ ...unknown, start: i, end: i, text: "-", lead: "-" }),

    word(): Word | undefined {
      if (isDelimiter(i)) {
        if (text[i] === "(") throw new Unclear("parentheses stand where no command begins");
        return undefined;
      }
      const word = newWord(i);
      while (!isDelimiter(i)) unquoted(word);
      if (text[i] === "(") throw new Unclear("parentheses stand where no command begins");
      // `{name}>` sets a variable.
      if (/^\{\w+\}[<>]$/.test(text.slice(word.start, i + 1)))
        throw new Unclear("this kind of redirection is not understood");
      return endWord(word);
    },
  };

  type Building = Omit<Word, "glob" | "text"> & { chars: string; pattern: string; other: boolean; globs: boolean };

  function newWord(start: number): Building {
    return {
      start,
      end: start,
      chars: "",
      lead: "",
      pattern: "",
      splits: false,
      other: false,
      globs: false,
      scripts: [],
    };
  }

  function endWord(word: Building): Word {
    const { start, scripts, splits } = word;
    mark(start);
    const literal = !word.other && !word.globs;
    return {
      start,
      end: i,
      text: literal ? word.chars : undefined,
      lead: literal ? word.chars : word.lead,
      splits: splits || word.globs,
      glob: word.globs && !word.other ? word.pattern : undefined,
      scripts,
    };
  }

  function literal(word: Building, chars: string): void {
    word.chars += chars;
    word.pattern += chars.replace(/[\\*?[\]]/g, "\\$&");
    if (!word.other && !word.globs) word.lead = word.chars;
  }

  function dynamic(word: Building, { splits }: { splits: boolean }): void {
    word.other = true;
    word.splits ||= splits;
  }

  function unquoted(word: Building): void {
    const char = text[i]!;
    const next = text[i + 1];
    switch (char) {
      case "'": {
        const end = text.indexOf("'", i + 1);
        if (end < 0) throw new Unclear("a quote is not closed");
        const inner = text.slice(i + 1, end);
        // The shell looks for the second backtick first, and for quotes only between the two.
        if (ticks > 0 && inner.includes("`")) throw new Unclear("backticks inside backticks");
        literal(word, inner);
        i = end + 1;
        return;
      }
      case '"':
        i++;
        while (text[i] !== '"') quoted(word, '"');
        i++;
        return;
      case "\\":
        if (ticks > 0) throw new Unclear("a backslash inside backticks");
        if (next === undefined || next === "\n") throw new Unclear("a backslash stands at the end of a line");
        literal(word, next);
        i += 2;
        return;
      case "$":
        dollar(word, false);
        return;
      case "`":
        backticks(word, false);
        return;
      case "*":
      case "?":
      case "[":
        word.globs = true;
        word.pattern += char;
        i++;
        return;
      case "{":
        // Glued to anything, `{},x}` is a list that the shell spells out.
        if (next === "}" && i === word.start && isDelimiter(i + 2)) {
          literal(word, "{}");
          i += 2;
          return;
        }
        dynamic(word, { splits: true });
        i++;
        return;
      case "~":
        tilde(word);
        return;
      default:
        if (/\s/.test(char)) throw new Unclear("a blank that the shell does not know as one");
        literal(word, char);
        i++;
    }
  }

  function quoted(word: Building, closer: '"' | ""): void {
    const char = text[i];
    const next = text[i + 1];
    if (char === undefined) throw new Unclear("a quote is not closed");
    if (char === "\\") {
      if (ticks > 0) throw new Unclear("a backslash inside backticks");
      if (next === "\n") throw new Unclear("a backslash stands at the end of a line");
      const escapes = next !== undefined && (closer + "$`\\").includes(next);
      literal(word, escapes ? next : "\\");
      i += escapes ? 2 : 1;
    } else if (char === "$") dollar(word, true);
    else if (char === "`") {
      if (ticks > 0) throw new Unclear("backticks inside backticks");
      backticks(word, true);
    } else {
      literal(word, char);
      i++;
    }
  }

  function dollar(word: Building, inQuotes: boolean): void {
    const rest = text.slice(i, i + 200);
    if (rest.startsWith("$((") || rest.startsWith("$[")) throw new Unclear("arithmetic is not understood");
    if (rest.startsWith("$(")) {
      const start = i;
      i += 2;
      word.scripts.push(script(lex, ")"));
      mark(start);
      dynamic(word, { splits: !inQuotes });
      return;
    }
    const name = /^\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])|^\$\{([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])\}/.exec(rest);
    if (name !== null) {
      i += name[0].length;
      dynamic(word, { splits: !inQuotes || name[0].includes("@") });
      return;
    }
    if (!inQuotes && rest.startsWith("$'")) {
      if (ticks > 0) throw new Unclear("a quote of this kind inside backticks");
      const ansi = decodeAnsi(text, i + 2);
      if (ansi === undefined) throw new Unclear("a quote is not closed");
      i = ansi.end;
      if (ansi.text === undefined) dynamic(word, { splits: false });
      else literal(word, ansi.text);
      return;
    }
    const next = text[i + 1];
    const alone = next === undefined || isDelimiter(i + 1) || "/.,:%=+^~".includes(next);
    if (!alone && !(inQuotes && "\"' \n|)]}\\".includes(next))) throw new Unclear("what follows a $ is not understood");
    literal(word, "$");
    i++;
  }

  function backticks(word: Building, inQuotes: boolean): void {
    const start = i;
    i++;
    ticks++;
    word.scripts.push(script(lex, "`"));
    ticks--;
    mark(start);
    dynamic(word, { splits: !inQuotes });
  }

  function tilde(word: Building): void {
    const isFirst = i === word.start;
    const after = isFirst ? undefined : text[i - 1];
    const next = text[i + 1];
    if (isFirst && (isDelimiter(i + 1) || next === "/")) literal(word, home);
    else if (isFirst || after === "=" || after === ":") dynamic(word, { splits: false });
    else literal(word, "~");
    i++;
  }

  function body({ delimiter, tabs, quoted: raw, heredoc }: (typeof pending)[number]): void {
    const start = i;
    for (let line = i; ;) {
      const end = text.indexOf("\n", line);
      const whole = text.slice(line, end < 0 ? text.length : end);
      if ((tabs ? whole.replace(/^\t+/, "") : whole) === delimiter) {
        if (!raw) heredoc.literal = expand(start, line, heredoc);
        i = line + whole.length;
        marks.push(`${i - delimiter.length}-${i}`);
        return;
      }
      if (end < 0) throw new Unclear("a here-document has no end");
      line = end + 1;
    }
  }

  /** An unquoted here-document is one long quoted word, in which quotes mean nothing. */
  function expand(start: number, end: number, heredoc: Heredoc): boolean {
    const word = newWord(start);
    i = start;
    while (i < end) quoted(word, "");
    if (i > end) throw new Unclear("a here-document's end is inside of a substitution");
    heredoc.scripts.push(...word.scripts);
    return !word.other;
  }

  return lex;
}
