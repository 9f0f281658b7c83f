import type { Pool } from "pg";
import {
  approvalKeys,
  reason,
  resolvedKey,
  splitRequestId,
  type Approval,
  type Fact,
  type FactType,
  type Reason,
  type Resolution,
} from "../../protocol/index.ts";
import { errorBecause } from "../../texts/error.ts";
import type { Ledger, Standing, Written } from "../ledger.ts";
import { REMOVED } from "../housekeeping.ts";
import { stored } from "../row.ts";
import type { Appended, InboundFact } from "../store.ts";
import { postgresArchive } from "./archive.ts";
import { factOf, splitData, type Ask, type Asks, type CellsOf, type FactRow } from "./cells.ts";
import { explained } from "./error.ts";
import { addressOf } from "./address.ts";
import { prepare } from "./tables.ts";

export type PostgresOptions = {
  /** Of this process in the `process` table. */ process: string;
  /** A worker writes what runs do and nothing in a person's name: the database sees to that. */ as?:
    | "worker"
    | "gateway";
  /** Told in the transaction of an inbound fact that nobody runs its session. */
  wake?(asks: Asks, session: string, place: string): Promise<void>;
  /** Told where a newer Sage has prepared the database: it serves this one too, which should be updated. */
  note?(why: Reason): void;
};

