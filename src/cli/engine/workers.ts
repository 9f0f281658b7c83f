import type { Client } from "pg";
import { explained } from "../../journal/postgres/error.ts";
import { publicAddress } from "../../journal/postgres/pool.ts";
import type { LivingGateway } from "../../journal/postgres/surface-table.ts";
import { clusterTexts, type ClusterTexts } from "../../texts/serve/cluster.ts";
import { engineUrl } from "../host/join-engine.ts";
import { readFlagsOnly, usage } from "../process/flags.ts";
import { writeStdout, printJson } from "../process/stdout.ts";
import { tableLines } from "../../view/lines/table.ts";

type Row = { place: string; process: string | null; since: Date | null; runs: string; address: string | null };

/** `sage workers`: who works where, how much each runs, and what waits for a place without a worker. */
export async function workers(args: string[]): Promise<number> {
  const { values, lang } = readFlagsOnly("workers", args, {
    engine: { type: "string" },
    json: { type: "boolean", default: false },
  });
  const t = clusterTexts(lang);
  const url = engineUrl(values.engine, process.env, t);
  if (url === undefined) throw usage(t.engineMissing);
  const { default: pg } = await import("pg");
  const client = new pg.Client(url);
  try {
    await client.connect();
    return show(await readRows(client), await gatewaysOf(client), values.json, t);
  } catch (error) {
    throw explained(publicAddress(url), error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** A database that no worker has ever joined has no tables yet. */
async function readRows(client: Client): Promise<Row[]> {
  const { rows: found } = await client.query<{ made: boolean }>(
    "SELECT to_regclass('sage.process') IS NOT NULL AS made",
  );
  if (!found[0]?.made) return [];
  const { rows } = await client.query<Row>(
    `SELECT p.place, p.id AS process, p.since, (SELECT count(*) FROM sage.session s WHERE s.process=p.id) AS runs, p.address FROM sage.process p
     UNION ALL SELECT place, NULL, NULL, count(*), NULL FROM sage.session s WHERE open > 0 AND NOT EXISTS (SELECT 1 FROM sage.process p WHERE p.place=s.place) GROUP BY place ORDER BY 1, 3`,
  );
  return rows;
}

async function gatewaysOf(client: Client): Promise<LivingGateway[]> {
  const { rows: found } = await client.query<{ made: boolean }>(
    "SELECT to_regproc('sage.gateways') IS NOT NULL AS made",
  );
  return found[0]?.made ? (await client.query<LivingGateway>("SELECT * FROM sage.gateways()")).rows : [];
}

function show(rows: readonly Row[], gateways: readonly LivingGateway[], json: boolean, t: ClusterTexts): number {
  if (json) {
    const all = [
      ...rows.map((row) => ({ ...row, runs: Number(row.runs) })),
      ...gateways.map(({ id, ...gateway }) => ({ gateway: id, ...gateway })),
    ];
    printJson(all);
    return 0;
  }
  const { place, worker, since, sessions, address } = t.workerColumns;
  const workerRows = rows.map((row) =>
    row.process === null
      ? [row.place, t.noWorker, "", t.waiting(Number(row.runs)), ""]
      : [row.place, row.process.slice(0, 8), minute(row.since), row.runs, row.address ?? t.notFollowed],
  );
  const { gateway, host, bots } = t.gatewayColumns;
  const gatewayRows = gateways.map((gateway) => [
    gateway.id.slice(0, 8),
    gateway.host,
    minute(gateway.since),
    gateway.holds.join(", "),
  ]);
  const lines = [
    ...(rows.some((row) => row.process !== null) ? [] : [t.noWorkers]),
    ...(rows.length === 0 ? [] : tableLines([[place, worker, since, sessions, address], ...workerRows])),
    ...(gateways.length === 0
      ? []
      : ["", ...tableLines([[gateway, host, t.gatewayColumns.since, bots], ...gatewayRows])]),
  ];
  writeStdout(`${lines.join("\n")}\n`);
  return 0;
}

const minute = (at: Date | null) => at?.toISOString().slice(0, 16).replace("T", " ") ?? "";
