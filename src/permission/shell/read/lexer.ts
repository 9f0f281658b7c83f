import { isDelimiter, take, Unclear } from "./cursor.ts";
import type { Cursor, Heredoc } from "./cursor.ts";
import type { Closer, Item } from "./script.ts";
import { takeBody, takeWord } from "./word.ts";
import type { Word } from "./word.ts";

/** Blanks and a comment. */
export function skipBlanks(c: Cursor): void {
  while (c.text[c.at] === " " || c.text[c.at] === "\t") c.at++;
  if (c.text[c.at] !== "#") return;
  // In backticks a comment ends with them, which other readers see otherwise.
  if (c.ticks > 0) throw new Unclear("a comment inside backticks");
  const end = c.text.indexOf("\n", c.at);
  c.at = end < 0 ? c.text.length : end;
}

/** A line break, and the here-documents that begin after it. */
export function takeNewline(c: Cursor): boolean {
  if (c.text[c.at] !== "\n") return false;
  c.at++;
  for (const { delimiter, tabs, raw, heredoc } of c.pending.splice(0)) {
    const end = endOf(c, delimiter, tabs);
    if (!raw) takeBody(c, end.line, heredoc);
    c.at = end.at;
    c.marks.push(`${end.at - delimiter.length}-${end.at}`);
  }
  return true;
}

function endOf({ text, at }: Cursor, delimiter: string, tabs: boolean): { line: number; at: number } {
  for (let line = at; ;) {
    const end = text.indexOf("\n", line);
    const whole = text.slice(line, end < 0 ? text.length : end);
    if ((tabs ? whole.replace(/^\t+/, "") : whole) === delimiter) return { line, at: line + whole.length };
    if (end < 0) throw new Unclear("a here-document has no end");
    line = end + 1;
  }
}

/** Whether a script ends here, with its closer taken. */
export function takeCloser(c: Cursor, closer: Closer): boolean {
  const isEnd = c.at >= c.text.length;
  if (isEnd && closer !== "") throw new Unclear(`a ${closer} is missing`);
  if (closer === "}" ? !takeToken(c, "}") : !isEnd && c.text[c.at] !== closer) return false;
  if (closer === ")" || closer === "`") c.at++;
  if (c.pending.length > 0) throw new Unclear("a here-document does not begin before its command ends");
  return true;
}

export function isAtEnd({ text, at }: Cursor, closer: Closer): boolean {
  return at >= text.length || text[at] === "\n" || ((closer === ")" || closer === "`") && text[at] === closer);
}

export function takeOperator(c: Cursor): Item["op"] | undefined {
  const two = c.text.slice(c.at, c.at + 2);
  if (two === "&&" || two === "||" || two === "|&") return take(c, 2) as Item["op"];
  if (two === "&>") return undefined;
  if (two === ";;" || two === ";&") throw new Unclear(`${two} is not understood`);
  const one = c.text[c.at];
  return one === ";" || one === "&" || one === "|" ? (take(c, 1) as Item["op"]) : undefined;
}

/** `!`, `{` and `}` count only where they stand alone. */
export function takeToken(c: Cursor, name: "!" | "{" | "}"): boolean {
  const next = c.text[c.at + 1] ?? "\n";
  if (c.text[c.at] !== name || !isDelimiter(c, c.at + 1) || "(<>".includes(next)) return false;
  take(c, 1);
  return true;
}

export function takeOpener(c: Cursor): "(" | "{" | undefined {
  if (c.text[c.at] !== "(") return takeToken(c, "{") ? "{" : undefined;
  if (c.text[c.at + 1] === "(") throw new Unclear("arithmetic is not understood");
  take(c, 1);
  return "(";
}

/** With the number before it, if it has one. */
export function takeRedirection(c: Cursor): string | undefined {
  const found = /^(\d{0,9})(<<<|<<-|<<|<>|<&|>&|>>|>\||<|>)|^&>>?/.exec(c.text.slice(c.at, c.at + 12));
  if (found === null) return undefined;
  const op = found[2] ?? found[0];
  c.at += found[0].length;
  if (c.text[c.at] === "(") throw new Unclear("process substitution is not understood");
  // `>&-` closes, and names nothing.
  if (!op.endsWith("&") || c.text[c.at] !== "-" || !isDelimiter(c, c.at + 1)) return op;
  c.at++;
  return `${op}-`;
}

// What else quoting may do to a delimiter is not worth knowing.
const plainDelimiter = /^(\\?[\w.+-]+|'[\w.+ -]+'|"[\w.+ -]+")$/;

export function takeDelimiter(c: Cursor, tabs: boolean): { target: Word; heredoc: Heredoc } {
  const target = takeWord(c);
  const source = c.text.slice(target?.start, target?.end);
  if (target?.text === undefined || !plainDelimiter.test(source))
    throw new Unclear("where a here-document ends is not clear");
  if (c.pending.length > 0) throw new Unclear("several here-documents on one line");
  if (c.ticks > 0) throw new Unclear("a here-document inside backticks");
  const raw = /['"\\]/.test(source);
  const heredoc: Heredoc = { scripts: [], literal: true };
  c.pending.push({ delimiter: target.text, tabs, raw, heredoc });
  return { target, heredoc };
}
