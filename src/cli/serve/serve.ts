import { ask } from "../../protocol/host/refusal.ts";
import { countOutside } from "../../input/outside.ts";
import type { Host } from "../../protocol/host/host.ts";
import { thrownText } from "../../texts/shared/error.ts";
import type { Sender } from "../../protocol/sender.ts";
import { liveSettings } from "../../config/settings/people.ts";
import type { Settings } from "../../config/settings/settings.ts";
import type { Guard, PersonOf } from "../../host/guard.ts";
import { publicAddress } from "../../journal/postgres/pool.ts";
import type { Store } from "../../journal/store/store.ts";
import { type Devices, createDevices } from "../../surfaces/web/index.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import { feishuSetupTexts } from "../../texts/serve/feishu-setup.ts";
import { webhookPath } from "../connect/feishu/doctor.ts";
import { accountName } from "../host/journal.ts";
import { onTermination } from "../process/termination.ts";
import { openDaemon } from "./daemon.ts";
import { type Bot, botGuard, botPerson } from "./feishu/bot.ts";
import { type Readiness, createHttp, listen } from "./web/http.ts";
import { type Visitors, createVisitors, inviteSelf } from "./web/visitors.ts";
import { metricsText } from "./web/metrics.ts";
import { isLoopback, pageAddress, readPage } from "./web/page-files.ts";
import { openServedJournal } from "./served-journal.ts";
import { type Start, readStart } from "./start.ts";
import { type OpenWeb, foldersOf, openWeb } from "./web/web.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import type { Log } from "../../surfaces/feishu/transport/api/config.ts";
import type { Lang } from "../../texts/language.ts";
import { applyRetention } from "../record/sessions/retention.ts";
import { whoOf } from "../../texts/shared/resolution.ts";
import { serveTexts } from "../../texts/serve/serve.ts";
import { type Texts, texts } from "../../texts/shared/texts.ts";
import { endNote } from "../../view/note.ts";

/** `sage serve`: sessions of many folders in one process that stays, for people who are elsewhere. */
export async function serve(args: string[]): Promise<number> {
  const [what, ...rest] = args;
  if (what === "install" || what === "status" || what === "uninstall")
    return (await import("./install.ts"))[what](rest);
  const start = await readStart(args);
  const { demo, configured, cwd, lang, t, spec, log } = start;
  const { home, env } = start.installation;
  const setup = feishuSetupTexts(lang);
  const journal = await openServedJournal(start);
  const { store, memory } = journal;
  if (!store.shared) await applyRetention(store, start.installation, lang);
  const settings = liveSettings(home.settings, (error) => log("warn", setup.settingsKept(thrownText(error, lang))));
  const bots: Bot[] = [];
  const devices = createDevices(memory.web);
  const visitors = createVisitors(devices, settings);
  const happenings = createEventLog(store, log, lang);
  const daemon = openDaemon({
    store,
    env: demo?.env ?? process.env,
    lang,
    spec,
    model: demo?.model,
    ...peopleOf(bots, visitors),
    ...journal.daemon,
    warn: (text) => log("warn", text),
    folders: () => Object.entries(foldersOf(settings(), cwd)).map(([name, folder]) => ({ name, cwd: folder })),
    begins: happenings.follow,
  });
  // Something of a library's went wrong where nobody waits for it: worth a line, not the end of everybody's turns.
  process.on("unhandledRejection", (error) => log("error", `unexpected: ${thrownText(error)}`));

  const host = journal.serves(daemon.host);
  const surface = { host, home, env, output: home.output, model: spec, config: { cwd, lang, t: setup }, log, t };
  bots.push(...(await Promise.all(configured.map((bot) => memory.openBot(bot, surface)))));
  const entrance = await openEntrance(start, { host, store, bots, devices, visitors, settings });
  const stopped = new AbortController();
  const left = onTermination(
    async () => {
      log("info", start.url === undefined ? t.leaving : clusterTexts(lang).gatewayLeaves);
      await entrance.close();
      stopped.abort();
      await Promise.all(bots.map((bot) => bot.close()));
      await memory.leave();
      await host.close();
      happenings.close();
      await journal.close();
      demo?.remove();
      log("info", t.left);
    },
    // A daemon that was asked to stop exits successfully.
    { SIGTERM: 0, SIGHUP: 0, SIGINT: 0 },
  );
  await Promise.all(bots.map((bot) => bot.attach(stopped.signal)));
  if (bots.length === 0 && !entrance.web) log("warn", t.noSurface);
  const { resumed, waiting } = await daemon.recover();
  if (resumed + waiting > 0) log("info", t.recovered(resumed, waiting));
  countOutside(store, stopped.signal);
  for (const { name, app, warnings } of configured) {
    log("info", t.feishu(app.appId, app.mode, webhookPath(name)));
    for (const warning of warnings) log("warn", warning);
  }
  await Promise.all(bots.map((bot) => bot.start(stopped.signal)));
  if (entrance.web) {
    const { origins } = entrance;
    if (!demo) log("info", t.pageAt(origins[0] ?? "", start.engineFlag));
    await memory.serves(origins);
    await inviteSelf({ devices, origins, folder: home.dir, opens: start.opens, env: process.env, t });
  }
  if (demo) await beginTask(host, demo);
  return left.code;
}

