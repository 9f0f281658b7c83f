import { lexer, Unclear } from "./lexer.ts";
import type { Heredoc, Lexer, Word } from "./lexer.ts";

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

export type ScriptReading =
  /** `marks` are all words and operators, to be compared with what another reader found. */
  { ok: true; script: Script; marks: string[] } | { ok: false; why: string };

/**
 * Reads a closed part of the shell's language: simple commands, lists, pipelines, groups, redirections, here-documents
 * and command substitutions. Whatever is not provably one of these is not understood, and says why.
 */
export function readScript(text: string, home: string): ScriptReading {
  const lex = lexer(text, home, script);
  try {
    const whole = script(lex, "");
    return { ok: true, script: whole, marks: lex.marks };
  } catch (error) {
    if (error instanceof Unclear) return { ok: false, why: error.message };
    throw error;
  }
}

/** One word by itself: what a program is given for it, or undefined when that is not known. */
export function readWord(text: string, home: string): string | undefined {
  try {
    const word = lexer(text, home, script).word();
    return word?.end === text.length ? word.text : undefined;
  } catch (error) {
    if (error instanceof Unclear) return undefined;
    throw error;
  }
}

const mostDepth = 40;

function script(lex: Lexer, closer: Closer): Script {
  const items: Item[] = [];
  let op: Item["op"] = ";";
  let dangling = false;
  if (++lex.depth > mostDepth) throw new Unclear("commands are nested too deeply");
  for (;;) {
    lex.blanks();
    if (lex.newline()) {
      if (!dangling) op = ";";
      continue;
    }
    if (lex.close(closer)) break;
    items.push({ op, command: command(lex) });
    lex.blanks();
    const next = lex.operator();
    if (next === undefined && !lex.atEnd(closer)) throw new Unclear("a command does not end where one should");
    op = next ?? ";";
    dangling = next !== undefined && next !== ";" && next !== "&";
  }
  if (dangling) throw new Unclear("a command is missing after an operator");
  lex.depth--;
  return { items };
}

export type Closer = "" | ")" | "}" | "`";

function command(lex: Lexer): Simple | Group {
  let negated = false;
  for (; lex.token("!"); negated = true) lex.blanks();
  const opened = lex.open();
  // After `! cd x &&` the folder is the one from before: nothing here keeps account of that.
  if (negated && opened !== undefined) throw new Unclear("a group is negated");
  if (opened === undefined) {
    const found = simple(lex);
    if (negated && found.words.some(({ text }) => text === undefined || /^(cd|pushd|popd)$/.test(text)))
      throw new Unclear("a change of folder is negated");
    return found;
  }
  const body = script(lex, opened === "(" ? ")" : "}");
  if (body.items.length === 0) throw new Unclear("a group holds no command");
  const redirects: Redirect[] = [];
  for (let next = redirect(lex); next !== undefined; next = redirect(lex)) redirects.push(next);
  return { kind: opened === "(" ? "subshell" : "braces", body, redirects };
}

function simple(lex: Lexer): Simple {
  const found: Simple = { kind: "simple", assignments: [], words: [], redirects: [] };
  const { assignments, words, redirects } = found;
  for (;;) {
    const redirected = redirect(lex);
    if (redirected !== undefined) {
      redirects.push(redirected);
      continue;
    }
    const word = lex.word();
    if (word === undefined) break;
    const assigned = words.length === 0 ? lex.assignment(word) : undefined;
    if (assigned !== undefined) assignments.push(assigned);
    else words.push(word);
  }
  const [name] = words;
  if (name === undefined && assignments.length + redirects.length === 0)
    throw new Unclear("a command is missing where one should stand");
  if (name !== undefined && reserved.has(lex.source(name))) throw new Unclear(`${lex.source(name)} is not understood`);
  return found;
}

function redirect(lex: Lexer): Redirect | undefined {
  lex.blanks();
  const op = lex.redirection();
  if (op === undefined) return undefined;
  if (op.endsWith("&-")) return { op, target: lex.nothing() };
  lex.blanks();
  if (op === "<<" || op === "<<-") {
    const { delimiter, heredoc } = lex.heredoc(op === "<<-");
    return { op, target: delimiter, heredoc };
  }
  const target = lex.word();
  if (target === undefined) throw new Unclear("a redirection leads nowhere");
  return { op, target };
}

// `time` is not among them: it is told from a program by what follows it, as every wrapper is.
const reserved = new Set(
  "if then else elif fi for while until do done case esac in select function coproc [[ ]] { } !".split(" "),
);
