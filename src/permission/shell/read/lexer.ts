import { reason } from "../../../protocol/reasons/reason.ts";
import { isDelimiter, take, unclear, Unclear, type Cursor, type Heredoc } from "./cursor.ts";
import type { Closer, Item } from "./script.ts";
import { takeBody, takeWord, type Word } from "./word.ts";

/** Blanks and a comment. */
export function skipBlanks(cursor: Cursor): void {
  while (cursor.text[cursor.at] === " " || cursor.text[cursor.at] === "\t") cursor.at++;
  if (cursor.text[cursor.at] !== "#") return;
  // In backticks a comment ends with them, which other readers see otherwise.
  if (cursor.ticks > 0) throw unclear("comment-in-backticks");
  const end = cursor.text.indexOf("\n", cursor.at);
  cursor.at = end < 0 ? cursor.text.length : end;
}

/** A line break, and the here-documents that begin after it. */
export function takeNewline(cursor: Cursor): boolean {
  if (cursor.text[cursor.at] !== "\n") return false;
  cursor.at++;
  for (const { delimiter, tabs, raw, heredoc } of cursor.pending.splice(0)) {
    const end = heredocEnd(cursor, delimiter, tabs);
    heredoc.text = cursor.text.slice(cursor.at, end.line);
    if (!raw) takeBody(cursor, end.line, heredoc);
    cursor.at = end.at;
    cursor.marks.push(`${end.at - delimiter.length}-${end.at}`);
  }
  return true;
}

function heredocEnd({ text, at }: Cursor, delimiter: string, tabs: boolean): { line: number; at: number } {
  for (let line = at; ;) {
    const end = text.indexOf("\n", line);
    const whole = text.slice(line, end < 0 ? text.length : end);
    if ((tabs ? whole.replace(/^\t+/, "") : whole) === delimiter) return { line, at: line + whole.length };
    if (end < 0) throw unclear("heredoc-open");
    line = end + 1;
  }
}

/** Takes the end of a script, if it is here. The keywords that end a part of a compound command are left to their reader. */
export function takeCloser(cursor: Cursor, closer: Closer): boolean {
  const isEnd = cursor.at >= cursor.text.length;
  if (isEnd && closer !== "") throw new Unclear(reason("token-missing", { token: closer }));
  if (closer.length > 1) {
    if (!closer.split("|").some((word) => isToken(cursor, word))) return false;
    if (cursor.pending.length > 0) throw unclear("heredoc-late");
    return true;
  }
  if (closer === "}" ? !takeToken(cursor, "}") : !isEnd && cursor.text[cursor.at] !== closer) return false;
  if (closer === ")" || closer === "`") cursor.at++;
  if (cursor.pending.length > 0) throw unclear("heredoc-late");
  return true;
}

function isToken(cursor: Cursor, word: string): boolean {
  const end = cursor.at + word.length;
  return cursor.text.startsWith(word, cursor.at) && isDelimiter(cursor, end) && cursor.text[end] !== "(";
}

export function isAtEnd({ text, at }: Cursor, closer: Closer): boolean {
  if (closer === ";;|esac" && text.startsWith(";;", at)) return true;
  return at >= text.length || text[at] === "\n" || ((closer === ")" || closer === "`") && text[at] === closer);
}

export function takeOperator(cursor: Cursor): Item["op"] | undefined {
  const two = cursor.text.slice(cursor.at, cursor.at + 2);
  if (two === "&&" || two === "||" || two === "|&") return take(cursor, 2) as Item["op"];
  if (two === "&>") return undefined;
  if (two === ";;" || two === ";&") throw new Unclear(reason("token-not-understood", { token: two }));
  const char = cursor.text[cursor.at];
  return char === ";" || char === "&" || char === "|" ? (take(cursor, 1) as Item["op"]) : undefined;
}

/** `!`, `{`, `}` and keywords count only where they stand alone. */
export function takeToken(cursor: Cursor, name: string): boolean {
  const end = cursor.at + name.length;
  const next = cursor.text[end] ?? "\n";
  if (!cursor.text.startsWith(name, cursor.at) || !isDelimiter(cursor, end) || "(<>".includes(next)) return false;
  take(cursor, name.length);
  return true;
}

export function takeOpener(cursor: Cursor): "(" | "{" | undefined {
  if (cursor.text[cursor.at] !== "(") return takeToken(cursor, "{") ? "{" : undefined;
  if (cursor.text[cursor.at + 1] === "(") throw unclear("arithmetic");
  take(cursor, 1);
  return "(";
}

/** With the number before it, if it has one. */
export function takeRedirection(cursor: Cursor): string | undefined {
  const found = /^(\d{0,9})(<<<|<<-|<<|<>|<&|>&|>>|>\||<|>)|^&>>?/.exec(cursor.text.slice(cursor.at, cursor.at + 12));
  if (found === null) return undefined;
  const op = found[2] ?? found[0];
  if (cursor.text[cursor.at + found[0].length] === "(") {
    if (found[0] === "<") return undefined; // a word: the output of a command under the name of a file
    throw unclear("process-substitution");
  }
  cursor.at += found[0].length;
  // `>&-` closes, and names nothing.
  if (!op.endsWith("&") || cursor.text[cursor.at] !== "-" || !isDelimiter(cursor, cursor.at + 1)) return op;
  cursor.at++;
  return `${op}-`;
}

// Delimiters in any other quoting are not read.
const plainDelimiter = /^(\\?[\w.+-]+|'[\w.+ -]+'|"[\w.+ -]+")$/;

export function takeDelimiter(cursor: Cursor, tabs: boolean): { target: Word; heredoc: Heredoc } {
  const target = takeWord(cursor);
  const source = cursor.text.slice(target?.start, target?.end);
  if (target?.text === undefined || !plainDelimiter.test(source)) throw unclear("heredoc-delimiter");
  if (cursor.pending.length > 0) throw unclear("heredocs-on-one-line");
  if (cursor.ticks > 0) throw unclear("heredoc-in-backticks");
  const raw = /['"\\]/.test(source);
  const heredoc: Heredoc = { scripts: [], literal: true, text: "", pieces: [] };
  cursor.pending.push({ delimiter: target.text, tabs, raw, heredoc });
  return { target, heredoc };
}
