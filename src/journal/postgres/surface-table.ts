import type { Pool } from "pg";
import { explained } from "./error.ts";
import { publicAddress } from "./pool.ts";

const HOLD_LOST = "SG003";

/** An entry as it lies in memory: JSON text, and how long it is still true. */
export type Entry = { key: string; value: string; leftMs: number };

/** `value: undefined` deletes. */
export type Change = { key: string; value: string | undefined; ttlMs: number };

/** State of a surface, as a gateway reads it with each heartbeat. */
export type SurfaceStanding = {
  name: string;
  version: number;
  /** Number of the last hold. */
  number: number;
  holder: string | undefined;
  /** Free, or its holder is gone. */
  free: boolean;
};

export type LivingGateway = { id: string; host: string; since: Date; holds: string[] };

type GatewayLook = {
  id: string;
  /** Number of the lock that the server releases when this process dies; null if none is held. */
  lock: number | null;
  host: string;
  leaseMs: number;
  /** May others be taken for dead because their lock is free? */
  byLock: boolean;
  names: readonly string[];
};

export type SurfaceTable = ReturnType<typeof surfaceTable>;

/** The memory of surfaces on PostgreSQL. */
export function surfaceTable(pool: Pick<Pool, "query" | "options">) {
  const where = publicAddress(pool.options.connectionString ?? "postgres://");
  const ask = async <R extends object>(text: string, values: unknown[]): Promise<R[]> => {
    try {
      return (await pool.query<R>(text, values)).rows;
    } catch (error) {
      throw explained(where, error);
    }
  };
  return {
    /** Heartbeat. Returns the state of every surface. */
    async look({ id, lock, host, leaseMs, byLock, names }: GatewayLook): Promise<SurfaceStanding[]> {
      type Row = { name: string; version: string; number: number; holder: string | null; free: boolean };
      const rows = await ask<Row>("SELECT * FROM sage.gateway_looks($1,$2,$3,$4,$5,$6)", [
        id,
        lock,
        host,
        leaseMs,
        byLock,
        names,
      ]);
      return rows.map((row) => ({ ...row, version: Number(row.version), holder: row.holder ?? undefined }));
    },
    /** Number of the new hold; undefined if another gateway has it. */
    async hold(name: string, gateway: string, byLock: boolean): Promise<number | undefined> {
      const [row] = await ask<{ held: number | null }>("SELECT sage.surface_hold($1,$2,$3) AS held", [
        name,
        gateway,
        byLock,
      ]);
      return row?.held ?? undefined;
    },
    async leave(name: string, number: number): Promise<void> {
      await ask("SELECT sage.surface_leave($1,$2)", [name, number]);
    },
    async gatewayLeaves(id: string): Promise<void> {
      await ask("SELECT sage.gateway_leaves($1)", [id]);
    },
    async read(name: string): Promise<{ version: number; entries: Entry[] }> {
      type Row = { version: string; key: string | null; value: string; left_ms: number | null };
      const rows = await ask<Row>("SELECT * FROM sage.surface_read($1)", [name]);
      const entries = rows.flatMap(({ key, value, left_ms }) =>
        key === null ? [] : [{ key, value, leftMs: left_ms ?? Infinity }],
      );
      return { version: Number(rows[0]?.version ?? 0), entries };
    },
    /** Writes under a hold. False: that hold is over, and nothing was written. */
    async write(name: string, held: number, changes: readonly Change[]): Promise<boolean> {
      try {
        await ask("SELECT sage.surface_write($1,$2,$3,$4,$5)", [name, held, ...columns(changes)]);
        return true;
      } catch (error) {
        if ((error as { code?: string }).code === HOLD_LOST) return false;
        throw error;
      }
    },
    /** Writes on what was seen: the version that there is then, undefined where somebody else was quicker. */
    async change(name: string, seen: number, changes: readonly Change[]): Promise<number | undefined> {
      const [row] = await ask<{ version: string | null }>("SELECT sage.surface_change($1,$2,$3,$4,$5) AS version", [
        name,
        seen,
        ...columns(changes),
      ]);
      const made = row?.version ?? undefined;
      return made === undefined ? undefined : Number(made);
    },
    gateways: () => ask<LivingGateway>("SELECT * FROM sage.gateways()", []),
  };
}

/** PostgreSQL keeps no NUL in text; values are JSON, which has none. */
function columns(changes: readonly Change[]): [(string | null)[], (string | null)[], (number | null)[]] {
  return [
    changes.map(({ key }) => key.replaceAll("\0", "\uFFFD")),
    changes.map(({ value }) => value ?? null),
    changes.map(({ ttlMs }) => (Number.isFinite(ttlMs) ? ttlMs : null)),
  ];
}
