import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import { isDelimiter, openCursor, take, unclear, Unclear, type Cursor, type Heredoc } from "./cursor.ts";
import {
  isAtEnd,
  skipBlanks,
  takeCloser,
  takeDelimiter,
  takeNewline,
  takeOpener,
  takeOperator,
  takeRedirection,
  takeToken,
} from "./lexer.ts";
import { literalWord, opaqueWord, takeWord, type Piece, type Word } from "./word.ts";

/** A command line as far as it is understood whole. Positions are those of the text it was read from. */
export type Script = { items: Item[] };

/** `op` is what joins it to the item before: `;` for the first and after a line break. */
export type Item = { op: ";" | "&" | "&&" | "||" | "|" | "|&"; command: Command };

export type Command = Simple | Group | Condition | Loop;

export type Simple = {
  kind: "simple";
  assignments: Assignment[];
  words: Word[];
  redirects: Redirect[];
};

type Group = { kind: "subshell" | "braces"; body: Script; redirects: Redirect[] };

/** `if`: its conditions and its branches, in the order of the text. `case`: its branches, and the word they are about. */
type Condition = { kind: "if"; scripts: Script[]; subject?: Word; redirects: Redirect[] };

/** `while` and `until`, with the condition first; or `for`, with the words that its variable goes through or its counter. */
export type Loop = {
  kind: "loop";
  scripts: Script[];
  over?: { name: string; words: Word[] };
  counter?: { name: string; start: number };
  redirects: Redirect[];
};

export type Assignment = { name: string; value: Word };

export type Redirect = { op: string; target: Word; heredoc?: Heredoc };

/** Several keywords that may end a script are joined by `|`. */
export type Closer = "" | ")" | "}" | "`" | "then" | "elif|else|fi" | "fi" | "do" | "done" | ";;|esac";

type ScriptReading =
  /** `marks` are all words and operators, to be compared with what another reader found. */
  { ok: true; script: Script; marks: string[] } | { ok: false; why: Reason };

/** Reads a closed part of the language: what is not provably a command, list, pipeline, group, redirection or substitution says why. */
export function readScript(text: string, home: string): ScriptReading {
  const cursor = openCursor(text, home, script);
  try {
    return { ok: true, script: script(cursor, ""), marks: cursor.marks };
  } catch (error) {
    if (error instanceof Unclear) return { ok: false, why: error.reason };
    throw error;
  }
}

/** Reads a single word; undefined when it is not understood. */
export function readWord(text: string, home: string): Word | undefined {
  try {
    const word = takeWord(openCursor(text, home, script));
    return word?.end === text.length ? word : undefined;
  } catch (error) {
    if (error instanceof Unclear) return undefined;
    throw error;
  }
}

const mostDepth = 40;

function script(cursor: Cursor, closer: Closer): Script {
  const items: Item[] = [];
  let op: Item["op"] = ";";
  let dangling = false;
  if (++cursor.depth > mostDepth) throw unclear("nested-too-deeply");
  for (;;) {
    skipBlanks(cursor);
    if (takeNewline(cursor)) {
      if (!dangling) op = ";";
      continue;
    }
    if (takeCloser(cursor, closer)) break;
    items.push({ op, command: command(cursor) });
    skipBlanks(cursor);
    const next = isAtEnd(cursor, closer) ? undefined : takeOperator(cursor);
    // A keyword ends a script only after an operator or a line break: anywhere else it is a word.
    if (next === undefined && !isAtEnd(cursor, closer)) throw unclear("command-end");
    op = next ?? ";";
    dangling = next !== undefined && next !== ";" && next !== "&";
  }
  if (dangling) throw unclear("missing-after-operator");
  cursor.depth--;
  return { items };
}

function command(cursor: Cursor): Command {
  let negated = false;
  for (; takeToken(cursor, "!"); negated = true) skipBlanks(cursor);
  const opened = takeOpener(cursor);
  // After `! cd x &&` the folder is the one from before: nothing here keeps account of that.
  if (negated && opened !== undefined) throw unclear("group-negated");
  if (opened === undefined) {
    const compound = condition(cursor) ?? choice(cursor) ?? loop(cursor);
    if (compound !== undefined) {
      if (negated) throw unclear("group-negated");
      compound.redirects.push(...redirectsOf(cursor));
      return compound;
    }
    const found = simple(cursor);
    if (negated && found.words.some(({ text }) => text === undefined || /^(cd|pushd|popd)$/.test(text)))
      throw unclear("negated-move");
    return found;
  }
  const body = script(cursor, opened === "(" ? ")" : "}");
  if (body.items.length === 0) throw unclear("group-empty");
  return { kind: opened === "(" ? "subshell" : "braces", body, redirects: redirectsOf(cursor) };
}

