import type { Cluster } from "./cluster.ts";

export type Moved = { how: "moved" } | { how: "runs"; at: string } | { how: "unknown" };

/** Gives a session to another place, unless a living process runs it. Whoever has it in its queue there looks at it once. */
export async function move({ pool, ledger, dispatch }: Cluster, session: string, place: string): Promise<Moved> {
  const { rowCount } = await pool.query(
    "UPDATE sage.session s SET place=$2, process=NULL, epoch=epoch+1 WHERE id=$1 AND (process IS NULL OR NOT EXISTS (SELECT 1 FROM sage.process p WHERE p.id=s.process))",
    [session, place],
  );
  if (rowCount === 0) {
    const [standing] = await ledger.standing(session);
    return standing ? { how: "runs", at: standing.place } : { how: "unknown" };
  }
  // A message or a deadline may be waiting in the queue of the other place.
  await dispatch.wake(session, place);
  return { how: "moved" };
}
