import type { Pool } from "pg";
import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import type { Approval, Resolution } from "../../protocol/facts/request.ts";
import { approvalKeys, movedKeys, resolvedKey, splitRequestId } from "../../protocol/key.ts";
import { reason, type Reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Ledger, Standing, Written } from "../replica/ledger.ts";
import { REMOVED } from "../store/housekeeping.ts";
import { stored } from "../database/row.ts";
import type { Appended, InboundFact } from "../store/store.ts";
import { addressOf, inTransaction } from "./pool.ts";
import { postgresArchive } from "./postgres-archive.ts";
import { factOf, splitData, type Ask, type Asking, type Asks, type CellsOf, type FactRow } from "./cells.ts";
import { explained, explainedFor } from "./error.ts";
import { prepare } from "./tables.ts";

type PostgresOptions = {
  /** Id of this process in the `process` table. */ process: string;
  /** A worker writes what runs do and nothing in a person's name: the database sees to that. */ as?:
    | "worker"
    | "gateway";
  /** Told in the transaction of an inbound fact that nobody runs its session. */
  wake?(asks: Asks, session: string, place: string): Promise<void>;
  /** Told where a newer Sage has prepared the database: it serves this one too, which should be updated. */
  note?(why: Reason): void;
};

/** The ledger on PostgreSQL: facts under keys, fenced by the epoch, each session a chain of hashes. */
export async function postgresLedger(pool: Pool, options: PostgresOptions): Promise<Ledger> {
  const where = addressOf(pool);
  const journal = await prepare(pool, options.note);
  const ask = asker(where);
  const asking: Asking = { pool, ask, cells: cellsIn(pool, ask) };
  return {
    journal,
    ...leases(asking, options.process),
    ...writing(asking, where, options),
    ...reading(asking),
    ...postgresArchive(asking),
    close: () => pool.end(),
  };
}

function asker(where: string): Ask {
  return async <R extends object>(asks: Asks, text: string, values: unknown[] = []) => {
    try {
      return (await asks.query<R>({ text, values, name: text.length < 60 ? text : text.slice(0, 40) + text.length }))
        .rows;
    } catch (error) {
      throw explained(where, error);
    }
  };
}

function cellsIn(pool: Pool, ask: Ask): CellsOf {
  return (session, after, { types, without = [], limit } = {}) =>
    ask<FactRow>(
      pool,
      "SELECT f.seq, f.key, f.type, f.at, f.data, f.hash, l.data AS long FROM sage.fact f LEFT JOIN sage.long l USING (session, key) WHERE session=$1 AND seq>$2 AND type<>ALL($3) AND ($4::text[] IS NULL OR type=ANY($4)) ORDER BY seq LIMIT $5",
      [session, after, without, types ?? null, limit ?? null],
    );
}

/** Begins a session, and says which process may write what its turns do. */
function leases({ pool, ask }: Asking, process: string): Pick<Ledger, "create" | "take" | "release"> {
  return {
    async create(session, opened, place) {
      const [data, long] = splitData(opened);
      const [row] = await ask<{ made: boolean }>(pool, "SELECT sage.create_session($1,$2,$3,$4,$5,$6) AS made", [
        session,
        place,
        opened.cwd,
        Date.now(),
        data,
        long,
      ]);
      return row?.made === true;
    },
    async take(session, { job, place, loop } = {}) {
      const [row] = await ask<{ epoch: number | null }>(pool, "SELECT sage.take($1,$2,$3,$4,$5,$6) AS epoch", [
        session,
        process,
        job?.id ?? null,
        job?.attempt ?? null,
        place ?? null,
        loop ?? null,
      ]);
      if (row && row.epoch !== null) return { epoch: row.epoch };
      const [held] = await ask<{ process: string }>(pool, "SELECT process FROM sage.session WHERE id=$1", [session]);
      if (!held) throw new SageError("session-unknown", reason("session-missing", { session }));
      throw new SageError("session-owned", reason("taken-over", { session }));
    },
    async release(session, epoch, knew) {
      const [released] = await ask<{ done: boolean }>(pool, "SELECT sage.release($1,$2,$3) AS done", [
        session,
        epoch,
        knew,
      ]);
      if (released?.done) return { again: false };
      const [row] = await ask<{ epoch: number }>(pool, "SELECT epoch FROM sage.session WHERE id=$1", [session]);
      return { again: row?.epoch === epoch };
    },
  };
}

