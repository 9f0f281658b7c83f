import { homedir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "../../../protocol/index.ts";
import { loadConfig } from "../../../config/config.ts";
import type { Home } from "../../../config/home.ts";
import { receivedFor } from "../../../config/output.ts";
import { createRedaction } from "../../../config/redact.ts";
import type { Guard, PersonOf } from "../../../host/guard.ts";
import type { SurfaceStores } from "../../../host/surface-store.ts";
import { mayApprove, mayTalk } from "../../../surfaces/feishu/people.ts";
import type { Feishu, Team } from "../../../surfaces/feishu/index.ts";
import { usual, type Log } from "../../../surfaces/feishu/transport/config.ts";
import type { OpenFeishu } from "../../../surfaces/feishu/transport/open.ts";
import { feishuSetupTexts } from "../../../texts/feishu-setup.ts";
import { accountPerson } from "../../account.ts";
import type { BotConfig, ConfigParts } from "../feishu/config.ts";
import { liveTeam } from "./team.ts";

export type SurfaceParts = {
  host: Host;
  surfaces: SurfaceStores;
  home: Home;
  env: NodeJS.ProcessEnv;
  /** Each session may read its own part of it, wherever it works. */
  output: string;
  /** Of new sessions, where one was named. */
  model: string | undefined;
  config: ConfigParts;
  log: Log;
};

/** A bot as a surface of the daemon. */
export type Bot = { name: string; channel: OpenFeishu; team(): Team; attach(signal: AbortSignal): Promise<Feishu> };

export async function openBot(bot: BotConfig, parts: SurfaceParts): Promise<Bot> {
  const { host, surfaces, home, env, output, model, config } = parts;
  const { app, name } = bot;
  const log: Log = (level, text) => parts.log(level, name === "" ? text : `${name}: ${text}`);
  const warn = (text: string) => log("warn", text);
  const { openFeishu } = await import("../../../surfaces/feishu/transport/open.ts");
  const store = surfaces.of(`feishu/${app.appId}`);
  const channel = openFeishu(app, { store, lang: config.lang, log });
  const { team, changeTeam } = liveTeam(bot, { home, env, config, warn });
  return {
    name,
    channel,
    team,
    async attach(signal) {
      const { attachFeishu } = await import("../../../surfaces/feishu/index.ts");
      const attached = attachFeishu(host, {
        ...{ channel, store, app: app.appId, team, changeTeam, signal, log: warn },
        ...(model !== undefined && { model }),
        inbox: receivedFor(output),
        hostRecovers: true,
        redaction: createRedaction(env),
        mayRead: (path, cwd) => mayRead(path, cwd, { home, env }),
        account: () => accountPerson(home)({ by: "", surface: "serve" }) ?? undefined,
        examine: () => missingOf(bot),
      });
      await attached.ready;
      return attached;
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
    if (names.every((one) => Object.keys(one).length === 0)) return undefined;
    return names.map((one) => one[openId]).find((name) => name !== undefined) ?? null;
  };
}

/** Complaints of `sage feishu doctor`, for people who ask from a chat. */
async function missingOf({ app }: BotConfig): ReturnType<Examine> {
  const { createApi } = await import("../../../surfaces/feishu/transport/api.ts");
  const { examine } = await import("../feishu/examine.ts");
  const found = await examine(
    createApi(app, usual, () => {}, sleep),
    app,
  );
  const missing = found.filter(({ level }) => level !== "ok");
  return (lang) => missing.map(({ level, say }) => `${level === "bad" ? "✗" : "·"} ${say(feishuSetupTexts(lang))}`);
}

type Examine = NonNullable<Parameters<typeof import("../../../surfaces/feishu/index.ts").attachFeishu>[1]["examine"]>;

/** By the rules as they stand in that folder now; whoever would be asked about it has not been. */
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
