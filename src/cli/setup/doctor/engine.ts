import { oneLine } from "../../../base/visible.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import { openObserver } from "../../../host/cluster/observer.ts";
import { misfitOf } from "../../../journal/postgres/tables.ts";
import { REMOVED } from "../../../journal/store/housekeeping.ts";
import { publicAddress } from "../../../journal/postgres/pool.ts";
import { cliTexts } from "../../../texts/commands/cli.ts";
import { clusterTexts } from "../../../texts/serve/cluster.ts";
import type { Lang } from "../../../texts/language.ts";
import { sentence } from "../../../texts/shared/sentence.ts";

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
  sees_standbys: boolean;
  has_journal: boolean;
  may_read: boolean | null;
};

type Trust = { owns: boolean; speaks: boolean; trusted: number; is_open: boolean; places: string[]; known: number };

const OLDEST = 13;

/** Looks at each chain of hashes again, one session after the other. */
async function checkRecords(url: string, { ok, bad }: Pick<Report, "ok" | "bad">, lang: Lang): Promise<void> {
  const look = await openObserver(url);
  if ("missing" in look) return;
  const t = cliTexts(lang).doctor;
  const { store } = look.replica;
  try {
    const ids = store.sessions().map(({ id }) => id);
    let broken = 0;
    const tell = (id: string, damage: { seq: number; key: string } | undefined) => {
      if (!damage) return;
      broken++;
      bad(t.broken(id, damage.seq, damage.key));
    };
    for (const id of ids) tell(id, await store.verify(id));
    tell(REMOVED, await store.housekeeping.verifyRemoved());
    if (broken === 0) ok(t.chain(ids.length, 0));
  } finally {
    await look.close();
  }
}

/** Rights of this login, and the number of running workers whose login may write what people say. */
const whom = `SELECT pg_has_role(s.nspowner, 'USAGE') AS owns, has_function_privilege(f.oid, 'EXECUTE') AS speaks,
  (SELECT count(*)::int FROM sage.process p JOIN pg_roles r ON r.rolname = p.login WHERE has_function_privilege(r.oid, f.oid, 'EXECUTE')) AS trusted,
  EXISTS (SELECT 1 FROM pg_namespace n WHERE n.nspname = 'public' AND has_schema_privilege(n.oid, 'CREATE')) AS is_open,
  array(SELECT l.place FROM sage.login l WHERE l.name = session_user ORDER BY 1) AS places,
  (SELECT count(*)::int FROM (SELECT place FROM sage.session UNION SELECT place FROM sage.process) p WHERE place <> '') AS known
  FROM pg_namespace s JOIN pg_proc f ON f.pronamespace = s.oid AND f.proname = 'append_fact' WHERE s.nspname = 'sage'`;

/** Connects to the database of a shared journal and checks that it is durable. */
export async function checkEngine(url: string, { ok, bad, note }: Report, lang: Lang): Promise<void> {
  const t = clusterTexts(lang).doctor;
  const where = oneLine(publicAddress(url));
  const { Client } = await import("pg").then((pg) => pg.default);
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    return bad(t.away(where, oneLine(thrownText(error, lang))));
  }
  try {
    const { rows } = await client.query<Settings>(
      `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('fsync') AS fsync,
        current_setting('synchronous_commit') AS synchronous_commit, current_setting('full_page_writes') AS full_page_writes,
        current_setting('synchronous_standby_names') AS standbys, pg_is_in_recovery() AS is_standby,
        pg_has_role('pg_read_all_stats', 'USAGE') AS sees_standbys,
        (SELECT count(*)::int FROM pg_stat_replication WHERE sync_state IN ('sync','quorum')) AS in_sync,
        (SELECT count(*)::int FROM pg_stat_replication) AS following,
        to_regnamespace('sage') IS NOT NULL AS has_journal, has_schema_privilege(to_regnamespace('sage'), 'USAGE') AS may_read`,
    );
    const [found] = rows;
    if (!found) return;
    ok(t.reached(where, found.version));
    if (found.version < OLDEST) bad(t.old(found.version, OLDEST));
    if (found.is_standby) return bad(t.standby);
    for (const setting of ["fsync", "full_page_writes"] as const) if (found[setting] === "off") bad(t.off(setting));
    if (found.synchronous_commit === "off" || (found.standbys !== "" && found.synchronous_commit === "local"))
      bad(t.losesCommits(found.synchronous_commit));
    if (found.standbys !== "" && found.in_sync === 0 && found.sees_standbys) bad(t.noSync(oneLine(found.standbys)));
    else if (found.in_sync > 0) ok(t.inSync(found.in_sync));
    else if (found.standbys === "") note(found.following > 0 ? t.asynchronous(found.following) : t.alone);
    if (!found.has_journal) return note(t.noJournal);
    if (!found.may_read) return bad(sentence(reason("engine-unprepared", { path: where }), lang));
    const misfit = await misfitOf(client, where);
    if (misfit) bad(sentence(misfit, lang));
    const { rows: counts } = await client.query<{ sessions: number; open: number; workers: number }>(
      "SELECT (SELECT count(*)::int FROM sage.session) AS sessions, (SELECT count(*)::int FROM sage.ask) AS open, (SELECT count(*)::int FROM sage.process) AS workers",
    );
    if (counts[0]) ok(t.holds(counts[0]));
    // Reading the records with the owner's login would bring older functions up; a doctor changes nothing.
    if (misfit && misfit.code !== "functions-newer") return;
    await checkRecords(url, { ok, bad }, lang);
    note(t.grace);
    const { rows: trust } = await client.query<Trust>(whom);
    for (const { owns, speaks, trusted, is_open: isOpen, places, known } of trust) {
      if (owns) note(t.owns);
      else if (speaks) ok(t.speaks);
      else ok(t.onlyRuns);
      if (places.length > 0) ok(t.boundTo(places));
      else if (!speaks && known > 1) note(t.everywhere);
      if (trusted > 0) note(t.trusted(trusted));
      if (isOpen && !owns) note(clusterTexts(lang).openSchema);
    }
  } finally {
    await client.end();
  }
}
