import { PgBoss } from "pg-boss";
import type { Pool, PoolClient } from "pg";
import { explained } from "../../journal/postgres/error.ts";
import { unprepared } from "../../journal/postgres/tables.ts";
import { errorBecause } from "../../texts/error.ts";
import { createClock } from "./clock.ts";

const LOOK_MS = 1_000;

/** A session to be run, under a job that only one process has at a time. */
export type Job = {
  session: string;
  id: string;
  /** Higher than 0: somebody else had it, and is gone or frozen. */
  attempt: number;
  /** Aborted when the job was given to another process. */
  signal: AbortSignal;
};

export type Dispatch = {
  /** Puts a session into the queue of its place; in the transaction of whoever asks, or by itself. */
  wake(session: string, place: string, asks?: Pick<PoolClient, "query">): Promise<void>;
  /** Puts it there at a time, for what is due then. */
  wakeAt(session: string, place: string, at: number): Promise<void>;
  /** Runs sessions of a place until the dispatch is stopped. */
  work(place: string, run: (job: Job) => Promise<void>, options: { atOnce: number }): Promise<void>;
  /** Begins nothing more: what runs goes on until its job ends. */
  rest(place: string): Promise<void>;
  /** Gives the job of a process that is gone to another. */
  giveUp(place: string, job: { id: string; attempt: number }): Promise<void>;
  /** True for a while after the connection was lost. */
  isBlind(): boolean;
  /** The server's clock. */
  now(): number;
  stop(options: { timeoutMs: number }): Promise<void>;
};

/**
 * Waking, one job for each session, retries, delays and the slow lease are pg-boss's. Ours is the call of `supervise`, with a grace
 * after a lost connection: without it, an outage takes running turns from living workers.
 */
export async function startDispatch(
  url: string,
  pool: Pool,
  {
    notified,
    graceMs,
  }: { /** Without it, whatever waits is found within half a second. */ notified: boolean; graceMs: number },
): Promise<Dispatch> {
  const migrate = await mayMake(pool);
  const boss = new PgBoss({
    ...{ connectionString: url, max: 8, supervise: false, schedule: false, useListenNotify: notified, migrate },
    ...{ monitorIntervalSeconds: 1, queueCacheIntervalSeconds: 1, reindex: migrate },
  });
  boss.on("error", () => {}); // told by the look below, which decides what it means
  await boss.start().catch((error: unknown) => {
    const told = explained(unprepared(pool).args.path, error); // a server that is away says nothing about what is prepared
    throw migrate || told !== error ? told : errorBecause("config-invalid", unprepared(pool), { cause: error });
  });
  const known = new Map<string, Promise<void>>();
  const make = async (name: string, options: typeof queues.turn | typeof queues.due) => {
    if (migrate) await boss.createQueue(name, { ...options, notify: notified });
    // On a connection of the queue's: who asks may hold one of the others, and all of those may wait for it.
    else await boss.getDb().executeSql("SELECT sage.make_queue($1,$2)", [name, notified]);
  };
  const queue = async (name: string, options: typeof queues.turn | typeof queues.due): Promise<string> => {
    const made = known.get(name) ?? make(name, options);
    known.set(name, made);
    await made.catch((error: unknown) => {
      if (known.get(name) === made) known.delete(name); // the server was away: the next one tries again
      throw error;
    });
    return name;
  };
  // Whoever has just come knows nothing: the server may have been away until now.
  let blindUntil = performance.now() + graceMs;
  let looked = performance.now();
  const turnsOf = (place: string) => queue(`turn.${place}`, queues.turn);
  const duesOf = (place: string) => queue(`due.${place}`, queues.due);
  const clock = createClock();
  await clock.look(pool);
  const looking = setInterval(() => void look(), LOOK_MS);
  looking.unref();
  async function look(): Promise<void> {
    try {
      await clock.look(pool);
      // This process stood still, and may have slept through an outage.
      if (performance.now() - looked > LOOK_MS + graceMs / 2) blindUntil = performance.now() + graceMs;
      looked = performance.now();
      if (performance.now() < blindUntil) return;
      for (const name of known.keys()) await boss.supervise(name);
    } catch {
      blindUntil = performance.now() + graceMs;
    }
  }
  return {
    async wake(session, place, asks) {
      const name = await turnsOf(place);
      const own = asks && { db: { executeSql: (text: string, values?: unknown[]) => asks.query(text, values) } };
      await boss.upsert(name, { session }, { singletonKey: session, ...own });
    },
    async wakeAt(session, place, at) {
      const name = await duesOf(place);
      await boss.upsert(name, { session }, { singletonKey: session, startAfter: new Date(at) });
    },
    async work(place, run, { atOnce }) {
      const name = await turnsOf(place);
      const polling = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };
      await boss.work<{ session: string }, void, { includeMetadata: true }>(
        name,
        {
          ...polling,
          localConcurrency: atOnce,
          burstWhenReadyExceeds: 1,
          heartbeatRefreshSeconds: 2,
          includeMetadata: true,
        } as {
          includeMetadata: true;
        },
        async ([job]) => {
          if (job) await run({ session: job.data.session, id: job.id, attempt: job.retryCount, signal: job.signal });
        },
      );
      await boss.work<{ session: string }>(
        await duesOf(place),
        { ...polling, batchSize: 100, burstWhenBatchFull: true },
        async (jobs) => {
          for (const { data } of jobs)
            await boss.upsert(name, { session: data.session }, { singletonKey: data.session });
        },
      );
    },
    async rest(place) {
      for (const name of [await turnsOf(place), await duesOf(place)]) await boss.offWork(name, { wait: false });
    },
    async giveUp(place, { id, attempt }) {
      await boss.fail(await turnsOf(place), [{ id, retryCount: attempt }], { why: "its worker is gone" });
    },
    isBlind: () => performance.now() < blindUntil,
    now: clock.now,
    async stop({ timeoutMs }) {
      clearInterval(looking);
      await boss.stop({ graceful: true, timeout: timeoutMs, close: true }).catch(() => {});
    },
  };
}

/** True for the owner of the queues, and where there are none yet for whoever may make them. */
async function mayMake(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ may: boolean }>(
    "SELECT coalesce(has_schema_privilege(to_regnamespace('pgboss'), 'CREATE'), has_database_privilege(current_database(), 'CREATE')) AS may",
  );
  return rows[0]?.may === true;
}

/** A job that failed for good would block its session, so none does. */
export const queues = {
  /** One job for each session, in order. */
  turn: {
    policy: "key_strict_fifo",
    heartbeatSeconds: 10,
    expireInSeconds: 86_399,
    retryLimit: 1_000_000,
    retryDelay: 0,
    retentionSeconds: 31_536_000,
    deleteAfterSeconds: 3_600,
  },
  /** Whoever is killed with some of them in hand holds them up for no longer than this. */
  due: {
    policy: "short",
    expireInSeconds: 15,
    retryLimit: 1_000_000,
    retryDelay: 0,
    retentionSeconds: 31_536_000,
    deleteAfterSeconds: 3_600,
  },
} as const;
