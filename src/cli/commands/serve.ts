import { realpathSync } from "node:fs";
import { countOutside } from "../../input/outside.ts";
import { messageOf, SageError, said, type Host, type Reason, type Sender } from "../../protocol/index.ts";
import { readInstallation } from "../../config/installation.ts";
import { liveSettings } from "../../config/people.ts";
import { createRedaction } from "../../config/redact.ts";
import type { Guard, PersonOf } from "../../host/guard.ts";
import { createDevices } from "../../surfaces/web/index.ts";
import type { Cluster } from "../../host/cluster/cluster.ts";
import { gateway } from "../../host/cluster/gateway.ts";
import type { Meeting } from "../../host/cluster/meeting.ts";
import { publicAddress } from "../../journal/postgres/address.ts";
import { cliTexts } from "../../texts/cli.ts";
import { clusterTexts, type ClusterTexts } from "../../texts/cluster.ts";
import { feishuSetupTexts } from "../../texts/feishu-setup.ts";
import type { Lang } from "../../texts/language.ts";
import { sentence } from "../../texts/reasons.ts";
import { serveTexts } from "../../texts/serve.ts";
import { feishuBots, portOf } from "./feishu/config.ts";
import { webhookPath } from "./feishu/doctor.ts";
import { noWords, readFlags, usage } from "../flags.ts";
import { accountName } from "../account.ts";
import { ask } from "../journal.ts";
import { engineOf, joinEngine, workPlace } from "../engine.ts";
import { onLeave } from "../leaving.ts";
import { openRunner } from "../open-runner.ts";
import { openDaemon } from "./serve/daemon.ts";
import { botGuard, botPerson, type Bot } from "./serve/feishu.ts";
import { createHappenings } from "./serve/happenings.ts";
import { createHttp, listen, type Readiness } from "./serve/http.ts";
import { inviteSelf } from "./serve/invite.ts";
import { createLog } from "./serve/log.ts";
import { metricsText } from "./serve/metrics.ts";
import { readPage } from "./serve/page-files.ts";
import { isLoopback, placeOf } from "./serve/place.ts";
import { fileMemory, sharedMemory } from "./serve/memory.ts";
import { createVisitors, type Visitors } from "./serve/visitors.ts";
import { foldersOf, openWeb } from "./serve/web.ts";
import { lastingSpec, modelOf } from "../model-choice.ts";
import { openStore } from "../wiring.ts";

const PORT = 8787;

const options = {
  port: { type: "string" },
  host: { type: "string" },
  model: { type: "string" },
  log: { type: "string" },
  open: { type: "boolean" },
  demo: { type: "boolean" },
  engine: { type: "string" },
  place: { type: "string" },
} as const;

