import type { Construct } from "../../../protocol/reasons/permission.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { Closer, Script } from "./script.ts";
import type { Piece } from "./word.ts";

/** The text is not understood: a reason to ask, never a failure. */
export class Unclear extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason.code);
    this.reason = reason;
  }
}

export function unclear(construct: Construct): Unclear {
  return new Unclear(reason("not-understood", { construct }));
}

/** Position of the reader in a command line, and what it has seen so far. */
export type Cursor = {
  readonly text: string;
  readonly home: string;
  /** Reads a script up to its closer; the one who meets its opener calls this. */
  readonly script: (cursor: Cursor, closer: Closer) => Script;
  at: number;
  /** How many backticks are open, and how many scripts. */
  ticks: number;
  depth: number;
  /** The place of every word, operator and substitution. */
  readonly marks: string[];
  readonly pending: PendingHeredoc[];
};

/** A here-document whose body comes after the line. */
type PendingHeredoc = { delimiter: string; tabs: boolean; raw: boolean; heredoc: Heredoc };

/** `literal`: nothing in it is replaced when it runs. `pieces`: what it is made of, unless it is literal. */
export type Heredoc = { scripts: Script[]; literal: boolean; text: string; pieces: readonly Piece[] };

export function openCursor(text: string, home: string, script: Cursor["script"]): Cursor {
  return { text, home, script, at: 0, ticks: 0, depth: 0, marks: [], pending: [] };
}

export function mark({ marks, at }: Cursor, start: number): void {
  marks.push(`${start}-${at}`);
}

/** Takes an operator. */
export function take(cursor: Cursor, length: number): string {
  const start = cursor.at;
  cursor.at += length;
  mark(cursor, start);
  return cursor.text.slice(start, cursor.at);
}

/** True where a word ends. */
export function isDelimiter({ text, ticks }: Cursor, at: number): boolean {
  const char = text[at];
  return char === undefined || " \t\n;&|<>()".includes(char) || (char === "`" && ticks > 0);
}
