import { randomInt } from "node:crypto";
import type { Client, Pool } from "pg";
import { LIVING } from "../../../journal/postgres/schema/schema.ts";

const HEARTBEAT_MS = 250;

/** A session whose process is gone, and the job it was run under. */
type Orphan = { session: string; place: string; job: string | null; attempt: number | null };

type LivenessParts = {
  process: string;
  place: string;
  loop: number;
  /** Address and key by which gateways reach this process, if they do. */
  streamServer?: { address: string; key: string } | undefined;
  pool: Pool;
  connect(): Promise<Client>;
  /** Sessions of processes that died. */
  orphaned(orphans: Orphan[]): Promise<void>;
  /** Other processes declared this one dead and have taken its sessions. */
  expired(): void;
  /** True while the liveness of others is unknown. */
  isInGracePeriod(): boolean;
  /** The same as of jobs: after an outage everybody needs a moment to come back. */
  graceMs: number;
  /** False if the server has no advisory locks: then heartbeats alone decide. */
  locks: boolean;
};

/**
 * Holds an advisory lock on its own connection while this process lives: the server releases it the moment the process is killed. All
 * processes watch each other's locks. A process that has just lost its connection draws no conclusions, since all locks look free then.
 * Locks only speed detection up: a frozen process keeps its lock, and loses its jobs when their heartbeats stop. Without locks, a process
 * without a heartbeat for the grace period counts as dead.
 */
export function startLiveness(parts: LivenessParts): { stop(): Promise<void> } {
  const { process, place, loop, streamServer, pool, connect, orphaned, expired, isInGracePeriod, graceMs, locks } =
    parts;
  let lock = 0;
  let lockConnection: Client | undefined;
  let lockedAt = 0;
  /** True when it was not in the list. */
  const register = async (): Promise<boolean> => {
    const values = [process, lock, place, loop, streamServer?.address ?? null, streamServer?.key ?? null, !locks];
    const { rows } = await pool.query<{ made: boolean }>("SELECT sage.register($1,$2,$3,$4,$5,$6,$7) AS made", values);
    return rows[0]?.made === true;
  };
  const acquireLock = async () => {
    const client = await connect();
    const lost = () => {
      if (lockConnection === client) lockConnection = undefined;
    };
    client.once("error", lost).once("end", lost);
    // A new number each time: the server may not have noticed yet that the connection before is gone, and would keep the other one waiting.
    lock = randomInt(2 ** 31 - 1);
    try {
      if (locks) await client.query("SELECT pg_advisory_lock($1, $2)", [LIVING, lock]);
      const wasMissing = await register();
      if (wasMissing && lockedAt > 0) expired();
      [lockConnection, lockedAt] = [client, performance.now()];
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  };
  const heartbeat = async () => {
    if (!lockConnection) await acquireLock();
    else if (await register()) expired();
    if (performance.now() - lockedAt < graceMs || isInGracePeriod()) return;
    const { rows } = await pool.query<Orphan>("SELECT * FROM sage.bury($1,$2)", [process, locks ? null : graceMs]);
    if (rows.length > 0) await orphaned(rows);
  };
  let busy: Promise<void> | undefined;
  const exclusively = (work: () => Promise<void>) => {
    busy ??= work()
      .catch(() => {}) // the server is away: at the next look, then
      .finally(() => (busy = undefined));
  };
  exclusively(acquireLock);
  const timer = setInterval(() => exclusively(heartbeat), HEARTBEAT_MS);
  return {
    async stop() {
      clearInterval(timer);
      await busy; // a later heartbeat would list this process again
      await pool.query("SELECT sage.unregister($1)", [process]).catch(() => {});
      await lockConnection?.end().catch(() => {});
    },
  };
}
