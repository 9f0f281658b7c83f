import { LOOP } from "../../../agent/turn/turn.ts";
import { keepTime, mayEnforce, resume } from "../../../input/enforce.ts";
import { isRetryable } from "../../../journal/store/retry.ts";
import { storeNow } from "../../../journal/store/store.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import type { LocalHost } from "../../host.ts";
import type { Cluster } from "../cluster.ts";
import type { Job } from "../dispatch.ts";
import type { StreamServer } from "../stream/stream-server.ts";
import { randomInt } from "node:crypto";
import type { Client, Pool } from "pg";
import { LIVING } from "../../../journal/postgres/schema/schema.ts";

/** Pause before another look at a session that this worker is too old for. */
const RECHECK_MS = 1_000;
/** Retry delay after a failed run: the fault may be this worker's, or may have passed. */
const RETRY_MS = 60_000;

type WorkerParts = {
  cluster: Cluster;
  place: string;
  /** Runs turns on the cluster's store and releases sessions that only wait. */
  host: LocalHost;
  /** Address at which gateways follow what it runs. Without one they have facts only. */
  streamServer?: Pick<StreamServer, "address" | "key"> | undefined;
  /** A run ended by an error that its facts may not tell. */
  failed?(session: string, error: unknown): void;
  atOnce?: number;
  loop?: number;
  failedMs?: number;
};

type Worker = {
  /** Leaves: sessions that run here continue elsewhere, at once. Closes the host too. */
  stop(): Promise<void>;
};

/** A session that runs here, and how to tell it that another worker owns it now. */
type Running = { leave(): void; ended: Promise<unknown> };

/** Runs sessions of a place, one job after the other, until it is stopped. What it leaves continues elsewhere. */
export async function startWorker(parts: WorkerParts): Promise<Worker> {
  const { cluster, place, host, streamServer, atOnce = 20, loop = LOOP } = parts;
  const { process, replica, dispatch, pool, connect, graceMs, notified } = cluster;
  await mayServe(pool, place);
  replica.worksAt(place);
  const leaveTime = await keepTime(replica.store);
  const running = new Map<string, Running>();
  const leaving = new AbortController();
  const liveness = startLiveness({
    process,
    place,
    loop,
    streamServer,
    pool,
    connect,
    graceMs,
    locks: notified,
    isInGracePeriod: () => dispatch.isInGracePeriod(),
    expired: () => running.forEach(({ leave }) => leave()),
    async orphaned(orphans) {
      for (const { session, place: at, job, attempt } of orphans)
        if (job !== null && attempt !== null) await dispatch.failJob(at, { id: job, attempt });
        else await dispatch.wake(session, at);
    },
  });
  const run = async (job: Job): Promise<void> => {
    const { session, signal } = job;
    const before = running.get(session);
    const lost = new AbortController();
    const leave = () => {
      lost.abort();
      replica.lost(session);
      host.leave(session);
    };
    const begin = async () => {
      // The job was given away while this process stood still, and came back to it: what was begun under it before ends first.
      before?.leave();
      await before?.ended.catch(() => {});
      if (leaving.signal.aborted) throw new Error("this worker leaves");
      const isOver = () => lost.signal.aborted || leaving.signal.aborted;
      if (!signal.aborted && (await canTake(parts, session))) await runSession(parts, job, isOver);
    };
    signal.addEventListener("abort", leave, { once: true });
    const current: Running = { leave, ended: begin() };
    running.set(session, current);
    try {
      await current.ended;
    } finally {
      if (running.get(session) === current) running.delete(session);
      signal.removeEventListener("abort", leave);
    }
  };
  await dispatch.work(place, run, { atOnce });
  return {
    async stop() {
      leaving.abort();
      leaveTime();
      await dispatch.pause(place).catch(() => {}); // the server is away: then nothing comes anyway
      await host.close();
      await Promise.allSettled([...running.values()].map(({ ended }) => ended));
      await liveness.stop();
    },
  };
}

/** False when it was moved, whose mover woke the other place, or when a newer worker began its turn: somebody looks again soon. */
async function canTake({ cluster, place, loop = LOOP }: WorkerParts, session: string): Promise<boolean> {
  const [standing] = await cluster.ledger.standing(session);
  if (standing?.place !== place) return false;
  if (standing.loop <= loop) return true;
  await cluster.dispatch.wakeAt(session, place, Date.now() + RECHECK_MS);
  return false;
}

/** Runs a session until nothing is left to do, and schedules its next wake-up. */
async function runSession(parts: WorkerParts, { session, id, attempt }: Job, isOver: () => boolean): Promise<void> {
  const { cluster, place, host, failed, loop = LOOP, failedMs = RETRY_MS } = parts;
  const { replica, dispatch } = cluster;
  const release = await replica.look(session); // its requests are read after its release
  try {
    let since: number;
    let again: boolean;
    let hasFailed: boolean;
    if (!mayEnforce(replica.store)) await resume(replica.store); // what this job was to end may have moved
    do {
      since = storeNow(replica.store);
      hasFailed = false;
      await replica.take(session, { job: { id, attempt }, place, loop });
      // An error is told to whoever watches, and the facts say how it stands. A turn that is followed by another one finds that it has
      // let go of the session in between.
      again = await host.run(session).then(
        () => false,
        (error: unknown) => {
          if (isRetryable(error)) throw error; // the server was away: somebody tries it again
          const isOwned = error instanceof SageError && error.code === "session-owned";
          hasFailed = !isOwned && !isOver();
          if (hasFailed) failed?.(session, error);
          return isOwned;
        },
      );
      if (!isOver()) await replica.letGo(session);
      again = replica.again(session) || again;
    } while (again && !isOver());
    // A job that succeeds is removed: this one has to stay for the next worker.
    if (isOver()) throw new Error("this worker leaves, or has lost the session");
    const { open = false, unheard = false } = replica.store.session(session) ?? {};
    const retry = hasFailed && (open || unheard) ? storeNow(replica.store) + failedMs : Infinity;
    const due = Math.min(retry, nextDue(replica.store.pending(session), since) ?? Infinity);
    if (due !== Infinity) await dispatch.wakeAt(session, place, due);
  } finally {
    release();
  }
}

/** A login that was made for other places could take no session of this one, and would only say so in the database's log. */
async function mayServe(pool: Cluster["pool"], place: string): Promise<void> {
  const { rows } = await pool.query<{ place: string }>("SELECT place FROM sage.login WHERE name = session_user");
  if (rows.length > 0 && !rows.some((row) => row.place === place))
    throw new SageError("not-permitted", reason("place-not-served", { place }));
}

/** Next time at which one of these expires or escalates without an answer; one that is overdue already counts as now. */
function nextDue(requests: readonly InputRequest[], since: number): number | undefined {
  const all = requests.flatMap(({ deadline, remind = [] }) => [
    ...(deadline ? [deadline.at] : []),
    ...(deadline?.escalation ?? []).map(({ at }) => at),
    ...remind,
  ]);
  const [first] = all.filter((at) => at > since).toSorted((a, b) => a - b);
  return first;
}

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