function writing(
  asking: Asking,
  where: string,
  { as = "gateway", wake }: PostgresOptions,
): Pick<Ledger, "commit" | "append" | "appendAll" | "approve" | "beat"> {
  const { pool, ask } = asking;
  const writes = functions[as];
  const together = <T>(work: (asks: Asks) => Promise<T>): Promise<T> =>
    inTransaction(pool, work).catch((error: unknown) => {
      throw explained(where, error);
    });
  const append = async (asks: Asks, session: string, inbound: InboundFact): Promise<Appended & { before: number }> => {
    const [text, long] = splitData(inbound.data);
    const title = titleIn(inbound)?.replaceAll("\0", "\uFFFD");
    const values = [session, inbound.key, inbound.type, inbound.at, text, long, title];
    const asked = ask<AppendRow>(asks, `SELECT * FROM ${writes.append}($1,$2,$3,$4,$5,$6,$7)`, values);
    const [row] = await explainedFor(session, asked);
    if (!row) throw new Error("append_fact gave no row");
    const appended = appendedOf(session, inbound, row);
    if (row.won && row.owner === null && wakes.has(inbound.type)) await wake?.(asks, session, row.at_place);
    return appended;
  };
  return {
    async beat(place, opens) {
      if (place === "") await ask(pool, "SELECT sage.gateway_beat()");
      else await ask(pool, "SELECT sage.worker_beat($1,$2)", [place, opens]);
    },
    async commit(session, epoch, { number, facts, unheard, knew }) {
      const data = facts.map((fact) => splitData(fact.data));
      const values = [
        session,
        epoch,
        number,
        facts.map(({ key }) => key),
        facts.map(({ type }) => type),
        facts.map(({ at }) => at),
        data.map(([text]) => text),
        data.map(([, long]) => long),
        unheard,
        knew,
      ];
      const asked = ask<{ numbers: string[]; before: string }>(
        pool,
        `SELECT * FROM ${writes.commit}($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)`,
        values,
      );
      const [row] = await explainedFor(session, asked);
      return { numbers: (row?.numbers ?? []).map(Number), before: Number(row?.before) };
    },
    append: (session, fact) =>
      wake && wakes.has(fact.type) ? together((asks) => append(asks, session, fact)) : append(pool, session, fact),
    appendAll: (session, facts) =>
      together(async (asks) => {
        const written: (Appended & { before: number })[] = [];
        for (const fact of facts) written.push(await append(asks, session, fact));
        return written;
      }),
    approve: (session, approval, conclude) =>
      together(async (asks) => {
        const { key } = splitRequestId(approval.data.requestId);
        await ask(asks, "SELECT sage.lock_session($1)", [session]);
        const ended = await readResolution(ask, asks, session, key);
        if (ended) return { won: false, approvals: await approvalsOf(ask, asks, session, key), ended, written: [] };
        const first = await append(asks, session, approval);
        const approvals = await approvalsOf(ask, asks, session, key);
        const ending = conclude(approvals);
        const second = ending && (await append(asks, session, ending));
        const written: Written[] = [first, ...(second ? [second] : [])].filter(({ won }) => won);
        return { won: first.won, approvals, ...(ending && { ended: ending.data }), written };
      }),
  };
}

/** The title that a fact gives its session. */
function titleIn({ type, data }: InboundFact): string | undefined {
  if (type === "user.said") return data.text.slice(0, 200);
  return type === "session.titled" ? data.title : undefined;
}

/** The fact stored under the key: this one, or an earlier winner. */
function appendedOf(session: string, inbound: InboundFact, row: AppendRow): Appended & { before: number } {
  const { won, had_type: type, had_at: at, had_data: data } = row;
  const [seq, before] = [Number(row.seq), Number(row.before)];
  if (won) return { won, before, fact: { session, seq, ...inbound } };
  const had = { session, seq, key: inbound.key, type: type as FactType, at: Number(at), data: data ?? "" };
  return { won, before, fact: stored(had) };
}

