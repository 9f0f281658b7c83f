import { thrownText } from "../../../texts/shared/error.ts";
import type { Answer, Api } from "../../../surfaces/feishu/transport/api/api.ts";
import type { FeishuApp } from "../../../surfaces/feishu/transport/api/config.ts";
import type { FeishuSetupTexts } from "../../../texts/serve/feishu-setup.ts";

export type Finding = { level: "ok" | "bad" | "note"; say(t: FeishuSetupTexts): string };

/** Scopes that Sage uses; any one of a line is enough. */
export const neededScopes = [
  { scopes: ["im:message.p2p_msg:readonly", "im:message.p2p_msg", "im:message"], what: "p2p", must: true },
  {
    scopes: ["im:message.group_at_msg:readonly", "im:message.group_at_msg", "im:message.group_msg", "im:message"],
    what: "group",
    must: true,
  },
  { scopes: ["im:message.group_msg"], what: "threads", must: false },
  { scopes: ["im:message:send_as_bot", "im:message"], what: "send", must: true },
  { scopes: ["im:message:update", "im:message", "im:message:send_as_bot"], what: "update", must: true },
  { scopes: ["im:message:readonly", "im:message"], what: "quotes", must: false },
  { scopes: ["cardkit:card:write"], what: "stream", must: false },
  { scopes: ["im:resource", "im:message", "im:message:readonly"], what: "resource", must: false },
  { scopes: ["contact:user.base:readonly"], what: "names", must: false },
  { scopes: ["im:chat.members:read", "im:chat:readonly", "im:chat"], what: "members", must: false },
] as const;

/** Looks at the app as the platform sees it. Nothing is changed. */
export async function checkApp(api: Api, app: FeishuApp): Promise<Finding[]> {
  const bot = await examineBot(api, app);
  // Without an answer nothing else can be asked.
  if (bot.length === 1) return bot;
  return [...bot, ...(await examineScopes(api)), ...(await examineConsole(api, app))];
}

const ok = (say: Finding["say"]): Finding => ({ level: "ok", say });
const bad = (say: Finding["say"]): Finding => ({ level: "bad", say });
const note = (say: Finding["say"]): Finding => ({ level: "note", say });

async function examineBot(api: Api, { domain }: FeishuApp): Promise<Finding[]> {
  let answer: Answer;
  try {
    answer = await api.call({ method: "GET", path: "bot/v3/info" });
  } catch (error) {
    return [bad((t) => t.fails(thrownText(error)))];
  }
  const bot = answer["bot"] as { open_id?: string; app_name?: string; activate_status?: number } | undefined;
  const { open_id: id, app_name: name = "" } = bot ?? {};
  const on = id !== undefined && bot?.activate_status === 2;
  return [ok((t) => t.credentials(domain)), on ? ok((t) => t.bot(name, id)) : bad((t) => t.botOff)];
}

async function examineScopes(api: Api): Promise<Finding[]> {
  let granted: Set<string>;
  try {
    const { data } = (await api.call({ method: "GET", path: "application/v6/scopes" })) as {
      data?: { scopes?: { scope_name: string; grant_status: number }[] };
    };
    granted = new Set(
      (data?.scopes ?? []).filter((scope) => scope.grant_status === 1).map((scope) => scope.scope_name),
    );
  } catch (error) {
    return [note((t) => t.scopesUnknown(thrownText(error)))];
  }
  const missing = neededScopes.filter(({ scopes }) => !scopes.some((scope) => granted.has(scope)));
  if (missing.length === 0) return [ok((t) => t.scopes)];
  return missing.map(({ scopes, what, must }) => (must ? bad : note)((t) => t.noScope(scopes[0], t.scopeFor[what])));
}

type Console = {
  online_version_id?: string;
  event?: { subscription_type?: string; subscribed_events?: string[] };
  callback?: { callback_type?: string; subscribed_callbacks?: string[] };
};

/** Needs a permission that few apps have; without it only a person can look. */
async function examineConsole(api: Api, { appId, mode }: FeishuApp): Promise<Finding[]> {
  let app: Console;
  try {
    const path = `application/v6/applications/${encodeURIComponent(appId)}`;
    const { data } = (await api.call({ method: "GET", path, query: { lang: "zh_cn" } })) as {
      data?: { app?: Console };
    };
    app = data?.app ?? {};
  } catch {
    return [note((t) => t.byHand)];
  }
  const { online_version_id: version, event, callback } = app;
  // Report only a mode that is known to be wrong: the platform does not document these names.
  const other = mode === "socket" ? "webhook" : "websocket";
  const isOther = (set: string | undefined) => set?.toLowerCase() === other;
  const hasEvent = event?.subscribed_events?.includes("im.message.receive_v1");
  const hasRecall = event?.subscribed_events?.includes("im.message.recalled_v1");
  const hasCallback = callback?.subscribed_callbacks?.includes("card.action.trigger");
  return [
    version ? ok((t) => t.published) : bad((t) => t.unpublished),
    hasEvent ? ok((t) => t.event) : bad((t) => t.noEvent),
    ...(hasRecall ? [] : [note((t) => t.noRecall)]),
    hasCallback ? ok((t) => t.callback) : bad((t) => t.noCallback),
    ...(isOther(event?.subscription_type) ? [bad((t) => t.wrongMode("event", mode))] : []),
    ...(isOther(callback?.callback_type) ? [bad((t) => t.wrongMode("callback", mode))] : []),
  ];
}
