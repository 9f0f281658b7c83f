import { createRequire } from "node:module";
import { clusterTexts } from "../../texts/cluster.ts";
import { engineOf } from "../engine.ts";
import { noWords, readFlags, usage } from "../flags.ts";
import { toStdout } from "../stdout.ts";

type Row = { place: string; process: string | null; since: Date | null; runs: string };

/** `sage workers`: who works where, how much each runs, and what waits for a place without a worker. */
export async function workers(args: string[]): Promise<number> {
  const {
    values,
    positionals,
    lang,
    t: cli,
  } = readFlags(args, {
    engine: { type: "string" },
    json: { type: "boolean", default: false },
  });
  noWords("workers", positionals, cli);
  const t = clusterTexts(lang);
  const url = engineOf(values.engine, process.env, t);
  if (url === undefined) throw usage(t.engineMissing);
  const { Client } = createRequire(import.meta.url)("pg") as typeof import("pg");
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<Row>(
    `SELECT p.place, p.id AS process, p.since, (SELECT count(*) FROM sage.session s WHERE s.process=p.id) AS runs FROM sage.process p
     UNION ALL SELECT place, NULL, NULL, count(*) FROM sage.session s WHERE open > 0 AND NOT EXISTS (SELECT 1 FROM sage.process p WHERE p.place=s.place) GROUP BY place ORDER BY 1, 3`,
  );
  await client.end();
  if (values.json)
    toStdout(
      `${JSON.stringify(
        rows.map((row) => ({ ...row, runs: Number(row.runs) })),
        undefined,
        2,
      )}\n`,
    );
  else if (rows.length === 0) toStdout(`${t.noWorkers}\n`);
  else
    for (const { place, process: id, since, runs } of rows)
      toStdout(
        `${id === null ? t.waiting(place, Number(runs)) : t.worker({ place, process: id.slice(0, 8), since: since?.toISOString().slice(0, 16).replace("T", " ") ?? "", runs: Number(runs) })}\n`,
      );
  return 0;
}
