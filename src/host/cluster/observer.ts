import { randomUUID } from "node:crypto";
import { explained } from "../../journal/postgres/error.ts";
import { PATIENT_MS, openClient, openPool, publicAddress } from "../../journal/postgres/pool.ts";
import { postgresLedger } from "../../journal/postgres/postgres-ledger.ts";
import { listen } from "../../journal/postgres/stay-connected.ts";
import { createReplica, type Replica } from "../../journal/replica/replica.ts";
import { createServerClock } from "./server-clock.ts";
import { startDispatch, type Dispatch } from "./dispatch.ts";

/** A shared journal for clients that read and answer but run nothing. */
type Observer = {
  replica: Replica;
  /** Has a worker of its place look at a session. */
  wake(session: string): Promise<void>;
  close(): Promise<void>;
};

const TIMEOUT_MS = 10_000;

/** Opens an existing shared journal. The connection to the queues is made by the first answer that has to wake a worker. */
export async function openObserver(url: string): Promise<Observer | { missing: string }> {
  const where = publicAddress(url);
  const connection = { connectionString: url, connectionTimeoutMillis: TIMEOUT_MS };
  const pool = await openPool({ ...connection, max: 4 }, { silentMs: PATIENT_MS });
  try {
    const found = await pool.query<{ made: boolean }>("SELECT to_regclass('sage.journal') IS NOT NULL AS made");
    if (!found.rows[0]?.made) {
      await pool.end();
      return { missing: where };
    }
    let dispatching: Promise<Dispatch> | undefined;
    // A process that comes for a moment judges nobody.
    const start = () => startDispatch(url, pool, { notified: true, graceMs: Infinity });
    const dispatch = async () => {
      const joining = (dispatching ??= start());
      try {
        return await joining;
      } catch (error) {
        if (dispatching === joining) dispatching = undefined; // the next answer tries again
        throw error;
      }
    };
    const ledger = await postgresLedger(pool, {
      process: randomUUID(),
      wake: async (asks, session, place) => (await dispatch()).wake(session, place, asks),
    });
    const nothing = { noteChild() {}, children: () => [], callOf: () => undefined, place: undefined };
    const clock = createServerClock();
    await clock.look(pool);
    const replica = createReplica(ledger, nothing, { roster: true, now: clock.now });
    await replica.caughtUp();
    const over = new AbortController();
    const connect = () => openClient(connection);
    const back = () => void replica.caughtUp().catch(() => {}); // it may be over by now
    const listening = listen({ connect, heard: replica.heard, back, signal: over.signal });
    return {
      replica,
      async wake(session) {
        const [standing] = await ledger.standing(session);
        if (standing) await (await dispatch()).wake(session, standing.place);
      },
      async close() {
        over.abort();
        replica.store.close();
        await listening;
        await (await dispatching)?.stop({ timeoutMs: 1_000 });
        await ledger.close();
      },
    };
  } catch (error) {
    await pool.end().catch(() => {});
    throw explained(where, error);
  }
}
