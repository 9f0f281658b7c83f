import type { Cluster } from "./cluster.ts";

export type MoveResult = { how: "moved" } | { how: "runs"; at: string } | { how: "unknown" };

/** Gives a session to another place, unless a living process runs it. Whoever has it in its queue there looks at it once. */
export async function moveSession(
  { pool, ledger, dispatch }: Cluster,
  session: string,
  place: string,
): Promise<MoveResult> {
  const { rows } = await pool.query<{ done: boolean }>("SELECT sage.move_session($1,$2) AS done", [session, place]);
  if (!rows[0]?.done) {
    const [standing] = await ledger.standing(session);
    return standing ? { how: "runs", at: standing.place } : { how: "unknown" };
  }
  // A message or a deadline may be waiting in the queue of the other place.
  await dispatch.wake(session, place);
  return { how: "moved" };
}
