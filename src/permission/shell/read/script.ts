import { openCursor, Unclear } from "./cursor.ts";
import type { Cursor, Heredoc } from "./cursor.ts";
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
import { takeWord, unknown } from "./word.ts";
import type { Word } from "./word.ts";

/** A command line as far as it is understood whole. Positions are those of the text it was read from. */
export type Script = { items: Item[] };

/** `op` is what joins it to the item before: `;` for the first and after a line break. */
export type Item = { op: ";" | "&" | "&&" | "||" | "|" | "|&"; command: Simple | Group };

export type Simple = {
  kind: "simple";
  assignments: Assignment[];
  words: Word[];
  redirects: Redirect[];
};

export type Group = { kind: "subshell" | "braces"; body: Script; redirects: Redirect[] };

export type Assignment = { name: string; value: Word };

export type Redirect = { op: string; target: Word; heredoc?: Heredoc };

export type Closer = "" | ")" | "}" | "`";

export type ScriptReading =
  /** `marks` are all words and operators, to be compared with what another reader found. */
  { ok: true; script: Script; marks: string[] } | { ok: false; why: string };

/**
 * Reads a closed part of the shell's language: simple commands, lists, pipelines, groups, redirections, here-documents
 * and command substitutions. Whatever is not provably one of these is not understood, and says why.
 */
export function readScript(text: string, home: string): ScriptReading {
  const cursor = openCursor(text, home, script);
  try {
    return { ok: true, script: script(cursor, ""), marks: cursor.marks };
  } catch (error) {
    if (error instanceof Unclear) return { ok: false, why: error.message };
    throw error;
  }
}

/** One word by itself: what a program is given for it, or undefined when that is not known. */
export function readWord(text: string, home: string): string | undefined {
  try {
    const word = takeWord(openCursor(text, home, script));
    return word?.end === text.length ? word.text : undefined;
  } catch (error) {
    if (error instanceof Unclear) return undefined;
    throw error;
  }
}

const mostDepth = 40;

function script(c: Cursor, closer: Closer): Script {
  const items: Item[] = [];
  let op: Item["op"] = ";";
  let dangling = false;
  if (++c.depth > mostDepth) throw new Unclear("commands are nested too deeply");
  for (;;) {
    skipBlanks(c);
    if (takeNewline(c)) {
      if (!dangling) op = ";";
      continue;
    }
    if (takeCloser(c, closer)) break;
    items.push({ op, command: command(c) });
    skipBlanks(c);
    const next = takeOperator(c);
    if (next === undefined && !isAtEnd(c, closer)) throw new Unclear("a command does not end where one should");
    op = next ?? ";";
    dangling = next !== undefined && next !== ";" && next !== "&";
  }
  if (dangling) throw new Unclear("a command is missing after an operator");
  c.depth--;
  return { items };
}

function command(c: Cursor): Simple | Group {
  let negated = false;
  for (; takeToken(c, "!"); negated = true) skipBlanks(c);
  const opened = takeOpener(c);
  // After `! cd x &&` the folder is the one from before: nothing here keeps account of that.
  if (negated && opened !== undefined) throw new Unclear("a group is negated");
  if (opened === undefined) {
    const found = simple(c);
    if (negated && found.words.some(({ text }) => text === undefined || /^(cd|pushd|popd)$/.test(text)))
      throw new Unclear("a change of folder is negated");
    return found;
  }
  const body = script(c, opened === "(" ? ")" : "}");
  if (body.items.length === 0) throw new Unclear("a group holds no command");
  const redirects: Redirect[] = [];
  for (let next = redirect(c); next !== undefined; next = redirect(c)) redirects.push(next);
  return { kind: opened === "(" ? "subshell" : "braces", body, redirects };
}

function simple(c: Cursor): Simple {
  const found: Simple = { kind: "simple", assignments: [], words: [], redirects: [] };
  const { assignments, words, redirects } = found;
  for (;;) {
    const redirected = redirect(c);
    if (redirected !== undefined) {
      redirects.push(redirected);
      continue;
    }
    const word = takeWord(c);
    if (word === undefined) break;
    const assigned = words.length === 0 ? assignment(c, word) : undefined;
    if (assigned !== undefined) assignments.push(assigned);
    else words.push(word);
  }
  const [name] = words;
  if (name === undefined && assignments.length + redirects.length === 0)
    throw new Unclear("a command is missing where one should stand");
  const first = name && c.text.slice(name.start, name.end);
  if (first !== undefined && reserved.has(first)) throw new Unclear(`${first} is not understood`);
  return found;
}

/** `NAME=value`, where a command may begin. */
function assignment({ text }: Cursor, word: Word): Assignment | undefined {
  const raw = text.slice(word.start, word.end);
  const name = /^[A-Za-z_][A-Za-z0-9_]*(?==)/.exec(raw)?.[0];
  // A value is never a pattern of file names.
  const given = word.text ?? word.glob?.replace(/\\(.)/gs, "$1");
  if (name !== undefined) return { name, value: { ...word, text: given?.slice(name.length + 1) } };
  if (/^[A-Za-z_][A-Za-z0-9_]*(\+=|\[)/.test(raw)) throw new Unclear("this kind of assignment is not understood");
  return undefined;
}

function redirect(c: Cursor): Redirect | undefined {
  skipBlanks(c);
  const op = takeRedirection(c);
  if (op === undefined) return undefined;
  if (op.endsWith("&-")) return { op, target: { ...unknown, start: c.at, end: c.at } };
  skipBlanks(c);
  if (op === "<<" || op === "<<-") return { op, ...takeDelimiter(c, op === "<<-") };
  const target = takeWord(c);
  if (target === undefined) throw new Unclear("a redirection leads nowhere");
  return { op, target };
}

// `time` is not among them: it is told from a program by what follows it, as every wrapper is.
const reserved = new Set(
  "if then else elif fi for while until do done case esac in select function coproc [[ ]] { } !".split(" "),
);
