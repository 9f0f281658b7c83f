import { existsSync } from "node:fs";
import { readInstallation } from "../../config/installation.ts";
import { migrate, type Brought } from "../../journal/postgres/migrate.ts";
import { clusterTexts } from "../../texts/cluster.ts";
import { engineOf, workPlace } from "../engine.ts";
import { exitCodes } from "../exit-codes.ts";
import { readFlags, usage } from "../flags.ts";
import { toStdout } from "../stdout.ts";

/** `sage engine migrate`: brings the journal of this machine to a database that machines share. */
export async function engine(args: string[]): Promise<number> {
  const [what, ...rest] = args;
  const { values, positionals, lang } = readFlags(rest, {
    from: { type: "string" },
    place: { type: "string" },
    engine: { type: "string" },
  });
  const t = clusterTexts(lang);
  const [given, stray] = positionals;
  if (what !== "migrate" || stray !== undefined) throw usage(t.engineUsage);
  const url = engineOf(given ?? values.engine, process.env, t);
  if (url === undefined) throw usage(t.engineMissing);
  const place = workPlace(values.place, t);
  const path = values.from ?? readInstallation(process.env).home.journal;
  if (!existsSync(path)) throw usage(t.journalMissing(path));
  const { Pool } = await import("pg").then((pg) => pg.default);
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  const counts = new Map<Brought["how"], number>();
  try {
    for await (const { session, how } of migrate(pool, path, place)) {
      counts.set(how, (counts.get(how) ?? 0) + 1);
      if (how === "owned" || how === "differs" || how === "damaged") console.error(t.stayed(session, how));
    }
  } finally {
    await pool.end();
  }
  const of = (...hows: Brought["how"][]) => hows.reduce((sum, how) => sum + (counts.get(how) ?? 0), 0);
  const stayed = of("owned", "differs", "damaged");
  toStdout(`${t.migrated({ brought: of("brought", "grown"), there: of("there"), stayed, place })}\n`);
  return stayed === 0 ? exitCodes.success : exitCodes.failure;
}
