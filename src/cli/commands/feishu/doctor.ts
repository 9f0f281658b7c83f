import { realpathSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { SageError, messageOf } from "../../../protocol/index.ts";
import { sageHome } from "../../../config/home.ts";
import { withKeys } from "../../../config/keys.ts";
import { readSettings } from "../../../config/settings.ts";
import { createApi, type Answer, type Api } from "../../../surfaces/feishu/transport/api.ts";
import { usual, type FeishuApp } from "../../../surfaces/feishu/transport/config.ts";
import { createConnection } from "../../../surfaces/feishu/transport/socket.ts";
import { feishuSetupTexts, type FeishuSetupTexts } from "../../../texts/feishu-setup.ts";
import { exitCodes } from "../../exit-codes.ts";
import { noWords, readFlags } from "../../flags.ts";
import { feishuConfig } from "./config.ts";

type Report = { ok(text: string): void; bad(text: string): void; note(text: string): void; t: FeishuSetupTexts };

/** Looks at the app as the platform sees it, and says in plain words what is missing. Nothing is changed. */
export async function doctor(args: string[]): Promise<number> {
  const { positionals, lang, t: cli } = readFlags(args, {});
  noWords("feishu doctor", positionals, cli);
  const t = feishuSetupTexts(lang);
  let problems = 0;
  const report: Report = {
    t,
    ok: (text) => console.log(`✓ ${text}`),
    note: (text) => console.log(`· ${text}`),
    bad(text) {
      problems++;
      console.log(`✗ ${text}`);
    },
  };
  const home = sageHome(process.env);
  const { feishu, serve } = readSettings(home.settings);
  const config = feishuConfig(feishu, withKeys(process.env, home), { cwd: realpathSync("."), t });
  if (!config) throw new SageError("config-invalid", t.notConfigured);
  for (const warning of config.warnings) report.note(warning);
  if (config.people.approve.length > 0) report.ok(t.approvers(config.people.approve.length));
  const api = createApi(config, { ...usual, retryMs: 200 }, () => {}, sleep);
  if (await checkBot(api, config, report)) {
    await checkScopes(api, report);
    await checkConsole(api, config, report);
    if (config.mode === "socket") await checkConnection(api, config, report);
    else report.note(t.webhookHint(`http://${serve?.host ?? "127.0.0.1"}:${serve?.port ?? 8787}/feishu/webhook`));
  }
  console.log(problems === 0 ? t.fine : t.problems(problems));
  return problems === 0 ? exitCodes.success : exitCodes.failure;
}

/** False when nothing else can be asked. */
async function checkBot(api: Api, { domain }: FeishuApp, { ok, bad, t }: Report): Promise<boolean> {
  let answer: Answer;
  try {
    answer = await api.call({ method: "GET", path: "bot/v3/info" });
  } catch (error) {
    bad(t.fails(messageOf(error)));
    return false;
  }
  ok(t.credentials(domain));
  const bot = answer["bot"] as { open_id?: string; app_name?: string; activate_status?: number } | undefined;
  if (bot?.open_id && bot.activate_status === 2) ok(t.bot(bot.app_name ?? "", bot.open_id));
  else bad(t.botOff);
  return true;
}

/** Any one of a line is enough. */
const needed = [
  { scopes: ["im:message.p2p_msg:readonly", "im:message.p2p_msg", "im:message"], what: "p2p", must: true },
  {
    scopes: ["im:message.group_at_msg:readonly", "im:message.group_at_msg", "im:message.group_msg", "im:message"],
    what: "group",
    must: true,
  },
  { scopes: ["im:message.group_msg"], what: "threads", must: false },
  { scopes: ["im:message:send_as_bot", "im:message"], what: "send", must: true },
  { scopes: ["im:message:update", "im:message", "im:message:send_as_bot"], what: "update", must: true },
  { scopes: ["cardkit:card:write"], what: "stream", must: false },
  { scopes: ["im:resource", "im:message", "im:message:readonly"], what: "resource", must: false },
  { scopes: ["contact:user.base:readonly"], what: "names", must: false },
] as const;

async function checkScopes(api: Api, { ok, bad, note, t }: Report): Promise<void> {
  let granted: Set<string>;
  try {
    const { data } = (await api.call({ method: "GET", path: "application/v6/scopes" })) as {
      data?: { scopes?: { scope_name: string; grant_status: number }[] };
    };
    granted = new Set((data?.scopes ?? []).filter((one) => one.grant_status === 1).map((one) => one.scope_name));
  } catch (error) {
    return note(t.scopesUnknown(messageOf(error)));
  }
  const missing = needed.filter(({ scopes }) => !scopes.some((scope) => granted.has(scope)));
  for (const { scopes, what, must } of missing) (must ? bad : note)(t.noScope(scopes[0], t.scopeFor[what]));
  if (missing.length === 0) ok(t.scopes);
}

type Console = {
  online_version_id?: string;
  event?: { subscription_type?: string; subscribed_events?: string[] };
  callback?: { callback_type?: string; subscribed_callbacks?: string[] };
};

/** Needs a permission that few apps have; without it only a person can look. */
async function checkConsole(api: Api, { appId, mode }: FeishuApp, { ok, bad, note, t }: Report): Promise<void> {
  let app: Console;
  try {
    const path = `application/v6/applications/${encodeURIComponent(appId)}`;
    const { data } = (await api.call({ method: "GET", path, query: { lang: "zh_cn" } })) as {
      data?: { app?: Console };
    };
    app = data?.app ?? {};
  } catch {
    return note(t.byHand);
  }
  if (app.online_version_id) ok(t.published);
  else bad(t.unpublished);
  if (app.event?.subscribed_events?.includes("im.message.receive_v1")) ok(t.event);
  else bad(t.noEvent);
  if (app.callback?.subscribed_callbacks?.includes("card.action.trigger")) ok(t.callback);
  else bad(t.noCallback);
  // Only what is known to be the other way is told: the names of these ways are not promised to stay.
  const other = mode === "socket" ? "webhook" : "websocket";
  const isOther = (set: string | undefined) => set?.toLowerCase() === other;
  if (isOther(app.event?.subscription_type)) bad(t.wrongMode("event", mode));
  if (isOther(app.callback?.callback_type)) bad(t.wrongMode("callback", mode));
}

/** Opens one and closes it. An event that comes meanwhile is not acknowledged: the platform delivers it again. */
async function checkConnection(api: Api, app: FeishuApp, { ok, bad, t }: Report): Promise<void> {
  const receive = () => Promise.reject(new Error("only a look"));
  const connection = createConnection(app, { api, timings: usual, log() {}, receive });
  await connection.start();
  const { state, problem } = connection.status();
  connection.close();
  if (state === "connected") ok(t.connection);
  else bad(t.noConnection(problem ?? state));
}
