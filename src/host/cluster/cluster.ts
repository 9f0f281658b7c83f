import { randomUUID } from "node:crypto";
import type { Client, Pool } from "pg";
import type { Reason } from "../../protocol/reasons/reason.ts";
import type { Store } from "../../journal/store/store.ts";
import { type Replica, createReplica } from "../../journal/replica/replica.ts";
import { postgresLedger } from "../../journal/postgres/postgres-ledger.ts";
import { listen } from "../../journal/postgres/stay-connected.ts";
import { openClient, openPool } from "../../journal/postgres/pool.ts";
import type { Ledger } from "../../journal/replica/ledger.ts";
import { type Dispatch, startDispatch } from "./dispatch.ts";

/** A process's part in a shared journal: gateway and workers have the same. */
export type Cluster = {
  process: string;
  ledger: Ledger;
  replica: Replica;
  dispatch: Dispatch;
  pool: Pool;
  connect(): Promise<Client>;
  notified: boolean;
  /** How long nobody is judged after the connection was lost. */
  graceMs: number;
  /** Has somebody look at a session, at its place. */
  wake(session: string): Promise<void>;
  close(): Promise<void>;
};

type ClusterOptions = {
  url: string;
  /** A worker writes nothing in a person's name. */
  as: "worker" | "gateway";
  /** Facts about this machine only. */
  local: Pick<Store, "noteChild" | "children" | "callOf" | "place">;
  /** The place of new sessions. */
  place(): string;
  /** False: neither notifications nor advisory locks are used. Changes are found by polling, so everything still works, later. */
  notified?: boolean;
  graceMs?: number;
  /** Keeps a list of all sessions and of everything that waits. */
  roster?: boolean;
  /** How long a connection may be silent before it counts as lost. */
  silentMs?: number;
  /** Told of problems that the operator of this process should see to. */
  note?: ((why: Reason) => void) | undefined;
};

const CATCH_UP_MS = 1_000;
/** Grace period after a lost connection: the server was away, so missing heartbeats of others mean nothing. */
const GRACE_MS = 10_000;

export async function joinCluster({
  url,
  as,
  local,
  place,
  notified = true,
  graceMs = GRACE_MS,
  roster = false,
  silentMs,
  note,
}: ClusterOptions): Promise<Cluster> {
  const process = randomUUID();
  const pool = await openPool({ connectionString: url, max: 10 }, { silentMs });
  const dispatch: { current?: Dispatch } = {};
  const ledger = await postgresLedger(pool, {
    process,
    as,
    ...(note && { note }),
    wake: async (asks, session, at) => dispatch.current?.wake(session, at, asks),
  });
  const started = (dispatch.current = await startDispatch(url, pool, { notified, graceMs, silentMs }));
  const replica = createReplica(ledger, local, { place, roster, now: started.now });
  await replica.caughtUp();
  const over = new AbortController();
  const connect = () => openClient({ connectionString: url }, { silentMs });
  const catchUp = () =>
    void replica.caughtUp().catch((error: unknown) => {
      if (!over.signal.aborted) throw error;
    });
  const listening = notified
    ? listen({ connect, heard: replica.heard, back: catchUp, signal: over.signal })
    : undefined;
  // Without notifications the process polls: a second late, but nothing is lost.
  const timer = notified ? undefined : setInterval(catchUp, CATCH_UP_MS);
  return {
    process,
    ledger,
    replica,
    dispatch: started,
    pool,
    connect,
    notified,
    graceMs,
    async wake(session) {
      const [standing] = await ledger.standing(session);
      // Its owner lets go of nothing that it has not seen, and what was written before it came was written with a job.
      if (standing && !standing.owned) await started.wake(session, standing.place);
    },
    async close() {
      clearInterval(timer);
      over.abort();
      replica.store.close();
      await listening;
      await started.stop({ timeoutMs: 1_000 });
      await ledger.close();
    },
  };
}

/** Gives a session to another place, unless a living process runs it. Whoever has it in its queue there looks at it once. */
export async function moveSession(
  { pool, ledger, dispatch }: Cluster,
  session: string,
  place: string,
): Promise<{ how: "moved" } | { how: "runs"; at: string } | { how: "unknown" }> {
  const { rows } = await pool.query<{ done: boolean }>("SELECT sage.move_session($1,$2) AS done", [session, place]);
  if (!rows[0]?.done) {
    const [standing] = await ledger.standing(session);
    return standing ? { how: "runs", at: standing.place } : { how: "unknown" };
  }
  // The queue of the other place may hold a message or a deadline for it.
  await dispatch.wake(session, place);
  return { how: "moved" };
}