type EntranceParts = {
  host: Host;
  store: Store;
  bots: readonly Bot[];
  devices: Devices;
  visitors: Visitors;
  settings(): Settings;
};

/** Addresses at which people, chats and probes come in; the page among them where nobody on the way can read along. */
type Entrance = { web: OpenWeb | undefined; origins: readonly string[]; close(): Promise<void> };

async function openEntrance(start: Start, { bots, ...parts }: EntranceParts): Promise<Entrance> {
  const { installation, at, cwd, redaction, t, log } = start;
  const { home, settings, env } = installation;
  const place = pageAddress(at.host, settings.serve ?? {}, home.dir);
  const files = place.origins && readPage(env);
  const origins: string[] = [];
  const page = { cwd, redaction, files: files ?? new Map(), origins: () => origins };
  const web = place.origins && openWeb({ ...parts, ...page });
  let leaving = false;
  const http = createHttp({
    ...(web && { more: web.routes }),
    ready: () => readinessOf(bots, leaving),
    metrics: () => metricsOf(bots, parts.store),
    webhooks: Object.fromEntries(bots.flatMap(({ name, webhook }) => (webhook ? [[webhookPath(name), webhook]] : []))),
    log: (text) => log("warn", text),
  });
  const listening = await listen(http, { ...at, t, tls: place.tls, upgrade: web?.upgrade });
  origins.push(...(place.origins?.(listening.port) ?? []));
  if (start.url !== undefined) log("info", clusterTexts(start.lang).opensAt(start.place, publicAddress(start.url)));
  log("info", t.listening(`${place.tls ? "https" : "http"}://${at.host}:${listening.port}`));
  if (!isLoopback(at.host)) log("warn", web ? t.open(at.host) : t.pageInClear(at.host));
  if (web && !files) log("warn", t.pageMissing);
  return {
    web,
    origins,
    async close() {
      leaving = true;
      web?.close();
      await listening.close();
    },
  };
}

function metricsOf(bots: readonly Bot[], store: Store): string {
  return metricsText({
    bots: bots.flatMap(({ name, channel }) => {
      const open = channel();
      return open ? [{ name, channel: open }] : [];
    }),
    running: () => store.sessions().filter(({ open }) => open).length,
    waiting: () => store.pending().length,
  });
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

/** Ready while every bot of this process is connected. The first bot's state keeps its old place in the reply. */
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

type EventLog = {
  /** Logs what happens in a session until its turn has ended. */
  follow(session: string): void;
  close(): void;
};

/** A line of the log for each message, request, answer and end. Who did what, and nothing of what people or the agent wrote. */
function createEventLog(store: Store, log: Log, lang: Lang): EventLog {
  const following = new Map<string, () => void>();
  const [t, words] = [texts(lang), serveTexts(lang)];
  const tell = (fact: Fact) => {
    const line = logLine(fact, t, words);
    if (line !== undefined) log("info", `${fact.session}: ${line}`);
    if (fact.type !== "turn.ended") return;
    following.get(fact.session)?.();
    following.delete(fact.session);
  };
  return {
    follow(session) {
      if (!following.has(session)) following.set(session, store.hub.subscribe(session, { fact: tell }));
    },
    close() {
      for (const stop of following.values()) stop();
      following.clear();
    },
  };
}

function logLine(fact: Fact, t: Texts, words: ReturnType<typeof serveTexts>): string | undefined {
  switch (fact.type) {
    case "user.said":
      return words.message(whoOf(fact.data, t));
    case "input.requested":
      return words.asks(fact.data.kind, fact.data.kind === "permission" ? fact.data.tool : "", fact.data.id);
    case "input.resolved":
      return words.answered(fact.data.requestId, whoOf(fact.data, t), words.outcomes[howEnded(fact.data)]);
    case "turn.interrupted":
      return words.interrupted(whoOf(fact.data, t));
    case "turn.ended":
      return endNote(fact.data, t).line;
    default:
      return undefined;
  }
}

function howEnded(resolution: Resolution): Resolution["outcome"] | "granted" | "denied" {
  if (resolution.outcome !== "answered") return resolution.outcome;
  const { type } = resolution.response;
  return type === "granted" || type === "denied" ? type : "answered";
}
