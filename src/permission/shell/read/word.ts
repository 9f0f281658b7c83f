import { decodeAnsi } from "../../text/ansi.ts";
import { isDelimiter, mark, unclear, type Cursor, type Heredoc } from "./cursor.ts";
import type { Script } from "./script.ts";

export type Word = {
  start: number;
  end: number;
  /** Text that the program is given; undefined when only running it would tell. */
  text: string | undefined;
  /** How a word that is not literal surely begins. */
  lead: string;
  /** Not literal, and may become no word at all or several. */
  splits: boolean;
  /** Not literal because of file name patterns alone: the pattern, what is literal in it escaped. */
  glob: string | undefined;
  /** A pattern whose files were looked up: none of them is called like an option. */
  tame?: boolean;
  /** Parts of the word, in order. */
  pieces: readonly Piece[];
  /** A command's output under the name of a file, `<(…)`. */
  pipe?: true;
  /** Not literal, but one of these texts: made of variables that the line itself sets. */
  choices?: readonly string[];
  /** Not literal, and holds no inherited variable that could be a secret. */
  printable?: boolean;
  /** Commands that run to make this word. */
  scripts: Script[];
};

export type Piece =
  | { type: "text"; text: string }
  /** An unquoted character of a file name pattern. */
  | { type: "pattern" }
  | { type: "variable"; name: string; quoted: boolean }
  /** Output of a command, or what an operator makes of a variable. `name`: the variable, if there is one. */
  | { type: "other"; quoted: boolean; name?: string }
  /** A number that is reckoned from these variables. */
  | { type: "sum"; quoted: true; names: readonly string[] };

/** A word of which nothing is known. */
export const opaqueWord: Word = {
  start: 0,
  end: 0,
  text: undefined,
  lead: "",
  splits: false,
  glob: undefined,
  pieces: [{ type: "other", quoted: false }],
  scripts: [],
};

/** A literal word that stands nowhere in the text, or in the place of another one. */
export function literalWord(text: string, place: Word = opaqueWord): Word {
  const { start, end } = place;
  return {
    start,
    end,
    text,
    lead: text,
    splits: false,
    glob: undefined,
    pieces: [{ type: "text", text }],
    scripts: [],
  };
}

/** `--include=*.ts`: which option it is stands fast, whatever becomes of its value. */
export function optionOf({ text, lead, splits, glob }: Word): string | undefined {
  return text === undefined && (!splits || glob !== undefined) ? /^--[a-z][a-z0-9-]*=/.exec(lead)?.[0] : undefined;
}

/** The word with `text`, `words` and `file` in the place of what is not known of it: any text, any words, names of files. */
export function spelled({ text, pieces }: Word, marks: { text: string; words: string; file: string }): string {
  if (text !== undefined) return text;
  return pieces
    .map((piece) => {
      if (piece.type === "text") return piece.text;
      return piece.type === "pattern" ? marks.file : piece.quoted ? marks.text : marks.words;
    })
    .join("");
}

/** The next word, with its quotes and escapes removed as the shell would; undefined where there is none. */
export function takeWord(cursor: Cursor): Word | undefined {
  if (cursor.text[cursor.at] === "(") throw unclear("parentheses");
  if (cursor.text.startsWith("<(", cursor.at)) return processSubstitution(cursor);
  if (isDelimiter(cursor, cursor.at)) return undefined;
  const word = newWord(cursor.at);
  while (!isDelimiter(cursor, cursor.at)) unquoted(cursor, word);
  if (cursor.text[cursor.at] === "(") throw unclear("parentheses");
  // `{name}>` sets a variable.
  if (/^\{\w+\}[<>]$/.test(cursor.text.slice(word.start, cursor.at + 1))) throw unclear("redirection");
  mark(cursor, word.start);
  const { start, scripts, chars, other, globs, pieces } = word;
  const isLiteral = !other && !globs;
  return {
    pieces,
    start,
    end: cursor.at,
    text: isLiteral ? chars : undefined,
    lead: isLiteral ? chars : word.lead,
    splits: word.splits || globs,
    glob: globs && !other ? word.pattern : undefined,
    scripts,
  };
}

/** `<(…)`, which must stand alone. */
function processSubstitution(cursor: Cursor): Word {
  const start = cursor.at;
  // Glued to a word before it, it is part of that word, which not every reader sees.
  if (cursor.ticks > 0 || !/^[\s]?$/.test(cursor.text[start - 1] ?? "")) throw unclear("process-substitution");
  cursor.at += 2;
  const scripts = [cursor.script(cursor, ")")];
  if (!isDelimiter(cursor, cursor.at) || cursor.text[cursor.at] === "(") throw unclear("process-substitution");
  mark(cursor, start);
  return { ...opaqueWord, start, end: cursor.at, lead: "/dev/fd/", pipe: true, scripts };
}

