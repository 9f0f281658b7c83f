import type { Pool } from "pg";

/** The server's clock, for those of machines differ. Exact to one round trip, and rather behind: nothing expires early. */
type ServerClock = { now(): number; look(pool: Pick<Pool, "query">): Promise<void> };

export function createServerClock(): ServerClock {
  let ahead: number | undefined;
  return {
    // The time in whole milliseconds, as facts have it.
    now: () => Math.floor(performance.now() + (ahead ?? performance.timeOrigin)),
    async look(pool) {
      const sent = performance.now();
      const { rows } = await pool.query<{ now: string }>("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
      const heard = performance.now();
      // The server read its clock between our request and its reply.
      const [least, most] = [Number(rows[0]?.now) - heard, Number(rows[0]?.now) - sent];
      ahead = Math.min(Math.max(ahead ?? least, least), most);
    },
  };
}
