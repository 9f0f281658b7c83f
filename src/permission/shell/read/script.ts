import { reason } from "../../../protocol/index.ts";
import type { Reason } from "../../../protocol/index.ts";
import { openCursor, unclear, Unclear } from "./cursor.ts";
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
import { opaqueWord, takeWord } from "./word.ts";
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
  { ok: true; script: Script; marks: string[] } | { ok: false; why: Reason };

/**
 * Reads a closed part of the shell's language: simple commands, lists, pipelines, groups, redirections, here-documents
 * and command substitutions. Whatever is not provably one of these is not understood, and says why.
 */
export function readScript(text: string, home: string): ScriptReading {
  const cursor = openCursor(text, home, script);
  try {
    return { ok: true, script: script(cursor, ""), marks: cursor.marks };
  } catch (error) {
    if (error instanceof Unclear) return { ok: false, why: error.reason };
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
    const next = takeOperator(cursor);
    if (next === undefined && !isAtEnd(cursor, closer)) throw unclear("command-end");
    op = next ?? ";";
    dangling = next !== undefined && next !== ";" && next !== "&";
  }
  if (dangling) throw unclear("missing-after-operator");
  cursor.depth--;
  return { items };
}

function command(cursor: Cursor): Simple | Group {
  let negated = false;
  for (; takeToken(cursor, "!"); negated = true) skipBlanks(cursor);
  const opened = takeOpener(cursor);
  // After `! cd x &&` the folder is the one from before: nothing here keeps account of that.
  if (negated && opened !== undefined) throw unclear("group-negated");
  if (opened === undefined) {
    const found = simple(cursor);
    if (negated && found.words.some(({ text }) => text === undefined || /^(cd|pushd|popd)$/.test(text)))
      throw unclear("negated-move");
    return found;
  }
  const body = script(cursor, opened === "(" ? ")" : "}");
  if (body.items.length === 0) throw unclear("group-empty");
  const redirects: Redirect[] = [];
  for (let next = redirect(cursor); next !== undefined; next = redirect(cursor)) redirects.push(next);
  return { kind: opened === "(" ? "subshell" : "braces", body, redirects };
}

function simple(cursor: Cursor): Simple {
  const found: Simple = { kind: "simple", assignments: [], words: [], redirects: [] };
  const { assignments, words, redirects } = found;
  for (;;) {
    const redirected = redirect(cursor);
    if (redirected !== undefined) {
      redirects.push(redirected);
      continue;
    }
    const word = takeWord(cursor);
    if (word === undefined) break;
    const assigned = words.length === 0 ? assignment(cursor, word) : undefined;
    if (assigned !== undefined) assignments.push(assigned);
    else words.push(word);
  }
  const [name] = words;
  if (name === undefined && assignments.length + redirects.length === 0) throw unclear("missing-command");
  const first = name && cursor.text.slice(name.start, name.end);
  if (first !== undefined && reserved.has(first)) throw new Unclear(reason("token-not-understood", { token: first }));
  return found;
}

/** `NAME=value`, where a command may begin. */
function assignment({ text }: Cursor, word: Word): Assignment | undefined {
  const raw = text.slice(word.start, word.end);
  const name = /^[A-Za-z_][A-Za-z0-9_]*(?==)/.exec(raw)?.[0];
  // A value is never a pattern of file names.
  const given = word.text ?? word.glob?.replace(/\\(.)/gs, "$1");
  if (name !== undefined) return { name, value: { ...word, text: given?.slice(name.length + 1) } };
  if (/^[A-Za-z_][A-Za-z0-9_]*(\+=|\[)/.test(raw)) throw unclear("assignment");
  return undefined;
}

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
