import { randomUUID } from "node:crypto";
import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import { removedKey } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Housekeeping } from "../store/housekeeping.ts";
import { cwdOf, meanwhile, owned, patternFor, REMOVED, renumbered, waiting } from "../store/housekeeping.ts";
import type { Ledger } from "../replica/ledger.ts";
import { firstBroken, type Cells } from "../database/row.ts";
import { explainedFor } from "./error.ts";
import { factOf, splitData, type Asking } from "./cells.ts";

type SessionHead = { seq: string; head: string };

/** Verifies records and copies, searches and removes whole sessions, on the server where that avoids reading them here. */
export function postgresArchive({
  pool,
  ask,
  cells,
}: Asking): Pick<Ledger, "verify" | "head" | "staffed" | "housekeeping"> {
  const verify: Ledger["verify"] = async (session) => {
    // Read the newest hash first: facts written later are not verified.
    const [row] = await ask<SessionHead>(pool, "SELECT seq, head FROM sage.session WHERE id=$1", [session]);
    if (!row) return undefined;
    const rows = (await cells(session, 0)).filter(({ seq }) => Number(seq) <= Number(row.seq));
    const long = new Map(rows.map((row) => [row.key, row.long ?? ""]));
    const list = rows.map(({ seq, key, type, at, data, hash }): Cells => [
      Number(seq),
      key,
      type as FactType,
      Number(at),
      data,
      hash,
    ]);
    return firstBroken(({ key }) => long.get(key) ?? "", session, list, row.head);
  };
  const removed = async () => (await cells(REMOVED, 0)).map((row) => factOf(REMOVED, row)) as Fact<"session.removed">[];
  const housekeeping: Housekeeping = {
    async copy(session, facts) {
      const copied = renumbered(facts, session, 1);
      const data = copied.map((fact) => splitData(fact.data));
      const [row] = await ask<{ made: boolean }>(pool, "SELECT sage.copy_session($1,$2,$3,$4,$5,$6,$7,$8,$9) AS made", [
        session,
        facts[0]?.session,
        cwdOf(facts),
        Date.now(),
        copied.map(({ key }) => key),
        copied.map(({ type }) => type),
        copied.map(({ at }) => at),
        data.map(([text]) => text),
        data.map(([, long]) => long),
      ]);
      if (row?.made !== true) throw new SageError("input-invalid", reason("session-exists", { session }));
    },
    async remove(session, upTo, last) {
      const [row] = await explainedFor(
        session,
        ask<{ refused: "" | "owned" | "waits" | "changed" }>(
          pool,
          "SELECT sage.remove_session($1,$2,$3,$4,$5,$6) AS refused",
          [session, upTo, removedKey(randomUUID()), Date.now(), ...splitData(last)],
        ),
      );
      if (row?.refused === "owned") throw owned(session, "a worker");
      if (row?.refused === "waits") throw waiting(session);
      if (row?.refused === "changed") throw meanwhile(session);
    },
    removed,
    verifyRemoved: () => verify(REMOVED),
    async forget(before) {
      const [row] = await ask<{ gone: number }>(pool, "SELECT sage.forget_removed($1) AS gone", [before]);
      return row?.gone ?? 0;
    },
    async search(text, types) {
      // Compares as SQLite does: ASCII letters match in either case.
      const rows = await ask<{ session: string; seq: string }>(
        pool,
        `SELECT f.session, min(f.seq) AS seq FROM sage.fact f LEFT JOIN sage.long l ON f.data LIKE '~%' AND l.session=f.session AND l.key=f.key
          WHERE f.type=ANY($1) AND coalesce(l.data, f.data) COLLATE "C" ILIKE $2 GROUP BY f.session ORDER BY max(f.at) DESC`,
        [types, patternFor(text)],
      );
      return rows.map(({ session, seq }) => ({ session, seq: Number(seq) }));
    },
    shrink: () => undefined, // the server reclaims space by itself
  };
  return {
    verify,
    housekeeping,
    async head(session, upTo) {
      const [found] = await ask<{ seq: string; hash: string }>(
        pool,
        "SELECT seq, hash FROM sage.fact WHERE session=$1 AND ($2::bigint IS NULL OR seq<=$2) ORDER BY seq DESC LIMIT 1",
        [session, upTo ?? null],
      );
      return found && { seq: Number(found.seq), hash: found.hash };
    },
    staffed: async () =>
      (await ask<{ place: string }>(pool, "SELECT DISTINCT place FROM sage.process")).map(({ place }) => place),
  };
}
