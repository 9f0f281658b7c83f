import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { workspacesOf, type Home, readInstallation } from "../../config/home/home.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Log } from "../../surfaces/feishu/transport/api/config.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { createRedaction } from "../../config/secrets/redact.ts";
import { openStreamServer, type StreamServerParts } from "../../host/cluster/stream/stream-server.ts";
import { startWorker } from "../../host/cluster/worker/worker.ts";
import { publicAddress } from "../../journal/postgres/pool.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { clusterTexts, type ClusterTexts } from "../../texts/serve/cluster.ts";
import { engineUrl, joinEngine, workplaceName } from "../host/join-engine.ts";
import { readFlagsOnly, usage } from "../process/flags.ts";
import { onTermination } from "../process/termination.ts";
import { absoluteModelSpec, modelOf } from "../../host/assembly/model-choice.ts";
import { openRunner } from "../assemble/command-runner.ts";
import { openDaemon } from "../serve/daemon.ts";
import { createLog } from "../serve/log.ts";

const SLEEP_AFTER_MS = 500;

/** `sage worker`: runs sessions of a shared journal, where their files are. People answer at the gateway. */
export async function worker(args: string[]): Promise<number> {
  const {
    values,
    lang,
    t: cli,
  } = readFlagsOnly("worker", args, {
    engine: { type: "string" },
    place: { type: "string" },
    model: { type: "string" },
    log: { type: "string" },
    listen: { type: "string" },
    address: { type: "string" },
  });
  const t = clusterTexts(lang);
  const url = engineUrl(values.engine, process.env, t);
  if (url === undefined) throw usage(t.engineMissing);
  const place = workplaceName(values.place, t);
  const listens = listensAt(values, t);
  const format = values.log ?? "text";
  if (format !== "text" && format !== "json") throw usage(cli.expected("--log", cli.oneOf(["text", "json"]), format));
  const installation = readInstallation(process.env);
  const { home, env } = installation;
  const redaction = createRedaction(env);
  const log = createLog(redaction.text, format);
  const spec = absoluteModelSpec(values.model);
  if (!modelOf(installation, spec)) log("warn", cli.noModel); // sessions with a model of their own can still run
  const cluster = await joinEngine(url, home, {
    as: "worker",
    place,
    roster: false,
    note: (why) => log("warn", sentence(why, lang)),
  });
  const { host } = openDaemon({
    store: cluster.replica.store,
    env: process.env,
    lang,
    spec,
    guard: () => false, // nobody speaks to a worker
    personOf: () => undefined,
    warn: (text) => log("warn", text),
    letsGo: true,
    runner: openRunner(home),
    sleepAfterMs: SLEEP_AFTER_MS,
  });
  process.on("unhandledRejection", (error) => log("error", `unexpected: ${thrownText(error)}`));
  const journal = cluster.ledger.journal;
  const cannotListen = (error: unknown): never => {
    throw usage(t.listenFailed(values.listen ?? "127.0.0.1", thrownText(error, lang)));
  };
  const streamServer =
    listens && (await openStreamServer({ ...cluster, host, journal, redaction, ...listens }).catch(cannotListen));
  const working = await startWorker({
    cluster,
    place,
    host,
    streamServer,
    failed: (session, error) => log("warn", t.runFailed(session, thrownText(error, lang))),
  });
  log("info", t.works(place, publicAddress(url)));
  if (streamServer) log("info", t.listens(streamServer.address));
  const cleaning = cleanClones(cluster.replica.store, home, { env, log, t });
  const left = onTermination(
    async () => {
      log("info", t.leaving);
      cleaning.abort();
      await working.stop();
      await streamServer?.close();
      await cluster.closeAll();
      log("info", t.left);
    },
    { SIGTERM: 0, SIGHUP: 0, SIGINT: 0 },
  );
  return left.code;
}

const CLEAN_MS = 3_600_000;

/** Removes clones of deleted sessions, now and every hour. Clones that are kept are reported once. */
function cleanClones(store: Store, home: Home, { env, log, t }: { env: NodeJS.ProcessEnv; log: Log; t: ClusterTexts }) {
  const over = new AbortController();
  const folder = workspacesOf(home);
  const told = new Set<string>();
  const clean = async () => {
    if (!existsSync(folder)) return;
    const { collectClones } = await import("../../host/clone-remains.ts");
    const { removed, kept } = await collectClones(store, { folder, env, signal: over.signal });
    if (removed.length > 0) log("info", t.clonesRemoved(removed.length));
    for (const path of kept) if (!told.has(path)) log("warn", t.cloneKept(path));
    for (const path of kept) told.add(path);
  };
  const cleanLater = () => void clean().catch(() => {}); // the database is away: the next hour, then
  cleanLater();
  const every = setInterval(cleanLater, CLEAN_MS).unref();
  over.signal.addEventListener("abort", () => clearInterval(every), { once: true });
  return over;
}

/** The address at which gateways come in. Only those of this machine can, unless another one is named. */
function listensAt(
  { listen = "127.0.0.1:0", address }: { listen?: string | undefined; address?: string | undefined },
  t: ClusterTexts,
): Pick<StreamServerParts, "listen" | "address"> | undefined {
  if (listen === "none") return undefined;
  const at = hostAndPort(listen);
  if (!at) throw usage(t.listenUnfit(listen));
  const reached = address === undefined ? undefined : hostAndPort(address);
  if (address !== undefined && !reached) throw usage(t.addressUnfit(address));
  // A worker that listens at every address of a machine is found by its name.
  const isEvery = /^[0:.]*$/.test(at.host);
  return { listen: at, address: reached ?? (isEvery ? { host: hostname() } : undefined) };
}

function hostAndPort(given: string): { host: string; port: number } | undefined {
  const found = /^(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(given);
  const [, host = "", port = ""] = found ?? [];
  if (!found || Number(port) > 65_535) return undefined;
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}