function redirectsOf(cursor: Cursor): Redirect[] {
  const redirects: Redirect[] = [];
  for (let next = redirect(cursor); next !== undefined; next = redirect(cursor)) redirects.push(next);
  return redirects;
}

function condition(cursor: Cursor): Condition | undefined {
  if (!takeToken(cursor, "if")) return undefined;
  const scripts: Script[] = [];
  for (;;) {
    scripts.push(filled(cursor, "then"));
    takeToken(cursor, "then");
    scripts.push(filled(cursor, "elif|else|fi"));
    if (takeToken(cursor, "elif")) continue;
    if (takeToken(cursor, "else")) scripts.push(filled(cursor, "fi"));
    takeToken(cursor, "fi");
    return { kind: "if", scripts, redirects: [] };
  }
}

/** `case word in a|b*) … ;; esac`. Patterns are plain, and no branch falls through to the next. */
function choice(cursor: Cursor): Condition | undefined {
  if (!takeToken(cursor, "case")) return undefined;
  skipBlanks(cursor);
  const subject = takeWord(cursor);
  skipBlanks(cursor);
  if (subject === undefined || !takeToken(cursor, "in")) throw unclear("case-statements");
  const scripts: Script[] = [];
  for (;;) {
    skipLines(cursor);
    if (takeToken(cursor, "esac")) break;
    takePatterns(cursor);
    scripts.push(script(cursor, ";;|esac"));
    if (takeToken(cursor, "esac")) break;
    take(cursor, 2);
  }
  const filled = scripts.filter(({ items }) => items.length > 0);
  if (filled.length === 0) throw unclear("group-empty");
  return { kind: "if", scripts: filled, subject, redirects: [] };
}

function takePatterns(cursor: Cursor): void {
  if (cursor.text[cursor.at] === "(") take(cursor, 1);
  for (;;) {
    skipBlanks(cursor);
    const pattern = /^(?:[\w.,:+@%*?/-]+|'[^']*'|"[\w.,:+@%*?/ -]*")(?=[ |)])/.exec(cursor.text.slice(cursor.at))?.[0];
    if (pattern === undefined || pattern === "esac") throw unclear("case-statements");
    take(cursor, pattern.length);
    skipBlanks(cursor);
    const next = cursor.text[cursor.at];
    if (next !== "|" && next !== ")") throw unclear("case-statements");
    take(cursor, 1);
    if (next === ")") return;
  }
}

function loop(cursor: Cursor): Loop | undefined {
  const isFor = takeToken(cursor, "for");
  if (!isFor && !takeToken(cursor, "while") && !takeToken(cursor, "until")) return undefined;
  const counter = isFor ? counterOf(cursor) : undefined;
  const over = isFor && counter === undefined ? listOf(cursor) : undefined;
  const conditions = isFor ? [] : [filled(cursor, "do")];
  if (!takeToken(cursor, "do")) throw unclear("loops");
  const body = filled(cursor, "done");
  takeToken(cursor, "done");
  return {
    kind: "loop",
    scripts: [...conditions, body],
    ...(over && { over }),
    ...(counter && { counter }),
    redirects: [],
  };
}

/** `((i=0; i<10; i++))`, counting up or down to a number. */
function counterOf(cursor: Cursor): Loop["counter"] {
  skipBlanks(cursor);
  const start = cursor.at;
  const [head, name] =
    /^\(\( *([A-Za-z_]\w*) *= *\d{1,15} *; *\1 *[<>]=? *\d{1,15} *; *\1(?:\+\+|--|[+-]=\d{1,15}) *\)\)/.exec(
      cursor.text.slice(start, start + 200),
    ) ?? [];
  if (head === undefined || name === undefined) return undefined;
  take(cursor, head.length);
  skipBlanks(cursor);
  if (cursor.text[cursor.at] === ";") take(cursor, 1);
  skipLines(cursor);
  return { name, start };
}

function skipLines(cursor: Cursor): void {
  for (;;) {
    skipBlanks(cursor);
    if (!takeNewline(cursor)) return;
  }
}

/** `name in a b;`, up to the `do`. */
function listOf(cursor: Cursor): NonNullable<Loop["over"]> {
  skipBlanks(cursor);
  const name = /^[A-Za-z_]\w*(?=[ \t])/.exec(cursor.text.slice(cursor.at, cursor.at + 100))?.[0];
  if (name === undefined) throw unclear("loops");
  take(cursor, name.length);
  skipBlanks(cursor);
  if (!takeToken(cursor, "in")) throw unclear("loops");
  const words: Word[] = [];
  for (;;) {
    skipBlanks(cursor);
    const word = takeWord(cursor);
    if (word === undefined) break;
    words.push(word);
  }
  if (cursor.text[cursor.at] === ";") take(cursor, 1);
  else if (cursor.text[cursor.at] !== "\n") throw unclear("loops");
  skipLines(cursor);
  return { name, words };
}

