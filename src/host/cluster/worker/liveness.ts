import { randomInt } from "node:crypto";
import type { Client, Pool } from "pg";
import { LIVING } from "../../../journal/postgres/schema/schema.ts";

const POLL_MS = 250;

/** A session whose process is gone, and the job under which that one ran it. */
export type Orphan = { session: string; place: string; job: string | null; attempt: number | null };

type LivingParts = {
  process: string;
  place: string;
  loop: number;
  /** Address and key by which gateways reach this process, if they do. */
  door?: { address: string; key: string } | undefined;
  pool: Pool;
  connect(): Promise<Client>;
  /** Sessions of processes that died. */
  orphaned(orphans: Orphan[]): Promise<void>;
  /** Others took this process for dead: everything that it had is theirs. */
  buried(): void;
  /** True while nothing can be said about others. */
  isBlind(): boolean;
  /** The same as of jobs: after an outage everybody needs a moment to come back. */
  graceMs: number;
  /** False where the server has no such locks: then a process lives as long as it says so. */
  locks: boolean;
};

/**
 * Holds a lock on a connection of its own for as long as this process lives: the server lets go of it in the moment in which the
 * process is killed. Everybody looks at everybody's; who has just lost the connection judges nobody, for then all locks are free and all
 * live. This only makes it quicker: a frozen process keeps its lock, and its jobs are given away when their hearts stop. Without locks,
 * whoever has said nothing for as long as the grace is taken for dead.
 */
export function live(parts: LivingParts): { stop(): Promise<void> } {
  const { process, place, loop, door, pool, connect, orphaned, buried, isBlind, graceMs, locks } = parts;
  let lock = 0;
  let holding: Client | undefined;
  let since = 0;
  /** True when it was not in the list. */
  const register = async (): Promise<boolean> => {
    const values = [process, lock, place, loop, door?.address ?? null, door?.key ?? null, !locks];
    const { rows } = await pool.query<{ made: boolean }>("SELECT sage.register($1,$2,$3,$4,$5,$6,$7) AS made", values);
    return rows[0]?.made === true;
  };
  const hold = async () => {
    const client = await connect();
    const lost = () => {
      if (holding === client) holding = undefined;
    };
    client.once("error", lost).once("end", lost);
    // A new number each time: the server may not have noticed yet that the connection before is gone, and would keep the other one waiting.
    lock = randomInt(2 ** 31 - 1);
    try {
      if (locks) await client.query("SELECT pg_advisory_lock($1, $2)", [LIVING, lock]);
      const wasMissing = await register();
      if (wasMissing && since > 0) buried();
      [holding, since] = [client, performance.now()];
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  };
  const look = async () => {
    if (!holding) await hold();
    else if (await register()) buried();
    if (performance.now() - since < graceMs || isBlind()) return;
    const { rows } = await pool.query<Orphan>("SELECT * FROM sage.bury($1,$2)", [process, locks ? null : graceMs]);
    if (rows.length > 0) await orphaned(rows);
  };
  let busy: Promise<void> | undefined;
  const alone = (work: () => Promise<void>) => {
    busy ??= work()
      .catch(() => {}) // the server is away: at the next look, then
      .finally(() => (busy = undefined));
  };
  alone(hold);
  const looking = setInterval(() => alone(look), POLL_MS);
  return {
    async stop() {
      clearInterval(looking);
      await busy; // a look that comes after it would put this process into the list again
      await pool.query("SELECT sage.unregister($1)", [process]).catch(() => {});
      await holding?.end().catch(() => {});
    },
  };
}
