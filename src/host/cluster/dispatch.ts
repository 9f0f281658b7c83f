import { setTimeout as sleep } from "node:timers/promises";
import { PgBoss } from "pg-boss";
import type { Pool, PoolClient } from "pg";
import { explained } from "../../journal/postgres/error.ts";
import { SILENT_MS } from "../../journal/postgres/pool.ts";
import { unprepared } from "../../journal/postgres/tables.ts";
import { createServerClock } from "./server-clock.ts";
import { SageError } from "../../protocol/reasons/reason.ts";

const CHECK_MS = 1_000;
const DISCONNECT_MS = 2_000;

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
  /** Queues a session at its place, in the caller's transaction or in one of its own. */
  wake(session: string, place: string, asks?: Pick<PoolClient, "query">): Promise<void>;
  /** Puts it there at a time, for what is due then. */
  wakeAt(session: string, place: string, at: number): Promise<void>;
  /** Runs sessions of a place until the dispatch is stopped. */
  work(place: string, run: (job: Job) => Promise<void>, options: { atOnce: number }): Promise<void>;
  /** Begins nothing more: what runs continues until its job ends. */
  pause(place: string): Promise<void>;
  /** Hands the job of a dead process to another one. */
  failJob(place: string, job: { id: string; attempt: number }): Promise<void>;
  /** True for a while after the connection was lost. */
  isInGracePeriod(): boolean;
  now(): number;
  stop(options: { timeoutMs: number }): Promise<void>;
};

type DispatchOptions = {
  /** False: jobs are found by looking, within half a second. */
  notified: boolean;
  graceMs: number;
  silentMs?: number | undefined;
};

/** Jobs, retries and the slow lease are pg-boss's. We call `supervise`, with a grace: an outage must not take turns from living workers. */
export async function startDispatch(url: string, pool: Pool, options: DispatchOptions): Promise<Dispatch> {
  const { notified, graceMs, silentMs = SILENT_MS } = options;
  const migrate = await mayMake(pool);
  const boss = await startBoss(url, pool, { notified, migrate, silentMs });
  const { turnsOf, duesOf, names } = createQueues(boss, { notified, migrate });
  const gracePeriod = createGracePeriod(graceMs);
  const clock = createServerClock();
  await clock.look(pool);
  const superviseQueues = async (): Promise<void> => {
    try {
      await clock.look(pool);
      gracePeriod.answered();
      if (gracePeriod.isActive()) return;
      for (const name of names()) await boss.supervise(name);
    } catch {
      gracePeriod.begin();
    }
  };
  const timer = setInterval(() => void superviseQueues(), CHECK_MS).unref();
  return {
    async wake(session, place, asks) {
      const name = await turnsOf(place);
      const transaction = asks && {
        db: { executeSql: (text: string, values?: unknown[]) => asks.query(text, values) },
      };
      await boss.upsert(name, { session }, { singletonKey: session, ...transaction });
    },
    async wakeAt(session, place, at) {
      const name = await duesOf(place);
      await boss.upsert(name, { session }, { singletonKey: session, startAfter: new Date(at) });
    },
    async work(place, run, { atOnce }) {
      const turns = await turnsOf(place);
      await runTurns(boss, turns, run, atOnce);
      await moveDues(boss, await duesOf(place), turns);
    },
    async pause(place) {
      for (const name of [await turnsOf(place), await duesOf(place)]) await boss.offWork(name, { wait: false });
    },
    async failJob(place, { id, attempt }) {
      await boss.fail(await turnsOf(place), [{ id, retryCount: attempt }], { why: "its worker is gone" });
    },
    isInGracePeriod: gracePeriod.isActive,
    now: clock.now,
    async stop({ timeoutMs }) {
      clearInterval(timer);
      const stopped = new AbortController();
      const stopping = boss.stop({ graceful: true, timeout: timeoutMs, close: true });
      // It closes each connection politely, and would wait forever on one that the network has dropped.
      const timeout = sleep(timeoutMs + DISCONNECT_MS, undefined, { signal: stopped.signal });
      await Promise.race([stopping, timeout]).catch(() => {});
      stopped.abort();
    },
  };
}

type QueueOptions = {
  notified: boolean;
  /** This login may create queues itself. */
  migrate: boolean;
};

