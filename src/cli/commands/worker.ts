import { messageOf } from "../../protocol/index.ts";
import { readInstallation } from "../../config/installation.ts";
import { createRedaction } from "../../config/redact.ts";
import { startWorker } from "../../host/cluster/worker.ts";
import { publicAddress } from "../../journal/postgres/ledger.ts";
import { clusterTexts } from "../../texts/cluster.ts";
import { engineOf, joinEngine, workPlace } from "../engine.ts";
import { noWords, readFlags, usage } from "../flags.ts";
import { onLeave } from "../leaving.ts";
import { lastingSpec, modelOf } from "../model-choice.ts";
import { openDaemon } from "./serve/daemon.ts";
import { createLog } from "./serve/log.ts";

const SLEEP_AFTER_MS = 500;

/** `sage worker`: runs sessions of a shared journal, where their files are. People answer at the gateway. */
export async function worker(args: string[]): Promise<number> {
  const {
    values,
    positionals,
    lang,
    t: cli,
  } = readFlags(args, {
    engine: { type: "string" },
    place: { type: "string" },
    model: { type: "string" },
    log: { type: "string" },
  });
  noWords("worker", positionals, cli);
  const t = clusterTexts(lang);
  const url = engineOf(values.engine, process.env, t);
  if (url === undefined) throw usage(t.engineMissing);
  const place = workPlace(values.place, t);
  const format = values.log ?? "text";
  if (format !== "text" && format !== "json") throw usage(cli.expected("--log", cli.oneOf(["text", "json"]), format));
  const installation = readInstallation(process.env);
  const { home, env } = installation;
  const log = createLog(createRedaction(env).text, format);
  const spec = lastingSpec(values.model);
  if (!modelOf(installation, spec)) log("warn", cli.noModel); // sessions that name a model of their own run all the same
  const cluster = await joinEngine(url, home, { as: "worker", place, roster: false });
  const { host } = openDaemon({
    ...{ store: cluster.replica.store, env: process.env, lang, spec },
    guard: () => false, // nobody speaks to a worker
    personOf: () => undefined,
    warn: (text) => log("warn", text),
    letsGo: true,
    sleepAfterMs: SLEEP_AFTER_MS,
  });
  process.on("unhandledRejection", (error) => log("error", `unexpected: ${messageOf(error)}`));
  const working = await startWorker({ cluster, place, host });
  log("info", t.works(place, publicAddress(url)));
  const left = onLeave(
    async () => {
      log("info", t.leaving);
      await working.stop();
      await cluster.closeAll();
      log("info", t.left);
    },
    { SIGTERM: 0, SIGHUP: 0, SIGINT: 0 },
  );
  return left.code;
}