/** An unquoted here-document is one long quoted word, in which quotes mean nothing. */
export function takeBody(cursor: Cursor, end: number, heredoc: Heredoc): void {
  const word = newWord(cursor.at);
  while (cursor.at < end) quoted(cursor, word, "");
  if (cursor.at > end) throw unclear("heredoc-end-in-substitution");
  heredoc.scripts.push(...word.scripts);
  heredoc.literal = !word.other;
  if (word.other) heredoc.pieces = word.pieces;
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
  /** A brace list has begun: what follows belongs to it. */
  braced: boolean;
  pieces: Piece[];
  scripts: Script[];
};

function newWord(start: number): Building {
  return {
    start,
    chars: "",
    lead: "",
    pattern: "",
    splits: false,
    globs: false,
    other: false,
    braced: false,
    pieces: [],
    scripts: [],
  };
}

function literal(word: Building, chars: string): void {
  word.chars += chars;
  const last = word.pieces.at(-1);
  if (word.braced) return;
  if (last?.type === "text") last.text += chars;
  else word.pieces.push({ type: "text", text: chars });
  word.pattern += chars.replace(/[\\*?[\]]/g, "\\$&");
  if (!word.other && !word.globs) word.lead = word.chars;
}

function dynamic(word: Building, { splits, piece }: { splits: boolean; piece?: Piece }): void {
  word.other = true;
  word.splits ||= splits;
  word.pieces.push(piece ?? { type: "other", quoted: !splits });
}

function unquoted(cursor: Cursor, word: Building): void {
  const char = cursor.text[cursor.at]!;
  const next = cursor.text[cursor.at + 1];
  switch (char) {
    case "'":
      singleQuoted(cursor, word);
      return;
    case '"':
      cursor.at++;
      while (cursor.text[cursor.at] !== '"') quoted(cursor, word, '"');
      cursor.at++;
      return;
    case "\\":
      if (cursor.ticks > 0) throw unclear("backslash-in-backticks");
      if (next === undefined || next === "\n") throw unclear("backslash-at-line-end");
      literal(word, next);
      cursor.at += 2;
      return;
    case "$":
      dollar(cursor, word, false);
      return;
    case "`":
      backticks(cursor, word, false);
      return;
    case "*":
    case "?":
    case "[":
      word.globs = true;
      word.pattern += char;
      word.pieces.push({ type: "pattern" });
      cursor.at++;
      return;
    case "{":
      // With more behind it, `{},x}` is a list that the shell spells out.
      if (next === "}" && !word.braced && isDelimiter(cursor, cursor.at + 2)) {
        literal(word, "{}");
        cursor.at += 2;
        return;
      }
      dynamic(word, { splits: true });
      word.braced = true;
      cursor.at++;
      return;
    case "~":
      tilde(cursor, word);
      return;
    default:
      if (/\s/.test(char)) throw unclear("foreign-blank");
      literal(word, char);
      cursor.at++;
  }
}

function singleQuoted(cursor: Cursor, word: Building): void {
  const end = cursor.text.indexOf("'", cursor.at + 1);
  if (end < 0) throw unclear("quote-open");
  const inner = cursor.text.slice(cursor.at + 1, end);
  // The shell looks for the second backtick first, and for quotes only between the two.
  if (cursor.ticks > 0 && inner.includes("`")) throw unclear("backticks-in-backticks");
  literal(word, inner);
  cursor.at = end + 1;
}

function quoted(cursor: Cursor, word: Building, closer: '"' | ""): void {
  const char = cursor.text[cursor.at];
  const next = cursor.text[cursor.at + 1];
  if (char === undefined) throw unclear("quote-open");
  if (char === "\\") {
    if (cursor.ticks > 0) throw unclear("backslash-in-backticks");
    if (next === "\n") throw unclear("backslash-at-line-end");
    const escapes = next !== undefined && `${closer}$\`\\`.includes(next);
    literal(word, escapes ? next : "\\");
    cursor.at += escapes ? 2 : 1;
  } else if (char === "$") dollar(cursor, word, true);
  else if (char === "`") {
    if (cursor.ticks > 0) throw unclear("backticks-in-backticks");
    backticks(cursor, word, true);
  } else {
    literal(word, char);
    cursor.at++;
  }
}

const variable = /^\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])|^\$\{([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])\}/;

/** Numbers and signs alone: a name would be evaluated, commands in its index included. */
const plainSum = /^\$\(\([0-9 +*/%()<>=!&|^~-]*[0-9 )]\)\)/;