/** A script that must hold a command. */
function filled(cursor: Cursor, closer: Closer): Script {
  const found = script(cursor, closer);
  if (found.items.length === 0) throw unclear("group-empty");
  return found;
}

function simple(cursor: Cursor): Simple {
  const found: Simple = { kind: "simple", assignments: [], words: [], redirects: [] };
  const { assignments, words, redirects } = found;
  const bracket = bracketed(cursor);
  if (bracket !== undefined) words.push(...bracket);
  for (;;) {
    const redirected = redirect(cursor);
    if (redirected !== undefined) {
      redirects.push(redirected);
      continue;
    }
    if (bracket !== undefined) break;
    const word = takeWord(cursor);
    if (word === undefined) break;
    const assigned = words.length === 0 ? assignment(cursor, word) : undefined;
    if (assigned !== undefined) assignments.push(assigned);
    else words.push(word);
  }
  const [name] = words;
  if (name === undefined && assignments.length + redirects.length === 0) throw unclear("missing-command");
  const first = name && cursor.text.slice(name.start, name.end);
  if (bracket === undefined && first !== undefined && reserved.has(first))
    throw new Unclear(reason("token-not-understood", { token: first }));
  return found;
}

/** `[ … ]` and `[[ … ]]` as the words of a command. */
function bracketed(cursor: Cursor): Word[] | undefined {
  skipBlanks(cursor);
  const opener = /^\[\[?(?=[ \t])/.exec(cursor.text.slice(cursor.at, cursor.at + 3))?.[0];
  if (opener === undefined) return undefined;
  const closer = opener === "[" ? "]" : "]]";
  const words = [token(cursor, opener.length)];
  for (;;) {
    skipBlanks(cursor);
    const two = cursor.text.slice(cursor.at, cursor.at + 2);
    const isEnd = cursor.text.startsWith(closer, cursor.at) && isDelimiter(cursor, cursor.at + closer.length);
    if (isEnd || (opener === "[[" && (two === "&&" || two === "||"))) {
      words.push(token(cursor, two === "&&" || two === "||" ? 2 : closer.length));
      if (isEnd) return words;
      continue;
    }
    const word = takeWord(cursor);
    if (word === undefined) throw unclear("bracket-tests");
    // Inside of the double brackets nothing is split, and a pattern is held against a text and not against files.
    words.push(opener === "[" ? word : { ...word, splits: false, glob: undefined });
  }
}

function token(cursor: Cursor, length: number): Word {
  const start = cursor.at;
  const text = take(cursor, length);
  return { ...literalWord(text), start, end: cursor.at };
}

/** `NAME=value`, where a command may begin. */
function assignment({ text }: Cursor, word: Word): Assignment | undefined {
  const raw = text.slice(word.start, word.end);
  const name = /^[A-Za-z_][A-Za-z0-9_]*(?==)/.exec(raw)?.[0];
  // A value is never a pattern of file names.
  const given = word.text ?? word.glob?.replace(/\\(.)/gs, "$1");
  if (name !== undefined) {
    const pieces = withoutLead(word.pieces, name.length + 1);
    return { name, value: { ...word, text: given?.slice(name.length + 1), glob: undefined, splits: false, pieces } };
  }
  if (/^[A-Za-z_][A-Za-z0-9_]*(\+=|\[)/.test(raw)) throw unclear("assignment");
  return undefined;
}

/** The pieces of a value: its name and the sign are the beginning of the first. A value is neither split nor a pattern. */
function withoutLead([first, ...rest]: readonly Piece[], length: number): Piece[] {
  const text = first?.type === "text" ? first.text.slice(length) : "";
  const quoted = rest.map((piece): Piece =>
    piece.type === "text" ? piece : piece.type === "pattern" ? literalPattern : { ...piece, quoted: true },
  );
  return text === "" ? quoted : [{ type: "text", text }, ...quoted];
}

/** A character of a pattern that is none here; which one it is, is not kept. */
const literalPattern: Piece = { type: "other", quoted: true };

function redirect(cursor: Cursor): Redirect | undefined {
  skipBlanks(cursor);
  const op = takeRedirection(cursor);
  if (op === undefined) return undefined;
  if (op.endsWith("&-")) return { op, target: { ...opaqueWord, start: cursor.at, end: cursor.at } };
  skipBlanks(cursor);
  if (op === "<<" || op === "<<-") return { op, ...takeDelimiter(cursor, op === "<<-") };
  const target = takeWord(cursor);
  if (target === undefined) throw unclear("redirection-without-target");
  return { op, target };
}

// `time` is not among them: it is told from a program by what follows it, as every wrapper is.
const reserved = new Set(
  "if then else elif fi for while until do done case esac in select function coproc [[ ]] { } !".split(" "),
);
