import { realpathSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import { readInstallation } from "../../../config/home/home.ts";
import { createApi, type Api } from "../../../surfaces/feishu/transport/api/api.ts";
import { usual, type FeishuApp } from "../../../surfaces/feishu/transport/api/config.ts";
import { createConnection } from "../../../surfaces/feishu/transport/incoming/socket.ts";
import { feishuSetupTexts } from "../../../texts/serve/feishu-setup.ts";
import { exitCodes } from "../../process/stdout.ts";
import { readFlagsOnly } from "../../process/flags.ts";
import { feishuBots, type BotConfig } from "./config.ts";
import { checkApp, type Finding } from "./check-app.ts";

const marks = { ok: "✓", bad: "✗", note: "·" } as const;

/** Looks at the app as the platform sees it, and says in plain words what is missing. Nothing is changed. */
export async function doctor(args: string[]): Promise<number> {
  const { lang } = readFlagsOnly("feishu doctor", args, {});
  const t = feishuSetupTexts(lang);
  const { settings, env } = readInstallation(process.env);
  const bots = feishuBots(settings, env, { cwd: realpathSync("."), lang, t });
  if (bots.length === 0) throw new SageError("config-invalid", said(t.notConfigured));
  const webhook = `http://${settings.serve?.host ?? "127.0.0.1"}:${settings.serve?.port ?? 8787}`;
  let problems = 0;
  for (const bot of bots) {
    if (bots.length > 1) console.log(`${bot.name === "" ? bot.app.appId : bot.name}:`);
    for (const { level, say } of await findingsOf(bot, webhook)) {
      if (level === "bad") problems++;
      console.log(`${marks[level]} ${say(t)}`);
    }
  }
  console.log(problems === 0 ? t.fine : t.problems(problems));
  return problems === 0 ? exitCodes.success : exitCodes.failure;
}

async function findingsOf({ name, app, team, warnings }: BotConfig, webhook: string): Promise<Finding[]> {
  const api = createApi(app, { ...usual, retryMs: 200 }, () => {}, sleep);
  const count = team.people.approve.length;
  const seen = await checkApp(api, app);
  const reachable = seen.length > 1;
  const path = webhookPath(name);
  return [
    ...warnings.map((warning): Finding => ({ level: "note", say: () => warning })),
    ...(count > 0 ? [{ level: "ok" as const, say: (t: Parameters<Finding["say"]>[0]) => t.approvers(count) }] : []),
    ...seen,
    ...(!reachable
      ? []
      : app.mode === "socket"
        ? [await checkConnection(api, app)]
        : [{ level: "note" as const, say: (t: Parameters<Finding["say"]>[0]) => t.webhookHint(`${webhook}${path}`) }]),
  ];
}

export const webhookPath = (bot: string): string => (bot === "" ? "/feishu/webhook" : `/feishu/webhook/${bot}`);

/** Opens a connection and closes it. Events that arrive in between are not acknowledged, so the platform delivers them again. */
async function checkConnection(api: Api, app: FeishuApp): Promise<Finding> {
  const receive = () => Promise.reject(new Error("only a look"));
  const connection = createConnection(app, { api, timings: usual, log() {}, receive });
  await connection.start();
  const { state, problem } = connection.status();
  connection.close();
  if (state === "connected") return { level: "ok", say: (t) => t.connection };
  return { level: "bad", say: (t) => t.noConnection(problem ?? t.connectionSlow) };
}
