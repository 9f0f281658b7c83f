import { LOOP } from "../../agent/turn/turn.ts";
import type { InputRequest } from "../../protocol/index.ts";
import type { LocalHost } from "../host.ts";
import type { Cluster } from "./cluster.ts";
import type { Job } from "./dispatch.ts";
import { live } from "./living.ts";

export type WorkerParts = {
  cluster: Cluster;
  place: string;
  /** Runs turns on the cluster's store, and lets go of sessions that wait. */
  host: LocalHost;
  /** How many sessions at once. */
  atOnce?: number;
  /** How long nobody is judged after the connection was lost. */
  graceMs?: number;
};

export type Worker = { stop(): Promise<void> };

/** Runs sessions of a place, one job after the other, until it is stopped. What it leaves goes on elsewhere. */
export async function startWorker({ cluster, place, host, atOnce = 20, graceMs }: WorkerParts): Promise<Worker> {
  const { process, replica, dispatch, pool, connect } = cluster;
  /** Ends of what runs here. */
  const running = new Set<() => void>();
  const living = live({
    ...{ process, place, loop: LOOP, pool, connect, ...(graceMs !== undefined && { graceMs }) },
    buried: () => running.forEach((leave) => leave()),
    async orphaned(orphans) {
      if (dispatch.isBlind()) return;
      for (const { session, place: at, job, attempt } of orphans)
        if (job !== null && attempt !== null) await dispatch.giveUp(at, { id: job, attempt });
        else await dispatch.wake(session, at);
    },
  });
  const run = async ({ session, id, attempt, signal }: Job): Promise<void> => {
    const leave = () => {
      replica.lost(session);
      host.leave(session);
    };
    signal.addEventListener("abort", leave, { once: true });
    running.add(leave);
    const unlook = await replica.look(session); // its requests are read after it was let go of
    try {
      do {
        await replica.take(session, { job: { id, attempt } });
        await host.run(session).catch(() => {}); // told to whoever watches; the facts say how it stands
      } while (replica.again(session) && !signal.aborted);
      const due = nextDue(replica.store.pending(session));
      if (due !== undefined) await dispatch.wakeAt(session, place, due);
    } finally {
      unlook();
      running.delete(leave);
      signal.removeEventListener("abort", leave);
    }
  };
  await dispatch.work(place, run, { atOnce });
  return {
    async stop() {
      await living.stop();
    },
  };
}

/** The next moment at which something happens to one of these without an answer. */
function nextDue(requests: readonly InputRequest[]): number | undefined {
  const now = Date.now();
  const all = requests.flatMap(({ deadline, remind = [] }) => [
    ...(deadline ? [deadline.at] : []),
    ...(deadline?.escalation ?? []).map(({ at }) => at),
    ...remind,
  ]);
  const [first] = all.filter((at) => at > now).toSorted((a, b) => a - b);
  return first;
}