async function startBoss(
  url: string,
  pool: Pool,
  { notified, migrate, silentMs }: QueueOptions & { silentMs: number },
): Promise<PgBoss> {
  const ofDriver = { query_timeout: silentMs, keepAlive: true }; // pg-boss hands them to pg and does not declare them
  const boss = new PgBoss({
    ...ofDriver,
    connectionString: url,
    max: 8,
    supervise: false,
    schedule: false,
    useListenNotify: notified,
    migrate,
    notifyHeartbeatIntervalMs: silentMs / 3,
    notifyHeartbeatTimeoutMs: silentMs / 6,
    monitorIntervalSeconds: 1,
    queueCacheIntervalSeconds: 1,
    reindex: migrate,
  });
  boss.on("error", () => {}); // reported by the poll, which decides what it means
  await boss.start().catch((error: unknown) => {
    const problem = explained(unprepared(pool).args.path, error); // a server that is away says nothing about what is prepared
    throw migrate || problem !== error ? problem : new SageError("config-invalid", unprepared(pool), { cause: error });
  });
  return boss;
}

type Queues = {
  turnsOf(place: string): Promise<string>;
  duesOf(place: string): Promise<string>;
  names(): Iterable<string>;
};

/** The queues of each place, made when they are first used. */
function createQueues(boss: PgBoss, { notified, migrate }: QueueOptions): Queues {
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
  return {
    turnsOf: (place) => queue(`turn.${place}`, queues.turn),
    duesOf: (place) => queue(`due.${place}`, queues.due),
    names: () => known.keys(),
  };
}

/** Judges nobody for a while after the connection was lost. A process that has just come knows nothing either: the server may have been away until now. */
function createGracePeriod(graceMs: number): { answered(): void; begin(): void; isActive(): boolean } {
  let endsAt = performance.now() + graceMs;
  let checkedAt = performance.now();
  const begin = () => {
    endsAt = performance.now() + graceMs;
  };
  return {
    begin,
    answered() {
      // This process stood still, and may have slept through an outage.
      if (performance.now() - checkedAt > CHECK_MS + graceMs / 2) begin();
      checkedAt = performance.now();
    },
    isActive: () => performance.now() < endsAt,
  };
}

const polling = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };

async function runTurns(boss: PgBoss, queue: string, run: (job: Job) => Promise<void>, atOnce: number): Promise<void> {
  const options = {
    ...polling,
    localConcurrency: atOnce,
    burstWhenReadyExceeds: 1,
    heartbeatRefreshSeconds: 2,
    includeMetadata: true,
  } as const;
  await boss.work<{ session: string }, void, { includeMetadata: true }>(queue, options, async ([job]) => {
    if (job) await run({ session: job.data.session, id: job.id, attempt: job.retryCount, signal: job.signal });
  });
}

/** Puts sessions into the queue of turns when their time has come. */
async function moveDues(boss: PgBoss, dues: string, turns: string): Promise<void> {
  const options = { ...polling, batchSize: 100, burstWhenBatchFull: true };
  await boss.work<{ session: string }>(dues, options, async (jobs) => {
    for (const { data } of jobs) await boss.upsert(turns, { session: data.session }, { singletonKey: data.session });
  });
}

/** True for the owner of the queues; while there are none, for any login that may create them. */
async function mayMake(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ may: boolean }>(
    "SELECT coalesce(has_schema_privilege(to_regnamespace('pgboss'), 'CREATE'), has_database_privilege(current_database(), 'CREATE')) AS may",
  );
  return rows[0]?.may === true;
}

/** A job that failed for good would block its session, so none does. */
export const queues = {
  /** A session's jobs run in order, a single one at a time. */
  turn: {
    policy: "key_strict_fifo",
    heartbeatSeconds: 10,
    expireInSeconds: 86_399,
    retryLimit: 1_000_000,
    retryDelay: 0,
    retentionSeconds: 31_536_000,
    deleteAfterSeconds: 3_600,
  },
  /** A process that is killed with some of them in hand holds them up for no longer than this. */
  due: {
    policy: "short",
    expireInSeconds: 15,
    retryLimit: 1_000_000,
    retryDelay: 0,
    retentionSeconds: 31_536_000,
    deleteAfterSeconds: 3_600,
  },
} as const;
