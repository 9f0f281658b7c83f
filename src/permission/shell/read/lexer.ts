import { reason } from "../../../protocol/index.ts";
import { isDelimiter, take, unclear, Unclear } from "./cursor.ts";
import type { Cursor, Heredoc } from "./cursor.ts";
import type { Closer, Item } from "./script.ts";
import { takeBody, takeWord } from "./word.ts";
import type { Word } from "./word.ts";

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
    const end = endOf(cursor, delimiter, tabs);
    if (!raw) takeBody(cursor, end.line, heredoc);
    cursor.at = end.at;
    cursor.marks.push(`${end.at - delimiter.length}-${end.at}`);
  }
  return true;
}

function endOf({ text, at }: Cursor, delimiter: string, tabs: boolean): { line: number; at: number } {
  for (let line = at; ;) {
    const end = text.indexOf("\n", line);
    const whole = text.slice(line, end < 0 ? text.length : end);
    if ((tabs ? whole.replace(/^\t+/, "") : whole) === delimiter) return { line, at: line + whole.length };
    if (end < 0) throw unclear("heredoc-open");
    line = end + 1;
  }
}

/** Whether a script ends here, with its closer taken. */
export function takeCloser(cursor: Cursor, closer: Closer): boolean {
  const isEnd = cursor.at >= cursor.text.length;
  if (isEnd && closer !== "") throw new Unclear(reason("token-missing", { token: closer }));
  if (closer === "}" ? !takeToken(cursor, "}") : !isEnd && cursor.text[cursor.at] !== closer) return false;
  if (closer === ")" || closer === "`") cursor.at++;
  if (cursor.pending.length > 0) throw unclear("heredoc-late");
  return true;
}

export function isAtEnd({ text, at }: Cursor, closer: Closer): boolean {
  return at >= text.length || text[at] === "\n" || ((closer === ")" || closer === "`") && text[at] === closer);
}

export function takeOperator(cursor: Cursor): Item["op"] | undefined {
  const two = cursor.text.slice(cursor.at, cursor.at + 2);
  if (two === "&&" || two === "||" || two === "|&") return take(cursor, 2) as Item["op"];
  if (two === "&>") return undefined;
  if (two === ";;" || two === ";&") throw new Unclear(reason("token-not-understood", { token: two }));
  const one = cursor.text[cursor.at];
  return one === ";" || one === "&" || one === "|" ? (take(cursor, 1) as Item["op"]) : undefined;
}

/** `!`, `{` and `}` count only where they stand alone. */
export function takeToken(cursor: Cursor, name: "!" | "{" | "}"): boolean {
  const next = cursor.text[cursor.at + 1] ?? "\n";
  if (cursor.text[cursor.at] !== name || !isDelimiter(cursor, cursor.at + 1) || "(<>".includes(next)) return false;
  take(cursor, 1);
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
  cursor.at += found[0].length;
  if (cursor.text[cursor.at] === "(") throw unclear("process-substitution");
  // `>&-` closes, and names nothing.
  if (!op.endsWith("&") || cursor.text[cursor.at] !== "-" || !isDelimiter(cursor, cursor.at + 1)) return op;
  cursor.at++;
  return `${op}-`;
}

// What else quoting may do to a delimiter is not worth knowing.
const plainDelimiter = /^(\\?[\w.+-]+|'[\w.+ -]+'|"[\w.+ -]+")$/;

export function takeDelimiter(cursor: Cursor, tabs: boolean): { target: Word; heredoc: Heredoc } {
  const target = takeWord(cursor);
  const source = cursor.text.slice(target?.start, target?.end);
  if (target?.text === undefined || !plainDelimiter.test(source)) throw unclear("heredoc-delimiter");
  if (cursor.pending.length > 0) throw unclear("heredocs-on-one-line");
  if (cursor.ticks > 0) throw unclear("heredoc-in-backticks");
  const raw = /['"\\]/.test(source);
  const heredoc: Heredoc = { scripts: [], literal: true };
  cursor.pending.push({ delimiter: target.text, tabs, raw, heredoc });
  return { target, heredoc };
}