/** `sage serve`: sessions of many folders in one process that stays, for people who are elsewhere. */
export async function serve(args: string[]): Promise<number> {
  const [what, ...rest] = args;
  if (what === "install" || what === "status" || what === "uninstall")
    return (await import("./serve/install.ts"))[what](rest);
  const { values, positionals, lang, t: cli } = readFlags(args, options);
  noWords("serve", positionals, cli);
  const t = serveTexts(lang);
  const setup = feishuSetupTexts(lang);
  const spec = lastingSpec(values.model);
  const url = engineOf(values.engine, process.env, clusterTexts(lang));
  if (values.demo && url !== undefined) throw usage(clusterTexts(lang).noDemo);
  const { demo, installation, configured, cwd } = await begin(values.demo === true, spec, lang, url !== undefined);
  const { home, settings, env } = installation;
  const config = { cwd, lang, t: setup };
  const port = values.port ?? env["FEISHU_PORT"];
  const at = {
    host: values.host ?? settings.serve?.host ?? "127.0.0.1",
    port:
      port === undefined
        ? (settings.serve?.port ?? PORT)
        : portOf(port, values.port === undefined ? "FEISHU_PORT" : "--port", setup),
  };

  const format = values.log ?? "text";
  if (format !== "text" && format !== "json") throw usage(cli.expected("--log", cli.oneOf(["text", "json"]), format));
  const redaction = createRedaction(env);
  const log = createLog(redaction.text, format);
  if (demo && !values.demo) log("warn", t.demo);
  const workedAt = workPlace(values.place, clusterTexts(lang));
  const note = (why: Reason) => log("warn", sentence(why, lang));
  const cluster =
    url === undefined ? undefined : await joinEngine(url, home, { as: "gateway", place: workedAt, roster: true, note });
  const store = cluster?.replica.store ?? openStore(home);
  const away = (error: unknown) => log("warn", t.memoryAway(messageOf(error)));
  const memory = cluster ? await sharedMemory(cluster, away) : fileMemory(home.surfaces);
  const meeting = cluster && (await meet(cluster, (text) => log("warn", text), clusterTexts(lang)));
  const bots: Bot[] = [];
  const now = liveSettings(home.settings, (error) => log("warn", setup.settingsKept(messageOf(error))));
  const devices = createDevices(memory.web);
  const visitors = createVisitors(devices, now);
  const people = peopleOf(bots, visitors);
  const happenings = createHappenings(store, log, lang);
  const daemon = openDaemon({
    ...(cluster
      ? {
          elsewhere: {
            wake: (id: string) => void cluster.wake(id).catch(() => {}),
            ...{ peers: meeting?.peers, kept: meeting?.kept },
          },
        }
      : { runner: demo ? undefined : openRunner(home) }),
    ...(memory.own && { own: memory.own }),
    ...{ store, env: demo?.env ?? process.env, lang, spec, model: demo?.model, ...people },
    warn: (text) => log("warn", text),
    folders: () => Object.entries(foldersOf(now(), cwd)).map(([name, folder]) => ({ name, cwd: folder })),
    begins: happenings.follow,
  });
  // Something of a library's went wrong where nobody waits for it: worth a line, not the end of everybody's turns.
  process.on("unhandledRejection", (error) => log("error", `unexpected: ${messageOf(error)}`));

  let leaving = false;
  const host = cluster
    ? gateway(daemon.host, { ...cluster.replica, staffed: cluster.ledger.staffed }, meeting)
    : daemon.host;
  const { output } = home;
  const parts = { host, home, env, output, model: spec, config, log };
  bots.push(...(await Promise.all(configured.map((bot) => memory.openBot(bot, { ...parts, t })))));
  const place = placeOf(at.host, settings.serve ?? {}, home.dir);
  const files = place.origins && readPage(env);
  const origins: string[] = [];
  const web =
    place.origins &&
    openWeb({
      ...{ host, store, devices, visitors, cwd, redaction, settings: now },
      files: files ?? new Map(),
      origins: () => origins,
    });
  const http = createHttp({
    ...(web && { more: web.routes }),
    ready: () => readinessOf(bots, leaving),
    metrics: () =>
      metricsText({
        bots: bots.flatMap((bot) => {
          const channel = bot.channel();
          return channel ? [{ name: bot.name, channel }] : [];
        }),
        running: () => store.sessions().filter(({ open }) => open).length,
        waiting: () => store.pending().length,
      }),
    webhooks: Object.fromEntries(bots.flatMap(({ name, webhook }) => (webhook ? [[webhookPath(name), webhook]] : []))),
    log: (text) => log("warn", text),
  });
  const listening = await listen(http, { ...at, t, tls: place.tls, upgrade: web?.upgrade });
  origins.push(...(place.origins?.(listening.port) ?? []));
  if (url !== undefined) log("info", clusterTexts(lang).opensAt(workedAt, publicAddress(url)));
  log("info", t.listening(`${place.tls ? "https" : "http"}://${at.host}:${listening.port}`));
  if (!isLoopback(at.host)) log("warn", web ? t.open(at.host) : t.pageInClear(at.host));
  if (web && !files) log("warn", t.pageMissing);

  const stopped = new AbortController();
  const left = onLeave(
    async () => {
      leaving = true;
      log("info", cluster ? clusterTexts(lang).gatewayLeaves : t.leaving);
      web?.close();
      await listening.close();
      stopped.abort();
      await Promise.all(bots.map((bot) => bot.close()));
      await memory.leave();
      await host.close();
      meeting?.close();
      await cluster?.closeAll();
      happenings.close();
      memory.close();
      demo?.remove();
      log("info", t.left);
    },
    // Whoever stops a daemon gets what they asked for: it ended well.
    { SIGTERM: 0, SIGHUP: 0, SIGINT: 0 },
  );
  await Promise.all(bots.map((bot) => bot.attach(stopped.signal)));
  if (bots.length === 0 && !web) log("warn", t.noSurface);
  const { resumed, waiting } = await daemon.recover();
  if (resumed + waiting > 0) log("info", t.recovered(resumed, waiting));
  countOutside(store, stopped.signal);
  for (const { name, app, warnings } of configured) {
    log("info", t.feishu(app.appId, app.mode, webhookPath(name)));
    for (const warning of warnings) log("warn", warning);
  }
  await Promise.all(bots.map((bot) => bot.start(stopped.signal)));
  if (web) {
    if (!demo) log("info", t.pageAt(origins[0] ?? "", values.engine === undefined ? "" : " --engine …"));
    const opens = values.open === true;
    await memory.serves(origins);
    await inviteSelf({ devices, origins, folder: home.dir, opens, env: process.env, t });
  }
  if (demo) await beginTask(host, demo);
  return left.code;
}

