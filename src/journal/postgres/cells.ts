import type { Pool, PoolClient } from "pg";
import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import type { Ledger } from "../replica/ledger.ts";
import { inlineFor, isPointer, stored } from "../database/row.ts";

/** A pool, or one connection in a transaction. */
export type Asks = Pick<PoolClient, "query">;

export type Ask = <R extends object>(asks: Asks, text: string, values?: unknown[]) => Promise<R[]>;
export type CellsOf = (...which: Parameters<Ledger["read"]>) => Promise<FactRow[]>;

/** The ways in which parts of a ledger ask the server. */
export type Asking = { pool: Pool; ask: Ask; cells: CellsOf };

export type FactRow = {
  seq: string;
  key: string;
  type: string;
  at: string;
  data: string;
  hash: string;
  long: string | null;
};

/** Long data is in a separate table. */
export function splitData(data: unknown): [inline: string, long: string | null] {
  const text = JSON.stringify(data);
  const inline = inlineFor(text);
  return [inline, inline === text ? null : text];
}

export function factOf(session: string, { seq, key, type, at, data, long }: FactRow): Fact {
  return stored({
    session,
    seq: Number(seq),
    key,
    type: type as FactType,
    at: Number(at),
    data: isPointer(data) ? (long ?? "") : data,
  });
}
