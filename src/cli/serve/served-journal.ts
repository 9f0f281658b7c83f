import type { Cluster } from "../../host/cluster/cluster.ts";
import { createGatewayHost } from "../../host/cluster/stream/gateway.ts";
import type { StreamClient } from "../../host/cluster/stream/stream-client.ts";
import type { LocalHost } from "../../host/host.ts";
import type { Store } from "../../journal/store/store.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { joinEngine } from "../host/join-engine.ts";
import { openRunner } from "../assemble/command-runner.ts";
import { openStore } from "../assemble/open-sage.ts";
import type { DaemonParts } from "./daemon.ts";
import { fileMemory, sharedMemory, type SurfaceMemory } from "./surface-memory.ts";
import type { Start } from "./start.ts";

/** The daemon's journal, and storage for its surfaces. */
type ServedJournal = {
  store: Store;
  memory: SurfaceMemory;
  /** The part of the daemon that depends on where the journal is. */
  daemon: Pick<DaemonParts, "own" | "runner" | "elsewhere">;
  /** The daemon's host as people come to it. */
  serves(host: LocalHost): LocalHost;
  close(): Promise<void>;
};

/** Opens the journal of this machine, or joins a shared one as a gateway. */
export async function openServedJournal(start: Start): Promise<ServedJournal> {
  return start.url === undefined ? ownJournal(start) : sharedJournal(start, start.url);
}

function ownJournal({ installation: { home }, demo }: Start): ServedJournal {
  const store = openStore(home);
  const memory = fileMemory(home.surfaces);
  return {
    store,
    memory,
    daemon: { runner: demo ? undefined : openRunner(home), ...(memory.own && { own: memory.own }) },
    serves: (host) => host,
    close: async () => memory.close(),
  };
}

async function sharedJournal(start: Start, url: string): Promise<ServedJournal> {
  const { installation, place, lang, t, log } = start;
  const cluster = await joinEngine(url, installation.home, {
    as: "gateway",
    place,
    roster: true,
    note: (why) => log("warn", sentence(why, lang)),
  });
  const memory = await sharedMemory(cluster, (error) => log("warn", t.memoryAway(thrownText(error, lang))));
  const meeting = await meet(cluster, start);
  const { peers, kept } = meeting;
  return {
    store: cluster.replica.store,
    memory,
    daemon: { elsewhere: { wake: (id: string) => void cluster.wake(id).catch(() => {}), peers, kept } },
    serves: (host) => createGatewayHost(host, { ...cluster.replica, staffed: cluster.ledger.staffed }, meeting),
    async close() {
      meeting.close();
      await cluster.closeAll();
      memory.close();
    },
  };
}

/** Follows sessions to the workers that run them. */
async function meet(cluster: Cluster, { log, lang }: Start): Promise<StreamClient> {
  const { createStreamClient } = await import("../../host/cluster/stream/stream-client.ts");
  return createStreamClient({
    cluster,
    unreachable: ({ problem, ...worker }) =>
      log("warn", clusterTexts(lang).unreachable({ ...worker, problem: sentence(problem, lang) })),
  });
}
