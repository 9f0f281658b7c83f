import { escaped, star } from "../../text/wild.ts";
import type { Glob } from "../../text/wild.ts";
import type { Token } from "../../text/tokens.ts";

/** Words that may be a command. `loose`: the first of them may belong to what came before. */
export type Line = { words: Token[]; loose: boolean };

type Reading = {
  /** False: quotes and backslashes are as good as absent, so that scripts inside quotes are seen too. */
  quotes: boolean;
  /** Where backslash-newline joins two lines. In a comment it does not, but what seems a comment may be none. */
  joins: "always" | "outside comments" | "never";
};

type Frame = { closer: string; line: Token[]; word: Token | undefined; target: boolean; broken: boolean };

/**
 * Cuts text into everything that may plausibly run, at every operator and every opener of a substitution.
 * A line that a substitution or a redirection interrupts is told twice: joined across the gap, and in its pieces.
 */
export function linesOf(text: Glob, { quotes, joins }: Reading): Line[] {
  const units = quotes ? text : text.map((unit) => escaped(unit) ?? unit);
  const lines: Line[] = [];
  const open: Record<string, number> = { ")": 0, "}": 0, "`": 0 };
  let frame = newFrame("");
  const outer: Frame[] = [];
  let piece: Line = { words: [], loose: false };
  let quote: string | undefined;
  let inComment = false;

  const emit = (line: Line) => void (line.words.length > 0 && lines.push(line));
  const push = (char: Token[number]) => void (frame.word ??= []).push(char);
  const endWord = () => {
    if (frame.word === undefined) return;
    piece.words.push(frame.word);
    if (!frame.target) frame.line.push(frame.word);
    frame.target = false;
    frame.word = undefined;
  };
  const endPiece = (loose: boolean) => {
    if (frame.broken) emit(piece);
    piece = { words: [], loose };
  };
  const endLine = () => {
    endWord();
    endPiece(false);
    emit({ words: frame.line, loose: false });
    frame = newFrame(frame.closer);
  };
  const enter = (closer: string) => {
    frame.broken = true;
    endPiece(false);
    outer.push(frame);
    open[closer]!++;
    frame = newFrame(closer);
  };
  const leave = (closer: string) => {
    if (open[closer] === 0) return endLine();
    for (let left = ""; left !== closer;) {
      endLine();
      left = frame.closer;
      open[left]!--;
      frame = outer.pop()!;
    }
    piece = { words: [], loose: true };
  };

  for (let i = 0; i < units.length; i++) {
    const char = units[i]!;
    const next = units[i + 1];
    inComment = char !== "\n" && (inComment || (char === "#" && frame.word === undefined));
    if (char === star || escaped(char) !== undefined) push(escaped(char) ?? char);
    else if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else if (char === "\\" && quote === '"' && next !== undefined && '"$`\\'.includes(String(next)))
        push(units[++i]!);
      else push(char);
    } else if (char === "\\") {
      if (next === "\n") i += joins === "always" || (joins === "outside comments" && !inComment) ? 1 : 0;
      else if (quotes && next !== undefined) push(units[++i]!);
    } else if (char === "'" || char === '"') {
      if (quotes) {
        quote = char;
        frame.word ??= [];
      }
    } else if (char === "$") {
      if (next !== "(" && next !== "{" && next !== "'" && next !== '"') push(char);
    } else if (char === "(" || char === "{" || char === "`") {
      const closer = char === "(" ? ")" : char === "{" ? "}" : "`";
      if (closer === "`" && open["`"]! > 0) {
        leave(closer);
        continue;
      }
      const subshell = char === "(" && !["$", "<", ">"].includes(String(units[i - 1]));
      if (subshell) endWord();
      else push("$");
      enter(closer);
    } else if (char === ")" || char === "}") leave(char);
    else if (char === "<" || char === ">" || (char === "&" && next === ">")) {
      if (frame.word?.every((digit) => typeof digit === "string" && digit >= "0" && digit <= "9"))
        frame.word = undefined;
      endWord();
      frame.broken = true;
      endPiece(true);
      while (typeof units[i + 1] === "string" && "<>&|".includes(units[i + 1] as string)) i++;
      frame.target = units[i + 1] !== "(";
    } else if (char === ";" || char === "&" || char === "|" || char === "\n") endLine();
    else if (char <= " " || /^\s$/u.test(char)) endWord();
    else push(char);
  }
  endLine();
  while (outer.length > 0) {
    frame = outer.pop()!;
    endLine();
  }
  return lines;
}

function newFrame(closer: string): Frame {
  return { closer, line: [], word: undefined, target: false, broken: false };
}