/** Sessions are followed to the workers that run them. */
async function meet(cluster: Cluster, warn: (text: string) => void, t: ClusterTexts): Promise<Meeting> {
  const { meetWorkers } = await import("../../host/cluster/meeting.ts");
  return meetWorkers({ cluster, unreachable: (worker) => warn(t.unreachable(worker)) });
}

/** Whatever is served: bots, a model, or the demo where there is neither. */
async function begin(asked: boolean, spec: string | undefined, lang: Lang, workersHaveIt: boolean) {
  const installation = readInstallation(process.env);
  const cwd = realpathSync(".");
  const parts = { cwd, lang, t: feishuSetupTexts(lang) };
  const configured = asked ? [] : feishuBots(installation.settings, installation.env, parts);
  const found = !asked && (workersHaveIt || modelOf(installation, spec) !== undefined);
  if (found) return { demo: undefined, installation, configured, cwd };
  // People in a chat would take a script for an agent.
  if (configured.length > 0) throw new SageError("model-unavailable", said(cliTexts(lang).noModel));
  const { openDemo } = await import("./serve/demo.ts");
  const demo = openDemo(process.env, lang);
  return { demo, installation: readInstallation(demo.env), configured: [], cwd: demo.cwd };
}

/** The demo's task waits for an answer when somebody opens the page. */
async function beginTask(host: Host, { cwd, task }: { cwd: string; task: string }): Promise<void> {
  const { session } = await ask(host, { type: "open", cwd });
  const person = `account:${accountName()}`;
  await ask(host, { type: "say", session, text: task, by: accountName(), surface: "serve", person });
}

/** Each surface knows its own people; nobody else may do anything: a daemon has nobody at a keyboard. */
function peopleOf(bots: readonly Bot[], visitors: Visitors): { guard: Guard; personOf: PersonOf } {
  const [ofBots, nameInBots] = [botGuard(bots), botPerson(bots)];
  const isBots = ({ person = "" }: Sender) => person.startsWith("feishu:");
  return {
    guard: (sender, act) => (isBots(sender) ? ofBots : visitors.guard)(sender, act),
    personOf: (sender) => (isBots(sender) ? nameInBots : visitors.personOf)(sender),
  };
}

/** Ready while every bot that this process speaks for is connected. The first one's state stands where it always did. */
function readinessOf(bots: readonly Bot[], leaving: boolean): Readiness {
  const states = bots.map(({ name, channel }) => ({
    name,
    ...(channel()?.status() ?? { state: "elsewhere" as const }),
  }));
  const [first, ...more] = states;
  return {
    ready: !leaving && states.every(({ state }) => state === "connected" || state === "elsewhere"),
    ...(leaving && { leaving }),
    ...(first && { feishu: first }),
    ...(more.length > 0 && { bots: states }),
  };
}
