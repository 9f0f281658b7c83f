import { oneLine, messageOf } from "../../../protocol/index.ts";
import { clusterTexts } from "../../../texts/cluster.ts";
import type { Lang } from "../../../texts/language.ts";

type Report = { ok(text: string): void; bad(text: string): void; note(text: string): void };
type Settings = {
  version: number;
  fsync: string;
  synchronous_commit: string;
  full_page_writes: string;
  standbys: string;
  in_sync: number;
  following: number;
  is_standby: boolean;
  has_journal: boolean;
};

const OLDEST = 13;

/** Reaches the database of a shared journal, and looks whether it keeps what it has acknowledged. */
export async function checkEngine(url: string, { ok, bad, note }: Report, lang: Lang): Promise<void> {
  const t = clusterTexts(lang).doctor;
  const where = oneLine(url.replace(/\/\/[^@/]*@/, "//"));
  const { Client } = await import("pg").then((pg) => pg.default);
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    return bad(t.away(where, oneLine(messageOf(error))));
  }
  try {
    const { rows } = await client.query<Settings>(
      `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('fsync') AS fsync,
        current_setting('synchronous_commit') AS synchronous_commit, current_setting('full_page_writes') AS full_page_writes,
        current_setting('synchronous_standby_names') AS standbys, pg_is_in_recovery() AS is_standby,
        (SELECT count(*)::int FROM pg_stat_replication WHERE sync_state IN ('sync','quorum')) AS in_sync,
        (SELECT count(*)::int FROM pg_stat_replication) AS following, to_regclass('sage.journal') IS NOT NULL AS has_journal`,
    );
    const [found] = rows;
    if (!found) return;
    ok(t.reached(where, found.version));
    if (found.version < OLDEST) bad(t.old(found.version, OLDEST));
    if (found.is_standby) return bad(t.standby);
    for (const setting of ["fsync", "full_page_writes"] as const) if (found[setting] === "off") bad(t.off(setting));
    if (found.synchronous_commit === "off" || (found.standbys !== "" && found.synchronous_commit === "local"))
      bad(t.losesCommits(found.synchronous_commit));
    if (found.standbys !== "" && found.in_sync === 0) bad(t.noSync(oneLine(found.standbys)));
    else if (found.standbys !== "") ok(t.inSync(found.in_sync));
    else note(found.following > 0 ? t.asynchronous(found.following) : t.alone);
    if (!found.has_journal) return note(t.noJournal);
    const { rows: counts } = await client.query<{ sessions: number; open: number; workers: number }>(
      "SELECT (SELECT count(*)::int FROM sage.session) AS sessions, (SELECT count(*)::int FROM sage.ask) AS open, (SELECT count(*)::int FROM sage.process) AS workers",
    );
    if (counts[0]) ok(t.holds(counts[0]));
    note(t.grace);
  } finally {
    await client.end();
  }
}
