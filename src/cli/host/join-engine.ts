import { hostname } from "node:os";
import { join } from "node:path";
import type { Home } from "../../config/home/home.ts";
import type { Cluster } from "../../host/cluster/cluster.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import { sqliteStore } from "../../journal/sqlite/sqlite.ts";
import type { ClusterTexts } from "../../texts/serve/cluster.ts";
import { usage } from "../process/flags.ts";

/** Names of places become part of queue names. */
const PLACE = /^[\w-]{1,40}$/;

export function engineUrl(flag: string | undefined, env: NodeJS.ProcessEnv, t: ClusterTexts): string | undefined {
  const given = flag ?? env["SAGE_ENGINE"];
  if (given === undefined || (given === "" && flag === undefined)) return undefined;
  // A socket's address has no host after the @.
  const isAddress = /^postgres(ql)?:\/\//.test(given) && URL.canParse(given.replace("@/", "@socket/"));
  if (!isAddress) throw usage(t.engineUnfit(withoutPassword(given)));
  return given;
}

/** Removes passwords: before the last @, or after `password=`. */
function withoutPassword(given: string): string {
  return given.replace(/\/\/.*@/s, "//…@").replaceAll(/(password\s*=\s*)('[^']*'|[^\s&]+)/gi, "$1…");
}

/** The set of files that sessions work on: this machine's, unless another name is given. */
export function workplaceName(given: string | undefined, t: ClusterTexts): string {
  const place =
    given ??
    hostname()
      .replaceAll(/[^\w-]/g, "-")
      .slice(0, 40);
  if (!PLACE.test(place)) throw usage(t.placeUnfit(place));
  return place;
}

/** Commands that a worker of this home runs are noted here. */
export function workerFile({ dir }: Pick<Home, "dir">): string {
  return join(dir, "worker.db");
}

/** Joins the shared journal. Commands that this machine runs are noted in a file of its own: nobody else can see them. */
export async function joinEngine(
  url: string,
  home: Home,
  options: { as: "worker" | "gateway"; place: string; roster: boolean; note?: (why: Reason) => void },
): Promise<Cluster & { closeAll(): Promise<void> }> {
  const { joinCluster } = await import("../../host/cluster/cluster.ts"); // its libraries are installed where they can be
  const machine = sqliteStore(workerFile(home));
  const { noteChild, children, callOf } = machine;
  const local = { noteChild, children, callOf, place: undefined };
  const cluster = await joinCluster({ url, local, ...options, place: () => options.place });
  return {
    ...cluster,
    async closeAll() {
      await cluster.close();
      machine.close();
    },
  };
}