async function readResolution(ask: Ask, asks: Asks, session: string, key: string): Promise<Resolution | undefined> {
  const [row] = await ask<{ data: string }>(
    asks,
    "SELECT coalesce(l.data, f.data) AS data FROM sage.fact f LEFT JOIN sage.long l USING (session, key) WHERE session=$1 AND key=$2 AND type='input.resolved'",
    [session, resolvedKey(key)],
  );
  return row && (JSON.parse(row.data) as Resolution);
}

async function approvalsOf(ask: Ask, asks: Asks, session: string, key: string): Promise<Approval[]> {
  const { prefix, end } = approvalKeys(key);
  const rows = await ask<{ data: string }>(
    asks,
    "SELECT coalesce(l.data, f.data) AS data FROM sage.fact f LEFT JOIN sage.long l USING (session, key) WHERE session=$1 AND key>=$2 AND key<$3 AND type='input.approved' ORDER BY seq",
    [session, prefix, end],
  );
  return rows.map(({ data }) => JSON.parse(data) as Approval);
}

function reading({ pool, ask, cells }: Asking): Pick<Ledger, "read" | "standing" | "open" | "moves" | "beats"> {
  const facts = async <T extends FactType>(which: string, values: unknown[] = []) =>
    (
      await ask<FactRow & { session: string }>(
        pool,
        `SELECT f.session, f.seq, f.key, f.type, f.at, f.data, f.hash, l.data AS long FROM ${which}`,
        values,
      )
    ).map((row) => factOf(row.session, row) as Fact<T>);
  return {
    read: async (session, after, options) => (await cells(session, after, options)).map((row) => factOf(session, row)),
    async standing(session) {
      const rows = await ask<SessionCells>(
        pool,
        `SELECT s.*, EXISTS (SELECT 1 FROM sage.process p WHERE p.id=s.process) AS owned FROM sage.session s WHERE id<>$1 ${session === undefined ? "ORDER BY last_at DESC" : "AND id=$2"}`,
        session === undefined ? [REMOVED] : [REMOVED, session],
      );
      return rows.map(toStanding);
    },
    open: (place) =>
      facts(
        "sage.ask a JOIN sage.session s ON s.id = a.session JOIN sage.fact f USING (session, key) LEFT JOIN sage.long l USING (session, key) WHERE $1::text IS NULL OR s.place = $1 ORDER BY a.at, a.session, a.seq",
        [place ?? null],
      ),
    moves: () =>
      facts(
        "sage.fact f LEFT JOIN sage.long l USING (session, key) WHERE f.session IN (SELECT session FROM sage.ask) AND f.type = 'time.moved' AND f.key >= $1 AND f.key < $2 ORDER BY f.session, f.seq",
        [movedKeys.from, movedKeys.end],
      ),
    async beats() {
      const rows = await ask<{ place: string; at: string }>(pool, "SELECT place, at FROM sage.enforcer");
      return new Map(rows.map(({ place, at }) => [place, Number(at)]));
    },
  };
}

type AppendRow = {
  won: boolean;
  before: string;
  seq: string;
  owner: string | null;
  at_place: string;
  had_type: string | null;
  had_at: string | null;
  had_data: string | null;
};
type SessionCells = {
  id: string;
  place: string;
  cwd: string;
  title: string;
  at: string;
  last_at: string;
  open: number;
  loop: number;
  seq: string;
  owned: boolean;
};

const functions = {
  worker: { commit: "sage.worker_commit", append: "sage.worker_append" },
  gateway: { commit: "sage.commit_facts", append: "sage.append_fact" },
} as const;

const wakes: ReadonlySet<FactType> = new Set(["user.said", "input.resolved", "turn.interrupted", "inquiry.made"]);

function toStanding({ id, place, cwd, title, at, last_at, open, loop, seq, owned }: SessionCells): Standing {
  return {
    id,
    place,
    cwd,
    title,
    at: Number(at),
    lastAt: Number(last_at),
    open: open === 1,
    loop: open === 1 ? loop : 0,
    unheard: open === 2,
    owned,
    seq: Number(seq),
  };
}
