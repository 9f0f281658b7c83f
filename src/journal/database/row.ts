import { hash } from "node:crypto";
import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Database } from "./database.ts";

export type Row = { seq: number; session: string; key: string; type: FactType; at: number; data: string };

/** Columns of the `fact` table, in the order of `Cells`. */
export const columnsOfSession = "seq, key, type, at, data, hash";
/** The same where the rows are of several sessions. */
export const columns = `${columnsOfSession}, session`;

/** A row as an array: a session that is opened is thousands of them. */
export type Cells = readonly [
  ...[seq: number, key: string, type: FactType, at: number, data: string, hash: string],
  session?: string,
];

/** The fact in a row, with its data wherever that lies. */
export function factIn(all: Database["all"], cells: Cells, session = cells[6] ?? ""): Fact {
  const [seq, key, type, at, data] = cells;
  const text = isPointer(data) ? longData(all, { session, key }) : data;
  return new Stored(seq, session, key, interned(type), at, text) as unknown as Fact;
}

/** SQLite gives every row strings of its own. One for all facts of a type takes less memory, and is compared at once. */
const names = new Map<FactType, FactType>();
function interned(type: FactType): FactType {
  const known = names.get(type);
  if (known === undefined) names.set(type, type);
  return known ?? type;
}

/** Finds the data of a fact that is too long for its row; empty when it is gone, which is no JSON either. */
type LongOf = (where: Pick<Row, "session" | "key">) => string;

/** Longer data goes to a separate table; the row has its hash instead, behind a mark that no JSON begins with. */
const MAX_INLINE_LENGTH = 32_000;
export const MARK = "~";

/** Content of a fact's row: the data itself, or its hash where the data is long. */
export function inlineFor(data: string): string {
  return data.length > MAX_INLINE_LENGTH ? pointerTo(data) : data;
}

/** The row with its data, wherever that lies. */
export function whole<R extends Row>(all: Database["all"], row: R): R {
  return isPointer(row.data) ? { ...row, data: longData(all, row) } : row;
}

/** The first record whose hash does not follow from the previous one, or whose long data was changed. */
export function firstBroken(
  longOf: LongOf,
  session: string,
  rows: readonly Cells[],
  head: string,
): { seq: number; key: string } | undefined {
  let hashed = session;
  for (const [seq, key, type, at, data, hash] of rows) {
    hashed = link(hashed, key, type, at, data);
    const isSound = hashed === hash && (!isPointer(data) || pointerTo(longOf({ session, key })) === data);
    if (!isSound) return { seq, key };
  }
  return hashed === head ? undefined : { seq: (rows.at(-1)?.[0] ?? 0) + 1, key: "(the last records are missing)" };
}

function pointerTo(data: string): string {
  return MARK + hash("sha256", data, "base64url");
}

export function isPointer(data: string): boolean {
  return data.startsWith(MARK);
}

function longData(all: Database["all"], { session, key }: Pick<Row, "session" | "key">): string {
  const [found] = all<{ data: string }>("SELECT data FROM long WHERE session=? AND key=?", session, key);
  return found?.data ?? "";
}

export const longIn =
  (all: Database["all"]): LongOf =>
  (where) =>
    longData(all, where);

/** Each record's hash covers the one before it, so a changed or missing record is found out. */
export function chain(
  head: string,
  { key, type, at }: { key: string; type: string; at: number },
  data: string,
): string {
  return link(head, key, type, at, data);
}

function link(head: string, key: string, type: string, at: number, data: string): string {
  return hash("sha256", `${head}\n${key}\n${type}\n${at}\n${data}`, "base64url");
}

function parse({ seq, session, key }: Pick<Row, "seq" | "session" | "key">, data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new SageError("journal-damaged", reason("record-damaged", { seq, key, session }), { cause: error });
  }
}

/** Most facts are only checked for existence: data is parsed on first use. */
export function stored({ seq, session, key, type, at, data }: Row): Fact {
  return new Stored(seq, session, key, type, at, data) as unknown as Fact;
}

class Stored {
  readonly seq: number;
  readonly session: string;
  readonly key: string;
  readonly type: FactType;
  readonly at: number;
  #raw: string | undefined;
  #data: unknown;
  constructor(seq: number, session: string, key: string, type: FactType, at: number, raw: string) {
    this.seq = seq;
    this.session = session;
    this.key = key;
    this.type = type;
    this.at = at;
    this.#raw = raw;
  }
  get data(): unknown {
    if (this.#raw !== undefined) {
      this.#data = parse(this, this.#raw);
      this.#raw = undefined;
    }
    return this.#data;
  }
  /** A fact that goes over a socket or into an export is plain data again. */
  toJSON(): unknown {
    return { seq: this.seq, session: this.session, key: this.key, type: this.type, at: this.at, data: this.data };
  }
}