/** `${#name}` or `${name%text}` with plain text. Not `:=`, which sets the variable, nor a position, which is evaluated. */
const operator =
  /^\$\{#([A-Za-z_]\w*)\}|^\$\{([A-Za-z_]\w*)(?::?[-+]|%%?|##?|\/\/?[#%]?|\^\^?|,,?)(?:[\w.,:+=@ *?/-]*)\}/;

function dollar(cursor: Cursor, word: Building, inQuotes: boolean): void {
  const rest = cursor.text.slice(cursor.at, cursor.at + 200);
  if (rest.startsWith("$[")) throw unclear("arithmetic");
  if (rest.startsWith("$((")) {
    const sum = plainSum.exec(rest)?.[0];
    const named = sum === undefined ? namedSum(rest) : undefined;
    if (sum === undefined ? named === undefined : !isBalanced(sum.slice(3, -2))) throw unclear("arithmetic");
    cursor.at += sum?.length ?? named!.length;
    dynamic(word, { splits: false, piece: { type: "sum", quoted: true, names: named?.names ?? [] } });
    return;
  }
  if (rest.startsWith("$(")) {
    const start = cursor.at;
    cursor.at += 2;
    word.scripts.push(cursor.script(cursor, ")"));
    mark(cursor, start);
    dynamic(word, { splits: !inQuotes });
    return;
  }
  const named = variable.exec(rest);
  if (named !== null) {
    const [whole, bare, braced] = named;
    const name = bare ?? braced!;
    cursor.at += whole.length;
    const quoted = inQuotes && name !== "@";
    const piece: Piece = /^[A-Za-z_]/.test(name)
      ? { type: "variable", name, quoted }
      : { type: "other", quoted: quoted || "?#$!".includes(name) };
    dynamic(word, { splits: !inQuotes || name === "@", piece });
    return;
  }
  const changed = operator.exec(rest);
  if (changed !== null) {
    if (cursor.ticks > 0) throw unclear("expansion-operators");
    cursor.at += changed[0].length;
    const piece: Piece = { type: "other", quoted: inQuotes, name: changed[1] ?? changed[2]! };
    dynamic(word, { splits: !inQuotes, piece });
    return;
  }
  if (!inQuotes && rest.startsWith("$'")) {
    const ansi = cursor.ticks > 0 ? undefined : decodeAnsi(cursor.text, cursor.at + 2);
    if (ansi === undefined) throw unclear("quote-open");
    cursor.at = ansi.end;
    if (ansi.text === undefined) dynamic(word, { splits: false });
    else literal(word, ansi.text);
    return;
  }
  const next = cursor.text[cursor.at + 1];
  const alone = next === undefined || isDelimiter(cursor, cursor.at + 1) || "/.,:%=+^~".includes(next);
  if (!alone && !(inQuotes && "\"' \n|)]}\\".includes(next))) throw unclear("dollar");
  literal(word, "$");
  cursor.at++;
}

/** A sum with variables, setting none. Their values are evaluated, too: callers who see the whole line check that they are numbers. */
function namedSum(text: string): { length: number; names: string[] } | undefined {
  const [whole, inner = ""] = /^\$\(\(([\w $+*/%()<>=!&|-]*)\)\)/.exec(text) ?? [];
  if (whole === undefined || !isBalanced(inner) || /\+\+|--/.test(inner)) return undefined;
  const tokens = inner.match(sumToken) ?? [];
  if (tokens.join("") !== inner.replaceAll(" ", "")) return undefined;
  // Two in a row are one token to others, as in `0x1f`, or none at all.
  const isValue = (token: string | undefined) => /^[\w$]/.test(token ?? "");
  if (tokens.some((token, n) => isValue(token) && isValue(tokens[n + 1]))) return undefined;
  return {
    length: whole.length,
    names: tokens.filter((token) => /^\$?[A-Za-z_]/.test(token)).map((token) => token.replace("$", "")),
  };
}

const sumToken = /\$?[A-Za-z_]\w*|\d{1,15}|[<>=!]=|&&|\|\||[-+*/%()<>]/g;

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth++;
    if (char === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

function backticks(cursor: Cursor, word: Building, inQuotes: boolean): void {
  const start = cursor.at;
  cursor.at++;
  cursor.ticks++;
  word.scripts.push(cursor.script(cursor, "`"));
  cursor.ticks--;
  mark(cursor, start);
  dynamic(word, { splits: !inQuotes });
}

/** `~` and `~/…` are home. Anybody else's is not known, nor what becomes of one inside of a word. */
function tilde(cursor: Cursor, word: Building): void {
  const isFirst = cursor.at === word.start;
  const before = cursor.text[cursor.at - 1];
  if (isFirst && (isDelimiter(cursor, cursor.at + 1) || cursor.text[cursor.at + 1] === "/")) literal(word, cursor.home);
  else if (isFirst || before === "=" || before === ":") dynamic(word, { splits: false });
  else literal(word, "~");
  cursor.at++;
}