/** The ledger on PostgreSQL: facts under keys, fenced by the epoch, each session a chain of hashes. */
export async function postgresLedger(
  pool: Pool,
  { process, as = "gateway", wake, note }: PostgresOptions,
): Promise<Ledger> {
  const where = addressOf(pool);
  const writes = functions[as];
  const ask: Ask = async <R extends object>(asks: Asks, text: string, values: unknown[] = []) => {
    try {
      return (await asks.query<R>({ text, values, name: text.length < 60 ? text : text.slice(0, 40) + text.length }))
        .rows;
    } catch (error) {
      throw explained(where, error);
    }
  };
  const journal = await prepare(pool, note);

  const appendOne = async (
    asks: Asks,
    session: string,
    inbound: InboundFact,
  ): Promise<Appended & { before: number }> => {
    const [text, long] = splitData(inbound.data);
    const title =
      inbound.type === "user.said"
        ? inbound.data.text.slice(0, 200)
        : inbound.type === "session.titled"
          ? inbound.data.title
          : null;
    const values = [session, inbound.key, inbound.type, inbound.at, text, long, title?.replaceAll("\0", "\uFFFD")];
    const [row] = await known(
      session,
      ask<AppendRow>(asks, `SELECT * FROM ${writes.append}($1,$2,$3,$4,$5,$6,$7)`, values),
    );
    if (!row) throw new Error("append_fact gave no row");
    const { won, owner } = row;
    const [seq, before] = [Number(row.seq), Number(row.before)];
    if (!won) {
      const { had_type: type, had_at: at, had_data: data } = row;
      return {
        won,
        before,
        fact: stored({ session, seq, key: inbound.key, type: type as FactType, at: Number(at), data: data ?? "" }),
      };
    }
    if (owner === null && wakes.has(inbound.type)) await wake?.(asks, session, row.at_place);
    return { won, before, fact: { session, seq, ...inbound } as Fact };
  };
  /** In one transaction, on one connection. */
  const together = async <T>(work: (asks: Asks) => Promise<T>): Promise<T> => {
    const client = await pool.connect().catch((error: unknown) => {
      throw explained(where, error);
    });
    try {
      await ask(client, "BEGIN");
      const done = await work(client);
      await ask(client, "COMMIT");
      client.release();
      return done;
    } catch (error) {
      client.release(true); // whatever was begun is over with the connection
      throw error;
    }
  };
  const cells: CellsOf = (session, after, { types, without = [], limit } = {}) =>
    ask<FactRow>(
      pool,
      "SELECT f.seq, f.key, f.type, f.at, f.data, f.hash, l.data AS long FROM sage.fact f LEFT JOIN sage.long l USING (session, key) WHERE session=$1 AND seq>$2 AND type<>ALL($3) AND ($4::text[] IS NULL OR type=ANY($4)) ORDER BY seq LIMIT $5",
      [session, after, without, types ?? null, limit ?? null],
    );

  return {
    journal,
    async create(session, opened, place) {
      const [data, long] = splitData(opened);
      const [row] = await ask<{ made: boolean }>(pool, "SELECT sage.create_session($1,$2,$3,$4,$5,$6) AS made", [
        ...[session, place, opened.cwd, Date.now(), data, long],
      ]);
      return row?.made === true;
    },
    async take(session, { job, place, loop } = {}) {
      const [row] = await ask<{ epoch: number | null }>(pool, "SELECT sage.take($1,$2,$3,$4,$5,$6) AS epoch", [
        ...[session, process, job?.id ?? null, job?.attempt ?? null, place ?? null, loop ?? null],
      ]);
      if (row && row.epoch !== null) return { epoch: row.epoch };
      const [held] = await ask<{ process: string }>(pool, "SELECT process FROM sage.session WHERE id=$1", [session]);
      if (!held) throw errorBecause("session-unknown", reason("session-missing", { session }));
      throw errorBecause("session-owned", reason("taken-over", { session }));
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
      const [row] = await known(
        session,
        ask<{ numbers: string[]; before: string }>(
          pool,
          `SELECT * FROM ${writes.commit}($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)`,
          values,
        ),
      );
      return { numbers: (row?.numbers ?? []).map(Number), before: Number(row?.before) };
    },
    append: (session, fact) =>
      wake && wakes.has(fact.type)
        ? together((asks) => appendOne(asks, session, fact))
        : appendOne(pool, session, fact),
    approve: (session, approval, conclude) =>
      together(async (asks) => {
        const { requestId } = approval.data;
        const { key } = splitRequestId(requestId);
        const { prefix, end } = approvalKeys(key);
        await ask(asks, "SELECT sage.lock_session($1)", [session]);
        const given = async () =>
          (
            await ask<{ data: string }>(
              asks,
              "SELECT coalesce(l.data, f.data) AS data FROM sage.fact f LEFT JOIN sage.long l USING (session, key) WHERE session=$1 AND key>=$2 AND key<$3 AND type='input.approved' ORDER BY seq",
              [session, prefix, end],
            )
          ).map(({ data }) => JSON.parse(data) as Approval);
        const [had] = await ask<{ data: string }>(
          asks,
          "SELECT coalesce(l.data, f.data) AS data FROM sage.fact f LEFT JOIN sage.long l USING (session, key) WHERE session=$1 AND key=$2 AND type='input.resolved'",
          [session, resolvedKey(key)],
        );
        if (had)
          return { won: false, approvals: await given(), ended: JSON.parse(had.data) as Resolution, written: [] };
        const first = await appendOne(asks, session, approval);
        const approvals = await given();
        const ending = conclude(approvals);
        const second = ending && (await appendOne(asks, session, ending));
        const written: Written[] = [first, ...(second ? [second] : [])].filter(({ won }) => won);
        return { won: first.won, approvals, ...(ending && { ended: ending.data }), written };
      }),
    async release(session, epoch, knew) {
      const [let_go] = await ask<{ done: boolean }>(pool, "SELECT sage.release($1,$2,$3) AS done", [
        ...[session, epoch, knew],
      ]);
      if (let_go?.done) return { again: false };
      const [row] = await ask<{ epoch: number }>(pool, "SELECT epoch FROM sage.session WHERE id=$1", [session]);
      return { again: row?.epoch === epoch };
    },
    read: async (session, after, options) => (await cells(session, after, options)).map((row) => factOf(session, row)),
    async standing(session) {
      const rows = await ask<SessionCells>(
        pool,
        `SELECT s.*, EXISTS (SELECT 1 FROM sage.process p WHERE p.id=s.process) AS owned FROM sage.session s WHERE id<>$1 ${session === undefined ? "ORDER BY last_at DESC" : "AND id=$2"}`,
        session === undefined ? [REMOVED] : [REMOVED, session],
      );
      return rows.map(standingOf);
    },
    async open() {
      const rows = await ask<FactRow & { session: string }>(
        pool,
        "SELECT f.session, f.seq, f.key, f.type, f.at, f.data, f.hash, l.data AS long FROM sage.ask a JOIN sage.fact f USING (session, key) LEFT JOIN sage.long l USING (session, key) ORDER BY a.at, a.session, a.seq",
      );
      return rows.map((row) => factOf(row.session, row) as Fact<"input.requested">);
    },
    ...postgresArchive({ pool, ask, cells, known }),
    close: () => pool.end(),
  };

  /** An error of the functions that names a session is told as ours. */
  async function known<T>(session: string, asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      const code = (error as { cause?: { code?: string }; code?: string }).code;
      if (code === "SG001")
        throw errorBecause("session-unknown", reason("session-missing", { session }), { cause: error });
      if (code === "SG004") throw errorBecause("not-permitted", reason("worker-may-not-write", {}), { cause: error });
      if (code === "SG002") throw errorBecause("lease-lost", reason("taken-over", { session }), { cause: error });
      throw error;
    }
  }
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

/** Facts after which somebody should look at the session. */
const wakes: ReadonlySet<FactType> = new Set(["user.said", "input.resolved", "turn.interrupted", "inquiry.made"]);

function standingOf({ id, place, cwd, title, at, last_at, open, loop, seq, owned }: SessionCells): Standing {
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
