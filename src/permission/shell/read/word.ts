import { decodeAnsi } from "../../text/ansi.ts";
import { isDelimiter, mark, Unclear } from "./cursor.ts";
import type { Cursor, Heredoc } from "./cursor.ts";
import type { Script } from "./script.ts";

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
  /** A pattern whose files were looked up: none of them is called like an option. */
  tame?: boolean;
  /** Commands that run to make this word. */
  scripts: Script[];
};

/** A word of which nothing is known. */
export const unknown: Word = {
  ...{ start: 0, end: 0, text: undefined, lead: "", splits: false, glob: undefined },
  scripts: [],
};

/** `--include=*.ts`: which option it is stands fast, whatever becomes of its value. */
export function optionOf({ text, lead, splits, glob }: Word): string | undefined {
  return text === undefined && (!splits || glob !== undefined) ? /^--[a-z][a-z0-9-]*=/.exec(lead)?.[0] : undefined;
}

/** The next word, with its quotes and escapes removed as the shell would; undefined where there is none. */
export function takeWord(c: Cursor): Word | undefined {
  if (c.text[c.at] === "(") throw new Unclear("parentheses stand where no command begins");
  if (isDelimiter(c, c.at)) return undefined;
  const word = newWord(c.at);
  while (!isDelimiter(c, c.at)) unquoted(c, word);
  if (c.text[c.at] === "(") throw new Unclear("parentheses stand where no command begins");
  // `{name}>` sets a variable.
  if (/^\{\w+\}[<>]$/.test(c.text.slice(word.start, c.at + 1)))
    throw new Unclear("this kind of redirection is not understood");
  mark(c, word.start);
  const { start, scripts, chars, other, globs } = word;
  const isLiteral = !other && !globs;
  return {
    start,
    end: c.at,
    text: isLiteral ? chars : undefined,
    lead: isLiteral ? chars : word.lead,
    splits: word.splits || globs,
    glob: globs && !other ? word.pattern : undefined,
    scripts,
  };
}

/** An unquoted here-document is one long quoted word, in which quotes mean nothing. */
export function takeBody(c: Cursor, end: number, heredoc: Heredoc): void {
  const word = newWord(c.at);
  while (c.at < end) quoted(c, word, "");
  if (c.at > end) throw new Unclear("a here-document's end is inside of a substitution");
  heredoc.scripts.push(...word.scripts);
  heredoc.literal = !word.other;
}

type Building = {
  start: number;
  chars: string;
  lead: string;
  pattern: string;
  splits: boolean;
  globs: boolean;
  /** Something else than patterns is not literal in it. */
  other: boolean;
  scripts: Script[];
};

function newWord(start: number): Building {
  return { start, chars: "", lead: "", pattern: "", splits: false, globs: false, other: false, scripts: [] };
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

function unquoted(c: Cursor, word: Building): void {
  const char = c.text[c.at]!;
  const next = c.text[c.at + 1];
  switch (char) {
    case "'":
      singleQuoted(c, word);
      return;
    case '"':
      c.at++;
      while (c.text[c.at] !== '"') quoted(c, word, '"');
      c.at++;
      return;
    case "\\":
      if (c.ticks > 0) throw new Unclear("a backslash inside backticks");
      if (next === undefined || next === "\n") throw new Unclear("a backslash stands at the end of a line");
      literal(word, next);
      c.at += 2;
      return;
    case "$":
      dollar(c, word, false);
      return;
    case "`":
      backticks(c, word, false);
      return;
    case "*":
    case "?":
    case "[":
      word.globs = true;
      word.pattern += char;
      c.at++;
      return;
    case "{":
      // Glued to anything, `{},x}` is a list that the shell spells out.
      if (next === "}" && c.at === word.start && isDelimiter(c, c.at + 2)) {
        literal(word, "{}");
        c.at += 2;
        return;
      }
      dynamic(word, { splits: true });
      c.at++;
      return;
    case "~":
      tilde(c, word);
      return;
    default:
      if (/\s/.test(char)) throw new Unclear("a blank that the shell does not know as one");
      literal(word, char);
      c.at++;
  }
}

function singleQuoted(c: Cursor, word: Building): void {
  const end = c.text.indexOf("'", c.at + 1);
  if (end < 0) throw new Unclear("a quote is not closed");
  const inner = c.text.slice(c.at + 1, end);
  // The shell looks for the second backtick first, and for quotes only between the two.
  if (c.ticks > 0 && inner.includes("`")) throw new Unclear("backticks inside backticks");
  literal(word, inner);
  c.at = end + 1;
}

function quoted(c: Cursor, word: Building, closer: '"' | ""): void {
  const char = c.text[c.at];
  const next = c.text[c.at + 1];
  if (char === undefined) throw new Unclear("a quote is not closed");
  if (char === "\\") {
    if (c.ticks > 0) throw new Unclear("a backslash inside backticks");
    if (next === "\n") throw new Unclear("a backslash stands at the end of a line");
    const escapes = next !== undefined && `${closer}$\`\\`.includes(next);
    literal(word, escapes ? next : "\\");
    c.at += escapes ? 2 : 1;
  } else if (char === "$") dollar(c, word, true);
  else if (char === "`") {
    if (c.ticks > 0) throw new Unclear("backticks inside backticks");
    backticks(c, word, true);
  } else {
    literal(word, char);
    c.at++;
  }
}

const variable = /^\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])|^\$\{([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])\}/;

function dollar(c: Cursor, word: Building, inQuotes: boolean): void {
  const rest = c.text.slice(c.at, c.at + 200);
  if (rest.startsWith("$((") || rest.startsWith("$[")) throw new Unclear("arithmetic is not understood");
  if (rest.startsWith("$(")) {
    const start = c.at;
    c.at += 2;
    word.scripts.push(c.script(c, ")"));
    mark(c, start);
    dynamic(word, { splits: !inQuotes });
    return;
  }
  const name = variable.exec(rest)?.[0];
  if (name !== undefined) {
    c.at += name.length;
    dynamic(word, { splits: !inQuotes || name.includes("@") });
    return;
  }
  if (!inQuotes && rest.startsWith("$'")) {
    const ansi = c.ticks > 0 ? undefined : decodeAnsi(c.text, c.at + 2);
    if (ansi === undefined) throw new Unclear("a quote of this kind is not closed, or stands inside backticks");
    c.at = ansi.end;
    if (ansi.text === undefined) dynamic(word, { splits: false });
    else literal(word, ansi.text);
    return;
  }
  const next = c.text[c.at + 1];
  const alone = next === undefined || isDelimiter(c, c.at + 1) || "/.,:%=+^~".includes(next);
  if (!alone && !(inQuotes && "\"' \n|)]}\\".includes(next))) throw new Unclear("what follows a $ is not understood");
  literal(word, "$");
  c.at++;
}

function backticks(c: Cursor, word: Building, inQuotes: boolean): void {
  const start = c.at;
  c.at++;
  c.ticks++;
  word.scripts.push(c.script(c, "`"));
  c.ticks--;
  mark(c, start);
  dynamic(word, { splits: !inQuotes });
}

/** `~` and `~/…` are home. Anybody else's is not known, nor what becomes of one inside of a word. */
function tilde(c: Cursor, word: Building): void {
  const isFirst = c.at === word.start;
  const before = c.text[c.at - 1];
  if (isFirst && (isDelimiter(c, c.at + 1) || c.text[c.at + 1] === "/")) literal(word, c.home);
  else if (isFirst || before === "=" || before === ":") dynamic(word, { splits: false });
  else literal(word, "~");
  c.at++;
}
