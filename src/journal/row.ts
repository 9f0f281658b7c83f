import { hash } from "node:crypto";
import { SageError, type Fact, type FactType } from "../protocol/index.ts";

/** A fact as it lies in the database. */
export type Row = { seq: number; session: string; key: string; type: FactType; at: number; data: string };

/** The first record whose hash does not follow from the one before, if any. */
export function firstBroken(session: string, rows: readonly (Row & { hash: string })[], head: string) {
  let hashed = session;
  for (const fact of rows) {
    hashed = chain(hashed, fact, fact.data);
    if (hashed !== fact.hash) return { seq: fact.seq, key: fact.key };
  }
  return hashed === head ? undefined : { seq: (rows.at(-1)?.seq ?? 0) + 1, key: "(the last records are missing)" };
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
    const what = `record ${seq} (${key}) of session ${session} is damaged and cannot be read`;
    throw new SageError("journal-damaged", `${what}; \`sage doctor\` looks at the whole journal`, { cause: error });
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
