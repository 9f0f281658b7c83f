import { readInstallation } from "../../config/home/home.ts";
import { moveSession } from "../../host/cluster/cluster.ts";
import { explained } from "../../journal/postgres/error.ts";
import { publicAddress } from "../../journal/postgres/pool.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import { engineUrl, joinEngine, workplaceName } from "../host/join-engine.ts";
import { writeStdout, fail, exitCodes } from "../process/stdout.ts";
import { readFlags, usage } from "../process/flags.ts";

/** `sage move`: assigns a session to the workers of another place. Its files have to be copied by hand. */
export async function move(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, { engine: { type: "string" }, to: { type: "string" } });
  const t = clusterTexts(lang);
  const [session, stray] = positionals;
  if (session === undefined || stray !== undefined || values.to === undefined) throw usage(t.moveUsage);
  const url = engineUrl(values.engine, process.env, t);
  if (url === undefined) throw usage(t.engineMissing);
  const place = workplaceName(values.to, t);
  const cluster = await joinEngine(url, readInstallation(process.env).home, { as: "gateway", place, roster: false });
  try {
    const moved = await moveSession(cluster, session, place);
    switch (moved.how) {
      case "moved":
        writeStdout(`${t.moved(session, place)}\n`);
        if (!(await cluster.ledger.staffed()).includes(place)) console.error(t.nobodyThere(place));
        return exitCodes.success;
      case "runs":
        return fail(t.notMoved(session, moved.at));
      case "unknown":
        return fail(t.noSession(session));
    }
  } catch (error) {
    throw explained(publicAddress(url), error);
  } finally {
    await cluster.closeAll();
  }
}
