import { once } from "node:events";
import { homedir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "../../../protocol/host/host.ts";
import type { SurfaceStore } from "../../../protocol/host/surface-store.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { loadConfig } from "../../../config/config.ts";
import type { Home } from "../../../config/home/home.ts";
import { receivedFor } from "../../../config/output-folder.ts";
import { createRedaction } from "../../../config/secrets/redact.ts";
import type { Guard, PersonOf } from "../../../host/guard.ts";
import type { HeldSurface } from "../../../host/cluster/gateways/surface-lease.ts";
import type { Membership } from "../../../host/cluster/gateways/membership.ts";
import { mayApprove, mayTalk } from "../../../surfaces/feishu/bot/people.ts";
import type { Team, ChangeTeam, ChatSettings } from "../../../surfaces/feishu/index.ts";
import { usual, type Log } from "../../../surfaces/feishu/transport/api/config.ts";
import type { OpenFeishu } from "../../../surfaces/feishu/transport/open.ts";
import type { Webhook } from "../../../surfaces/feishu/transport/incoming/webhook.ts";
import { feishuSetupTexts } from "../../../texts/serve/feishu-setup.ts";
import type { ServeTexts } from "../../../texts/serve/serve.ts";
import { accountPerson } from "../../host/journal.ts";
import { feishuSurface, type BotConfig, type ConfigParts, teamOf } from "../../connect/feishu/config.ts";
import { liveSettings, withRole } from "../../../config/settings/people.ts";
import { changeSettings, type BotSettings, type Settings } from "../../../config/settings/settings.ts";
import type { Env } from "../../../models/proxy.ts";

export type SurfaceParts = {
  host: Host;
  home: Home;
  env: NodeJS.ProcessEnv;
  /** Each session may read its own part of it, wherever it works. */
  output: string;
  /** The model of new sessions, where one was named. */
  model: string | undefined;
  config: ConfigParts;
  log: Log;
};

/** A bot as a surface of the daemon. */
export type Bot = {
  name: string;
  team(): Team;
  /** Undefined while another gateway speaks for the bot. */
  channel(): OpenFeishu | undefined;
  /** Takes events that the platform sends as requests. */
  webhook?: Webhook | undefined;
  attach(signal: AbortSignal): Promise<unknown>;
  start(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

/** A bot that this process alone speaks for. */
export async function openBot(bot: BotConfig, store: SurfaceStore, parts: SurfaceParts): Promise<Bot> {
  const live = teamNow(bot, parts);
  const { channel, attach } = await openChannel(bot, { ...parts, ...live, store });
  return {
    name: bot.name,
    team: live.team,
    attach,
    start: channel.start,
    close: channel.close,
    channel: () => channel,
    webhook: channel.webhook,
  };
}

/** A bot that several gateways could speak for: one of them does, and the others wait until it is gone. */
export function shareBot(
  bot: BotConfig,
  presence: Pick<Membership, "hold">,
  {
    caughtUp,
    t,
    ...parts
  }: SurfaceParts & {
    /** Everything that was recorded so far is known here. */ caughtUp(): Promise<void>;
    t: ServeTexts;
  },
): Bot {
  const live = teamNow(bot, parts);
  const log = logOf(bot, parts);
  let current: OpenFeishu | undefined;
  const speak = async ({ store, kept, signal }: HeldSurface): Promise<void> => {
    log("info", t.botTaken(bot.app.appId));
    // Sessions of its previous process: a card of an unknown session would be closed.
    await caughtUp();
    const host: Host = {
      ...parts.host,
      async send(command) {
        await kept();
        return parts.host.send(command);
      },
    };
    const { channel, attach } = await openChannel(bot, { ...parts, ...live, host, store, kept });
    try {
      current = channel;
      await attach(signal);
      await channel.start(signal);
      if (!signal.aborted) await once(signal, "abort");
    } finally {
      current = undefined;
      await channel.close();
      log("info", t.botLeft(bot.app.appId));
    }
  };
  const elsewhere = (holder: string | undefined) => {
    if (holder !== undefined) log("info", t.botElsewhere(bot.app.appId, holder.slice(0, 8)));
  };
  const failed = (error: unknown) => log("warn", t.botFailed(bot.app.appId, thrownText(error, parts.config.lang)));
  const { mode } = bot.app;
  return {
    name: bot.name,
    team: live.team,
    channel: () => current,
    // 503: the platform delivers it again, and a balancer asks the next gateway.
    ...(mode === "webhook" && {
      webhook: async (request) => (await current?.webhook?.(request)) ?? { status: 503, body: {} },
    }),
    async attach() {},
    async start() {
      presence.hold(feishuSurface(bot), { taken: speak, elsewhere, failed });
    },
    async close() {}, // when the gateway leaves the others
  };
}

function teamNow(bot: BotConfig, { home, env, config, ...parts }: SurfaceParts): LiveTeam {
  return liveTeam(bot, { home, env, config, warn: (text) => logOf(bot, parts)("warn", text) });
}

function logOf({ name }: BotConfig, { log }: Pick<SurfaceParts, "log">): Log {
  return (level, text) => log(level, name === "" ? text : `${name}: ${text}`);
}

type ChannelParts = SurfaceParts & LiveTeam & { store: SurfaceStore; kept?(): Promise<void> };

async function openChannel(bot: BotConfig, parts: ChannelParts) {
  const { host, home, env, output, model, config, store, kept, team, changeTeam } = parts;
  const { app } = bot;
  const log = logOf(bot, parts);
  const { openFeishu } = await import("../../../surfaces/feishu/transport/open.ts");
  const channel = openFeishu(app, { store, lang: config.lang, log, ...(kept && { kept }) });
  return {
    channel,
    async attach(signal: AbortSignal): Promise<void> {
      const { attachFeishu } = await import("../../../surfaces/feishu/index.ts");
      const attached = attachFeishu(host, {
        channel,
        store,
        app: app.appId,
        team,
        changeTeam,
        signal,
        log: (text) => log("warn", text),
        ...(model !== undefined && { model }),
        inbox: receivedFor(output),
        hostRecovers: true,
        redaction: createRedaction(env),
        mayRead: (path, cwd) => mayRead(path, cwd, { home, env }),
        account: () => accountPerson(home)({ by: "", surface: "serve" }) ?? undefined,
        examine: () => missingOf(bot),
      });
      await attached.ready;
    },
  };
}

/** A person of a bot may do what one of the bots lets them. Everybody else may do nothing: a daemon has nobody at a keyboard. */
export function botGuard(bots: readonly Pick<Bot, "team">[]): Guard {
  return ({ person = "" }, act) => {
    const openId = /^feishu:(.+)$/.exec(person)?.[1];
    if (openId === undefined) return false;
    const may = act === "talk" ? mayTalk : mayApprove;
    // The surface has compared the organisation already: it alone sees the event.
    return bots.some(({ team }) => may(team().people, { openId, tenantKey: team().people.tenant ?? "" }));
  };
}

/** The name that the settings give to a person of a bot; the platform's own names are not unique, and other surfaces do not know them. */
export function botPerson(bots: readonly Pick<Bot, "team">[]): PersonOf {
  return ({ person = "" }) => {
    const openId = /^feishu:(.+)$/.exec(person)?.[1] ?? "";
    const names = bots.map(({ team }) => team().people.names ?? {});
    if (names.every((byId) => Object.keys(byId).length === 0)) return undefined;
    return names.map((byId) => byId[openId]).find((name) => name !== undefined) ?? null;
  };
}

/** Complaints of `sage feishu doctor`, for people who ask from a chat. */
async function missingOf({ app }: BotConfig): ReturnType<Examine> {
  const { createApi } = await import("../../../surfaces/feishu/transport/api/api.ts");
  const { checkApp } = await import("../../connect/feishu/check-app.ts");
  const found = await checkApp(
    createApi(app, usual, () => {}, sleep),
    app,
  );
  const missing = found.filter(({ level }) => level !== "ok");
  return (lang) => missing.map(({ level, say }) => `${level === "bad" ? "✗" : "·"} ${say(feishuSetupTexts(lang))}`);
}

type Examine = NonNullable<Parameters<typeof import("../../../surfaces/feishu/index.ts").attachFeishu>[1]["examine"]>;

/** Judges by the folder's current rules: nobody was asked about this call. */
export async function mayRead(
  path: string,
  cwd: string,
  { home, env }: Pick<SurfaceParts, "home" | "env">,
): Promise<boolean> {
  const { loadDecision } = await import("../../../archive/decision.ts");
  const { judge } = await loadDecision();
  const { rules } = loadConfig(home, cwd, env);
  const where = { mode: "default", cwd, home: homedir(), roots: [cwd] } as const;
  return judge({ rules, ...where, tool: "Read", input: { file_path: path } }).result.behavior === "allow";
}

type LiveTeam = { team(): Team; changeTeam: ChangeTeam };

/** The people, folders and limits of a bot as the settings say now. Settings that cannot be used leave them as they were. */
export function liveTeam(
  bot: BotConfig,
  { home, env, config, warn }: { home: Home; env: Env; config: ConfigParts; warn(text: string): void },
): LiveTeam {
  const keepOld = (error: unknown) => warn(config.t.settingsKept(thrownText(error, config.lang)));
  const settings = liveSettings(home.settings, keepOld);
  let { team } = bot;
  let seen = settings();
  const read = (): Team => {
    const now = settings();
    if (now === seen) return team;
    seen = now;
    try {
      team = teamOf(bot.name, now, env, config);
    } catch (error) {
      keepOld(error);
    }
    return team;
  };
  return {
    team: read,
    async changeTeam(change) {
      changeSettings(home.settings, (settings) =>
        change.type === "chat"
          ? { ...settings, feishu: withChat(settings.feishu, bot.name, change.chat, change.settings) }
          : { ...settings, people: withRole(settings.people ?? {}, { ...change, id: `feishu:${change.openId}` }) },
      );
      read();
    },
  };
}

function withChat(
  feishu: Settings["feishu"],
  bot: string,
  chat: string,
  { workspace, lang, limits = {} }: ChatSettings,
): Settings["feishu"] {
  const { promptTimeout, timeoutPolicy, taskLimit } = limits;
  const kept = {
    ...(workspace !== undefined && { workspace }),
    ...(lang && { lang }),
    ...(promptTimeout !== undefined && { promptTimeout: timeText(promptTimeout) }),
    ...(timeoutPolicy !== undefined && { timeoutPolicy }),
    ...(taskLimit !== undefined && { taskLimit: timeText(taskLimit) }),
  };
  const own = (settings: BotSettings | undefined): BotSettings => ({
    ...settings,
    chats: { ...settings?.chats, [chat]: kept },
  });
  if (bot === "") return { ...feishu, ...own(feishu) };
  return { ...feishu, bots: { ...feishu?.bots, [bot]: own(feishu?.bots?.[bot]) } };
}

function timeText(ms: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ] as const;
  const [unit, size] = units.find(([, unitMs]) => ms % unitMs === 0) ?? (["s", 1_000] as const);
  return `${Math.max(1, Math.round(ms / size))}${unit}`;
}
