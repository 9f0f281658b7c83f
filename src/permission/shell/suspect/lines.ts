import { escaped, star, type Glob } from "../../text/wild.ts";
import type { Token } from "../../text/tokens.ts";

/** Words that may be a command. `loose`: the first of them may belong to what came before. */
export type Line = { words: Token[]; loose: boolean };

type Reading = {
  /** False: quotes and backslashes are as good as absent, so that scripts inside quotes are seen too. */
  quotes: boolean;
  /** Says where backslash-newline joins two lines. In a comment it does not, but what seems a comment may be none. */
  joins: "always" | "outside comments" | "never";
};

/** A command line that is being read: the whole text, or what stands in one substitution. `broken`: something interrupts it. */
type Frame = { closer: string; line: Token[]; word: Token | undefined; target: boolean; broken: boolean };

type State = "bare" | "in single quotes" | "in double quotes";

type Cut = {
  state: State;
  inComment: boolean;
  frame: Frame;
  /** Frames around this one, the outermost first, and how many of them each closer would close. */
  outer: Frame[];
  open: Record<string, number>;
  /** The words since the last interruption. */
  piece: Line;
  lines: Line[];
};

/** Reads one character, or several that belong together; the index of the next one. */
type Step = (cut: Cut, units: Glob, i: number, reading: Reading) => number;

/** Cuts text at every operator and substitution into what may run. A line with a gap comes twice: joined across it, and in pieces. */
export function linesOf(text: Glob, reading: Reading): Line[] {
  const units = reading.quotes ? text : text.map((unit) => escaped(unit) ?? unit);
  const cut: Cut = {
    state: "bare",
    inComment: false,
    frame: newFrame(""),
    outer: [],
    open: { ")": 0, "}": 0, "`": 0 },
    piece: { words: [], loose: false },
    lines: [],
  };
  for (let i = 0; i < units.length;) i = step(cut, units, i, reading);
  endLine(cut);
  while (cut.outer.length > 0) {
    cut.frame = cut.outer.pop()!;
    endLine(cut);
  }
  return cut.lines;
}

const step: Step = (cut, units, i, reading) => {
  const char = units[i]!;
  cut.inComment = char !== "\n" && (cut.inComment || (char === "#" && cut.frame.word === undefined));
  if (char !== star && escaped(char) === undefined) return steps[cut.state](cut, units, i, reading);
  push(cut, escaped(char) ?? char);
  return i + 1;
};

const bare: Step = (cut, units, i, reading) => {
  const char = units[i] as string;
  const next = units[i + 1];
  switch (char) {
    case "\\":
      return escape(cut, units, i, reading);
    case "'":
    case '"':
      if (reading.quotes) quote(cut, char);
      break;
    case "$":
      if (next !== "(" && next !== "{" && next !== "'" && next !== '"') push(cut, char);
      break;
    case "(":
    case "{":
    case "`":
      substitute(cut, char, units[i - 1]);
      break;
    case ")":
    case "}":
      leave(cut, char);
      break;
    case ";":
    case "|":
    case "\n":
      endLine(cut);
      break;
    case "<":
    case ">":
      return redirect(cut, units, i);
    case "&":
      if (next === ">") return redirect(cut, units, i);
      endLine(cut);
      break;
    default:
      if (char <= " " || /^\s$/u.test(char)) endWord(cut);
      else push(cut, char);
  }
  return i + 1;
};

const inSingleQuotes: Step = (cut, units, i) => {
  const char = units[i]!;
  if (char === "'") cut.state = "bare";
  else push(cut, char);
  return i + 1;
};

const inDoubleQuotes: Step = (cut, units, i) => {
  const char = units[i]!;
  const next = units[i + 1];
  if (char === '"') cut.state = "bare";
  else if (char === "\\" && next !== undefined && '"$`\\'.includes(String(next))) {
    push(cut, next);
    return i + 2;
  } else push(cut, char);
  return i + 1;
};

const steps: Record<State, Step> = {
  bare,
  "in single quotes": inSingleQuotes,
  "in double quotes": inDoubleQuotes,
};

const escape: Step = (cut, units, i, { quotes, joins }) => {
  const next = units[i + 1];
  if (next === "\n") return i + (joins === "always" || (joins === "outside comments" && !cut.inComment) ? 2 : 1);
  if (!quotes || next === undefined) return i + 1;
  push(cut, next);
  return i + 2;
};

/** A quote begins a word, also an empty one. */
function quote(cut: Cut, char: string): void {
  cut.state = char === "'" ? "in single quotes" : "in double quotes";
  cut.frame.word ??= [];
}

function substitute(cut: Cut, char: string, before: Glob[number] | undefined): void {
  const closer = char === "(" ? ")" : char === "{" ? "}" : "`";
  if (closer === "`" && cut.open["`"]! > 0) return leave(cut, closer);
  const subshell = char === "(" && !["$", "<", ">"].includes(String(before));
  if (subshell) endWord(cut);
  else push(cut, "$");
  enter(cut, closer);
}

function redirect(cut: Cut, units: Glob, i: number): number {
  const { frame } = cut;
  if (frame.word?.every((digit) => typeof digit === "string" && digit >= "0" && digit <= "9")) frame.word = undefined;
  endWord(cut);
  frame.broken = true;
  endPiece(cut, true);
  let after = i + 1;
  while (typeof units[after] === "string" && "<>&|".includes(units[after] as string)) after++;
  frame.target = units[after] !== "(";
  return after;
}

function push({ frame }: Cut, char: Token[number]): void {
  (frame.word ??= []).push(char);
}

function endWord({ frame, piece }: Cut): void {
  if (frame.word === undefined) return;
  piece.words.push(frame.word);
  if (!frame.target) frame.line.push(frame.word);
  frame.target = false;
  frame.word = undefined;
}

function endPiece(cut: Cut, loose: boolean): void {
  if (cut.frame.broken) emit(cut, cut.piece);
  cut.piece = { words: [], loose };
}

function endLine(cut: Cut): void {
  endWord(cut);
  endPiece(cut, false);
  emit(cut, { words: cut.frame.line, loose: false });
  cut.frame = newFrame(cut.frame.closer);
}

function enter(cut: Cut, closer: string): void {
  cut.frame.broken = true;
  endPiece(cut, false);
  cut.outer.push(cut.frame);
  cut.open[closer]!++;
  cut.frame = newFrame(closer);
}

function leave(cut: Cut, closer: string): void {
  if (cut.open[closer] === 0) return endLine(cut);
  for (let left = ""; left !== closer;) {
    endLine(cut);
    left = cut.frame.closer;
    cut.open[left]!--;
    cut.frame = cut.outer.pop()!;
  }
  cut.piece = { words: [], loose: true };
}

function emit(cut: Cut, line: Line): void {
  if (line.words.length > 0) cut.lines.push(line);
}

function newFrame(closer: string): Frame {
  return { closer, line: [], word: undefined, target: false, broken: false };
}
