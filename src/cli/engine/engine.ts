import { existsSync } from "node:fs";
import { readInstallation } from "../../config/home/home.ts";
import { explained } from "../../journal/postgres/error.ts";
import { quoted, type Roles } from "../../journal/postgres/schema/grants.ts";
import { PATIENT_MS, openPool, publicAddress } from "../../journal/postgres/pool.ts";
import { migrate, type Brought } from "../../journal/postgres/migrate.ts";
import { clusterTexts, type ClusterTexts } from "../../texts/serve/cluster.ts";
import { engineUrl, workplaceName } from "../host/join-engine.ts";
import { writeStdout, fail, exitCodes } from "../process/stdout.ts";
import { readFlags, usage } from "../process/flags.ts";

export async function engine(args: string[]): Promise<number> {
  const [what, ...rest] = args;
  return what === "prepare" ? prepare(rest) : bring(what, rest);
}

/** `sage engine prepare`: makes tables and roles, so that workers and gateways need not own the database. */
async function prepare(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, {
    engine: { type: "string" },
    "worker-login": { type: "string" },
    "gateway-login": { type: "string" },
    place: { type: "string", multiple: true },
  });
  const t = clusterTexts(lang);
  const [given, stray] = positionals;
  if (stray !== undefined) throw usage(t.engineUsage);
  const url = engineUrl(given ?? values.engine, process.env, t);
  if (url === undefined) throw usage(t.engineMissing);
  const { "worker-login": worker, "gateway-login": gateway } = values;
  const places = placesOf(values.place, worker, t);
  if (worker !== undefined && worker === gateway) throw usage(t.oneLogin(worker));
  const logins = {
    ...(places && { places }),
    ...(worker !== undefined && { worker }),
    ...(gateway !== undefined && { gateway }),
  };
  const { MayNotMakeRoles, NotLimited, prepareEngine } = await import("../../host/cluster/prepare-engine.ts");
  const pool = await openPool({ connectionString: url, max: 2 }, { silentMs: PATIENT_MS });
  try {
    const { roles, made, beyond, isOpen } = await prepareEngine(url, pool, logins);
    writeStdout(`${t.prepared(publicAddress(url))}\n`);
    for (const login of made) writeStdout(`${t.madeLogin(login)}\n`);
    if (worker !== undefined && places) writeStdout(`${t.loginPlaces(worker, places)}\n`);
    if (worker === undefined && gateway === undefined) writeStdout(`${t.loginsOf(inSql(roles))}\n`);
    if (beyond) console.error(t.loginBeyond(beyond));
    if (isOpen) console.error(t.openSchema);
    return exitCodes.success;
  } catch (error) {
    if (error instanceof NotLimited) return fail(`${t.loginBeyond(error.beyond)}\n${t.nothingChanged}`);
    const isForeign = (error as { code?: string }).code === "42501";
    if (!(error instanceof MayNotMakeRoles) && !isForeign) throw explained(publicAddress(url), error);
    return fail(error instanceof MayNotMakeRoles ? t.mayNotMakeRoles(inSql(error.roles)) : t.notOwner);
  } finally {
    await pool.end();
  }
}

/** A star takes a login's places away: then it runs sessions of every one. */
function placesOf(given: readonly string[] | undefined, worker: string | undefined, t: ClusterTexts) {
  if (given && worker === undefined) throw usage(t.placesOfWhom);
  if (given?.includes("*")) return [];
  return given?.map((place) => workplaceName(place, t));
}

function inSql({ worker, gateway }: Roles): Roles {
  return { worker: quoted(worker), gateway: quoted(gateway) };
}

/** `sage engine migrate`: brings the journal of this machine to a database that machines share. */
async function bring(what: string | undefined, rest: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(rest, {
    from: { type: "string" },
    place: { type: "string" },
    engine: { type: "string" },
  });
  const t = clusterTexts(lang);
  const [given, stray] = positionals;
  if (what !== "migrate" || stray !== undefined) throw usage(t.engineUsage);
  const url = engineUrl(given ?? values.engine, process.env, t);
  if (url === undefined) throw usage(t.engineMissing);
  const place = workplaceName(values.place, t);
  const path = values.from ?? readInstallation(process.env).home.journal;
  if (!existsSync(path)) throw usage(t.journalMissing(path));
  const pool = await openPool({ connectionString: url, max: 2 }, { silentMs: PATIENT_MS });
  const counts = new Map<Brought["how"], number>();
  try {
    for await (const { session, how } of migrate(pool, path, place)) {
      counts.set(how, (counts.get(how) ?? 0) + 1);
      if (how === "owned" || how === "differs" || how === "damaged") console.error(t.stayed(session, how));
    }
  } catch (error) {
    throw explained(publicAddress(url), error);
  } finally {
    await pool.end();
  }
  const of = (...hows: Brought["how"][]) => hows.reduce((sum, how) => sum + (counts.get(how) ?? 0), 0);
  const stayed = of("owned", "differs", "damaged");
  writeStdout(`${t.migrated({ brought: of("brought", "grown"), there: of("there"), stayed, place })}\n`);
  return stayed === 0 ? exitCodes.success : exitCodes.failure;
}
