import { existsSync } from "node:fs";
import type { Pool, PoolClient } from "pg";
import type { Fact } from "../../protocol/facts/fact.ts";
import { openForReading, type Opened } from "../database/open-database.ts";
import { sqliteStore } from "../sqlite/sqlite.ts";
import { splitData } from "./cells.ts";
import { postgresLedger } from "./postgres-ledger.ts";
import { inTransaction } from "./pool.ts";

export type Brought = {
  session: string;
  /** `there`: nothing missing. `owned`: runs on either side. `differs`: it went on over there. `damaged`: its records do not hold. */
  how: "brought" | "grown" | "there" | "owned" | "differs" | "damaged";
};

type SessionRow = {
  id: string;
  cwd: string;
  title: string;
  at: number;
  last_at: number;
  open: number;
  head: string;
  epoch: number;
};
type FactRow = { seq: number; key: string; type: string; at: number; data: string; hash: string };
type Copy = { row: SessionRow; facts: FactRow[]; long: Map<string, string>; asks: { seq: number; key: string }[] };

const AT_ONCE = 500;

/** Brings the sessions of a journal of this machine over, one after the other: ids, numbers and hashes as they are. Can be run again. */
export async function* migrate(pool: Pool, path: string, place: string): AsyncGenerator<Brought> {
  if (!existsSync(path)) throw new Error(`${path} is not there`);
  const store = sqliteStore(path, { looks: true });
  const opened = openForReading(path);
  try {
    const ledger = await postgresLedger(pool, { process: "migration" });
    for (const { id } of store.sessions()) {
      const isOwned = () => store.session(id)?.owned === true;
      if (isOwned()) {
        yield { session: id, how: "owned" };
        continue;
      }
      if (store.verify(id)) {
        yield { session: id, how: "damaged" };
        continue;
      }
      const copy = readSession(opened, id);
      if (isOwned()) {
        yield { session: id, how: "owned" };
        continue;
      }
      const how = await inTransaction(pool, (client) => bring(client, copy, place));
      const broken = how === "brought" || how === "grown" ? await ledger.verify(id) : undefined;
      yield { session: id, how: broken ? "damaged" : how };
    }
    const removed = store.housekeeping.removed();
    if (removed.length > 0) await inTransaction(pool, (client) => bringRemoved(client, removed));
  } finally {
    opened.close();
    store.close();
  }
}

function readSession({ db }: Opened, id: string): Copy {
  const all = <R>(text: string) => db.prepare(text).all(id) as R[];
  db.exec("BEGIN");
  try {
    const [row] = all<SessionRow>("SELECT id,cwd,title,at,last_at,open,head,epoch FROM session WHERE id=?");
    if (!row) throw new Error(`${id} has gone`);
    const facts = all<FactRow>("SELECT seq,key,type,at,data,hash FROM fact WHERE session=? ORDER BY seq");
    const long = all<{ key: string; data: string }>("SELECT key,data FROM long WHERE session=?");
    const asks = all<{ seq: number; key: string }>("SELECT seq,key FROM ask WHERE session=?");
    return { row, facts, long: new Map(long.map(({ key, data }) => [key, data])), asks };
  } finally {
    db.exec("COMMIT");
  }
}

async function bring(client: PoolClient, copy: Copy, place: string): Promise<Brought["how"]> {
  const { row, facts } = copy;
  const made = await client.query(
    "INSERT INTO sage.session(id,place,cwd,title,at,last_at,epoch,head) VALUES($1,$2,$3,$4,$5,$6,$7,'') ON CONFLICT DO NOTHING",
    [row.id, place, row.cwd, row.title.replaceAll("\0", "\uFFFD"), row.at, row.last_at, row.epoch],
  );
  let from = 0;
  if (made.rowCount === 0) {
    const { rows } = await client.query<{ head: string; owned: boolean }>(
      "SELECT head, EXISTS (SELECT 1 FROM sage.process p WHERE p.id=s.process) AS owned FROM sage.session s WHERE id=$1 FOR UPDATE",
      [row.id],
    );
    const { head = "", owned = false } = rows[0] ?? {};
    if (head === row.head) return "there";
    from = facts.findIndex(({ hash }) => hash === head) + 1;
    if (from === 0) return "differs";
    if (owned) return "owned";
  }
  for (let n = from; n < facts.length; n += AT_ONCE) await insert(client, copy, facts.slice(n, n + AT_ONCE));
  await client.query("DELETE FROM sage.ask WHERE session=$1", [row.id]);
  await client.query(
    "INSERT INTO sage.ask(session,key,seq,at) SELECT $1, f.key, f.seq, f.at FROM sage.fact f WHERE f.session=$1 AND f.key=ANY($2)",
    [row.id, copy.asks.map(({ key }) => key)],
  );
  await client.query(
    "UPDATE sage.session SET title=$2, last_at=$3, open=$4, epoch=greatest(epoch,$5), seq=$6, head=$7, process=NULL, loop=coalesce((SELECT (f.data::json->>'loop')::int FROM sage.fact f WHERE f.session=$1 AND f.type='turn.begun' AND f.data LIKE '{%' ORDER BY f.seq DESC LIMIT 1), 0) WHERE id=$1",
    [row.id, row.title.replaceAll("\0", "\uFFFD"), row.last_at, row.open, row.epoch, facts.at(-1)?.seq ?? 0, row.head],
  );
  return made.rowCount === 0 ? "grown" : "brought";
}

/** Brings the remains of deleted sessions. Several machines may bring theirs: here they are one chain. */
async function bringRemoved(client: PoolClient, removed: readonly Fact<"session.removed">[]): Promise<void> {
  for (const { key, at, data } of removed)
    await client.query("SELECT sage.note_removed($1,$2,$3,$4)", [key, at, ...splitData(data)]);
}

async function insert(client: PoolClient, { row, long }: Copy, facts: readonly FactRow[]): Promise<void> {
  const column = <K extends keyof FactRow>(name: K) => facts.map((fact) => fact[name]);
  await client.query(
    "INSERT INTO sage.fact SELECT $1, * FROM unnest($2::bigint[],$3::text[],$4::text[],$5::bigint[],$6::text[],$7::text[])",
    [row.id, column("seq"), column("key"), column("type"), column("at"), column("data"), column("hash")],
  );
  const kept = facts.flatMap(({ key }) => {
    const data = long.get(key);
    return data === undefined ? [] : [{ key, data }];
  });
  await client.query("INSERT INTO sage.long SELECT $1, * FROM unnest($2::text[],$3::text[])", [
    row.id,
    kept.map(({ key }) => key),
    kept.map(({ data }) => data),
  ]);
}
