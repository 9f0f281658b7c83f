import { hash } from "node:crypto";
import { reason, type Fact, type FactType } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";
import type { Database } from "./database.ts";

/** A fact as it lies in the database. */
export type Row = { seq: number; session: string; key: string; type: FactType; at: number; data: string };

export type HashedRow = Row & { hash: string };

/** Columns of the `fact` table, in the order of `rowOf`. */
export const columns = "seq, session, key, type, at, data, hash";

export function rowOf([seq, session, key, type, at, data, hash]: readonly unknown[]): HashedRow {
  return { seq, session, key, type, at, data, hash } as HashedRow;
}

/** Longer data lies in a table of its own; in its place stands its hash, behind a mark that no JSON begins with. */
const LONGEST_INLINE = 32_000;
const MARK = "~";

/** Content of a fact's row: the data itself, or its hash where the data is long. */
export function inlineFor(data: string): string {
  return data.length > LONGEST_INLINE ? pointerTo(data) : data;
}

/** The row with its data, wherever that lies. */
export function whole<R extends Row>(all: Database["all"], row: R): R {
  return isPointer(row.data) ? { ...row, data: longData(all, row) } : row;
}

/** The first record whose hash does not follow from the one before, or whose long data is not as it was written. */
export function firstBroken(
  all: Database["all"],
  session: string,
  rows: readonly HashedRow[],
  head: string,
): { seq: number; key: string } | undefined {
  let hashed = session;
  for (const row of rows) {
    hashed = chain(hashed, row, row.data);
    const isSound = hashed === row.hash && (!isPointer(row.data) || pointerTo(longData(all, row)) === row.data);
    if (!isSound) return { seq: row.seq, key: row.key };
  }
  return hashed === head ? undefined : { seq: (rows.at(-1)?.seq ?? 0) + 1, key: "(the last records are missing)" };
}

function pointerTo(data: string): string {
  return MARK + hash("sha256", data, "base64url");
}

function isPointer(data: string): boolean {
  return data.startsWith(MARK);
}

/** Empty when it is gone, which is no JSON either. */
function longData(all: Database["all"], { session, key }: Row): string {
  const [found] = all<{ data: string }>("SELECT data FROM long WHERE session=? AND key=?", session, key);
  return found?.data ?? "";
}

/** Each record's hash covers the one before it, so a changed or missing record is found out. */
export function chain(
  head: string,
  { key, type, at }: { key: string; type: string; at: number },
  data: string,
): string {
  return hash("sha256", `${head}\n${key}\n${type}\n${at}\n${data}`, "base64url");
}

export function parse({ seq, session, key }: Pick<Row, "seq" | "session" | "key">, data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw errorBecause("journal-damaged", reason("record-damaged", { seq, key, session }), { cause: error });
  }
}

/** Most facts are only asked whether they exist: their data is parsed when it is looked at. */
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
