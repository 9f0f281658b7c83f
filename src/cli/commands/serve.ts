import { realpathSync } from "node:fs";
import { messageOf, SageError, said } from "../../protocol/index.ts";
import { readInstallation } from "../../config/installation.ts";
import { createRedaction } from "../../config/redact.ts";
import { openSurfaceStores } from "../../host/surface-store.ts";
import { feishuSetupTexts } from "../../texts/feishu-setup.ts";
import { serveTexts } from "../../texts/serve.ts";
import { feishuBots, portOf } from "./feishu/config.ts";
import { webhookPath } from "./feishu/doctor.ts";
import { noWords, readFlags, usage } from "../flags.ts";
import { onLeave } from "../leaving.ts";
import { openDaemon } from "./serve/daemon.ts";
import { botGuard, botPerson, openBot, type Bot } from "./serve/feishu.ts";
import { createHappenings } from "./serve/happenings.ts";
import { createHttp, listen, type Readiness } from "./serve/http.ts";
import { createLog } from "./serve/log.ts";
import { metricsText } from "./serve/metrics.ts";
import { lastingSpec, modelOf } from "../model-choice.ts";
import { openStore } from "../wiring.ts";

const PORT = 8787;

const options = {
  port: { type: "string" },
  host: { type: "string" },
  model: { type: "string" },
  log: { type: "string" },
} as const;

/** `sage serve`: sessions of many folders in one process that stays, for people who are elsewhere. */
export async function serve(args: string[]): Promise<number> {
  const [what, ...rest] = args;
  if (what === "install" || what === "status" || what === "uninstall")
    return (await import("./serve/install.ts"))[what](rest);
  const { values, positionals, lang, t: cli } = readFlags(args, options);
  noWords("serve", positionals, cli);
  const t = serveTexts(lang);
  const installation = readInstallation(process.env);
  const { home, settings, env } = installation;
  const setup = feishuSetupTexts(lang);
  const config = { cwd: realpathSync("."), lang, t: setup };
  const configured = feishuBots(settings, env, config);
  const spec = lastingSpec(values.model);
  if (!modelOf(installation, spec)) throw new SageError("model-unavailable", said(cli.noModel));
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
  const log = createLog(createRedaction(env).text, format);
  const store = openStore(home);
  const surfaces = openSurfaceStores(home.surfaces);
  const own = surfaces.of("serve");
  const bots: Bot[] = [];
  const people = { guard: botGuard(bots), personOf: botPerson(bots) };
  const happenings = createHappenings(store, log, lang);
  const daemon = openDaemon({
    ...{ store, own, env: process.env, lang, spec, ...people },
    warn: (text) => log("warn", text),
    begins: happenings.follow,
  });
  // Something of a library's went wrong where nobody waits for it: worth a line, not the end of everybody's turns.
  process.on("unhandledRejection", (error) => log("error", `unexpected: ${messageOf(error)}`));

  let leaving = false;
  const { host } = daemon;
  const { output } = home;
  const parts = { host, surfaces, home, env, output, model: spec, config, log };
  bots.push(...(await Promise.all(configured.map((bot) => openBot(bot, parts)))));
  const http = createHttp({
    ready: () => readinessOf(bots, leaving),
    metrics: () =>
      metricsText({
        bots,
        running: () => store.sessions().filter(({ open }) => open).length,
        waiting: () => store.pending().length,
      }),
    webhooks: Object.fromEntries(
      bots.flatMap(({ name, channel }) => (channel.webhook ? [[webhookPath(name), channel.webhook]] : [])),
    ),
    log: (text) => log("warn", text),
  });
  const listening = await listen(http, { ...at, t });
  log("info", t.listening(`http://${at.host}:${listening.port}`));
  if (!["127.0.0.1", "localhost", "::1"].includes(at.host)) log("warn", t.open(at.host));

  const stopped = new AbortController();
  const left = onLeave(
    async () => {
      leaving = true;
      log("info", t.leaving);
      await listening.close();
      stopped.abort();
      await Promise.all(bots.map(({ channel }) => channel.close()));
      await host.close();
      happenings.close();
      surfaces.close();
      log("info", t.left);
    },
    // Whoever stops a daemon gets what they asked for: it ended well.
    { SIGTERM: 0, SIGHUP: 0, SIGINT: 0 },
  );
  await Promise.all(bots.map((bot) => bot.attach(stopped.signal)));
  if (bots.length === 0) log("warn", t.noSurface);
  const { resumed, waiting } = await daemon.recover();
  if (resumed + waiting > 0) log("info", t.recovered(resumed, waiting));
  for (const { name, app, warnings } of configured) {
    log("info", t.feishu(app.appId, app.mode, webhookPath(name)));
    for (const warning of warnings) log("warn", warning);
  }
  await Promise.all(bots.map(({ channel }) => channel.start(stopped.signal)));
  return left.code;
}

/** Ready while every bot is connected. The first one's state stands where it always did. */
function readinessOf(bots: readonly Bot[], leaving: boolean): Readiness {
  const states = bots.map(({ name, channel }) => ({ name, ...channel.status() }));
  const [first, ...more] = states;
  return {
    ready: !leaving && states.every(({ state }) => state === "connected"),
    ...(leaving && { leaving }),
    ...(first && { feishu: first }),
    ...(more.length > 0 && { bots: states }),
  };
}
