import { liveSettings, withRole } from "../../../config/settings/people.ts";
import type { Home } from "../../../config/home/home.ts";
import { changeSettings, type BotSettings, type Settings } from "../../../config/settings/settings.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import type { ChangeTeam, ChatSettings, Team } from "../../../surfaces/feishu/index.ts";
import type { Env } from "../../../models/proxy.ts";
import { teamOf, type BotConfig, type ConfigParts } from "../../connect/feishu/config.ts";

export type LiveTeam = { team(): Team; changeTeam: ChangeTeam };

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
