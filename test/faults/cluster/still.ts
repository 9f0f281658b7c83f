// A look at everything that could hold a session up, for the moment at which nothing happens though everybody lives.
import type { Pool } from "pg";

const looks: Record<string, string> = {
  sessions:
    "SELECT id, seq, open, epoch, left(process, 8) AS process, left(job, 8) AS job, attempt FROM sage.session WHERE open > 0 OR process IS NOT NULL ORDER BY id",
  processes:
    "SELECT left(id, 8) AS id, since, now() - beat AS beat, EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype='advisory' AND l.classid=7 AND l.objid=p.lock AND l.granted) AS locked FROM sage.process p",
  requests: "SELECT session, key FROM sage.ask",
  jobs: "SELECT left(id::text, 8) AS id, name, state, singleton_key, retry_count, start_after - now() AS starts_in, now() - started_on AS since, now() - heartbeat_on AS heart FROM pgboss.job WHERE state <> 'completed' ORDER BY singleton_key, created_on",
  waits:
    "SELECT pid, state, wait_event_type, wait_event, now() - query_start AS since, left(query, 90) AS query FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'",
};

export async function describeStandstill(pool: Pool): Promise<string> {
  const parts: string[] = [];
  for (const [name, text] of Object.entries(looks)) {
    const found = await pool.query(text).then(
      ({ rows }) => rows as object[],
      (error: unknown) => [{ error: String(error) }],
    );
    parts.push(`${name}:`, ...found.map((row) => `  ${JSON.stringify(row)}`));
  }
  return parts.join("\n");
}
