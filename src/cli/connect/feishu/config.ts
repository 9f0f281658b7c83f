import { isRemote } from "../../../config/remote-repository.ts";
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { agentFor, proxyFor, type Env } from "../../../models/proxy.ts";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import { peopleIn, type Role } from "../../../config/settings/people.ts";
import { type BotSettings, type Settings } from "../../../config/settings/settings.ts";
import { timeMs } from "../../../config/settings/silence.ts";
import { defaultLimits, type ChatSettings, type People, type Team } from "../../../surfaces/feishu/index.ts";
import type { FeishuApp } from "../../../surfaces/feishu/transport/api/config.ts";
import type { FeishuSetupTexts } from "../../../texts/serve/feishu-setup.ts";
import type { Lang } from "../../../texts/language.ts";

export type BotConfig = {
  /** "" for the bot at the top level of the settings. */
  name: string;
  app: FeishuApp;
  team: Team;
  /** Good enough to start with, and worth a word. */
  warnings: string[];
};

/** The name under which a bot remembers. */
export function feishuSurface({ app }: Pick<BotConfig, "app">): string {
  return `feishu/${app.appId}`;
}

export type ConfigParts = { cwd: string; lang: Lang; t: FeishuSetupTexts };

export const secretVariables = ["FEISHU_APP_SECRET", "FEISHU_ENCRYPT_KEY", "FEISHU_VERIFICATION_TOKEN"] as const;
type SecretVariable = (typeof secretVariables)[number];

/** The variable of a secret: `FEISHU_APP_SECRET`, or `FEISHU_APP_SECRET_OPS` of the bot `ops`. */
function variableOf(variable: SecretVariable, bot: string): string {
  return bot === "" ? variable : `${variable}_${bot.toUpperCase()}`;
}

/** All bots of settings and environment, which describes the first one and takes precedence. Problems are reported together. */
export function feishuBots(settings: Settings, env: Env, parts: ConfigParts): BotConfig[] {
  const problems: string[] = [];
  const found = botNames(settings, env).map((name) => botOf(name, settings, env, { ...parts, problems }));
  const ids = found.map(({ app }) => app.appId);
  for (const [n, id] of ids.entries()) if (ids.indexOf(id) !== n) problems.push(parts.t.sameApp(id));
  if (problems.length > 0)
    throw new SageError(
      "config-invalid",
      said([parts.t.wrong, ...problems.map((problem) => `  · ${problem}`)].join("\n")),
    );
  return found;
}

/** Settings that may change while the bot runs. Throws when it cannot be used. */
export function teamOf(name: string, settings: Settings, env: Env, parts: ConfigParts): Team {
  const problems: string[] = [];
  const team = readTeam(name, settings, env, { ...parts, problems, warnings: [] });
  if (problems.length > 0) throw new SageError("config-invalid", said(problems.join("; ")));
  return team;
}

function botSettings({ feishu }: Settings, name: string): BotSettings | undefined {
  return name === "" ? feishu : feishu?.bots?.[name];
}

function botNames({ feishu }: Settings, env: Env): string[] {
  const { bots = {}, ...first } = feishu ?? {};
  const speaksOfFirst = Object.keys(first).length > 0 || env["FEISHU_APP_ID"] || env["FEISHU_APP_SECRET"];
  return [...(speaksOfFirst ? [""] : []), ...Object.keys(bots)];
}

type Reading = ConfigParts & { problems: string[] };

function botOf(name: string, settings: Settings, env: Env, parts: Reading): BotConfig {
  const { t } = parts;
  const own = botSettings(settings, name);
  const of = (variable: string) => (name === "" ? env[variable] || undefined : undefined);
  const secret = (variable: SecretVariable) => env[variableOf(variable, name)] || undefined;
  const problem = (text: string) => void parts.problems.push(name === "" ? text : `${name}: ${text}`);
  const appId = of("FEISHU_APP_ID") ?? own?.appId ?? "";
  if (appId === "") problem(t.noAppId);
  else if (!isAppId(appId)) problem(t.badAppId(appId));
  const appSecret = secret("FEISHU_APP_SECRET") ?? "";
  if (appSecret === "") problem(t.noSecret);
  const given = of("FEISHU_DOMAIN") ?? own?.domain ?? "feishu";
  const domain = domainOf(given) ?? "";
  if (domain === "") problem(t.badDomain(given));
  const mode = of("FEISHU_MODE") ?? own?.mode ?? "socket";
  if (mode !== "socket" && mode !== "webhook") problem(t.badMode(mode));
  const [encryptKey, verificationToken] = [secret("FEISHU_ENCRYPT_KEY"), secret("FEISHU_VERIFICATION_TOKEN")];
  if (mode === "webhook" && !encryptKey) problem(t.noEncryptKey);
  if (mode === "webhook" && !verificationToken) problem(t.noVerificationToken);
  const warnings: string[] = [];
  const before = parts.problems.length;
  const team = readTeam(name, settings, env, { ...parts, warnings });
  if (name !== "")
    for (let n = before; n < parts.problems.length; n++) parts.problems[n] = `${name}: ${parts.problems[n]}`;
  return {
    name,
    app: {
      appId,
      appSecret,
      domain,
      mode: mode as FeishuApp["mode"],
      ...(encryptKey && { encryptKey }),
      ...(verificationToken && { verificationToken }),
      ...(domain !== "" && proxyAgentFor(domain, env)),
    },
    team,
    warnings,
  };
}

function readTeam(name: string, settings: Settings, env: Env, parts: Reading & { warnings: string[] }): Team {
  const own = botSettings(settings, name) ?? {};
  const folder = (path: string): string => {
    if (isRemote(path)) return path; // a worker makes a clone for each session
    const full = isAbsolute(path) ? path : resolve(parts.cwd, path);
    if (statSync(full, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(full);
    parts.problems.push(parts.t.noFolder(full));
    return full;
  };
  const workspaces = Object.fromEntries(
    Object.entries(settings.workspaces ?? {}).map(([called, path]) => [called, folder(path)]),
  );
  const chats = Object.entries(own.chats ?? {}).map(([chat, { workspace, ...more }]) => {
    if (workspace !== undefined && !Object.hasOwn(workspaces, workspace))
      parts.problems.push(parts.t.noWorkspace(chat, workspace));
    return [chat, { ...(workspace !== undefined && { workspace }), ...chatSettings(more) }] as const;
  });
  const { lang, limits } = chatSettings(own);
  return {
    people: readPeople(name, own, settings, env, parts),
    cwd: folder(own.cwd ?? parts.cwd),
    folders: (own.folders ?? []).map(folder),
    workspaces,
    models: own.models ?? [],
    agents: own.agents ?? [],
    lang: lang ?? parts.lang,
    limits: { ...defaultLimits, ...limits },
    chats: Object.fromEntries(chats),
  };
}

type Times = Pick<BotSettings, "lang" | "promptTimeout" | "timeoutPolicy" | "taskLimit">;

function chatSettings({ lang, promptTimeout, timeoutPolicy, taskLimit }: Times): Omit<ChatSettings, "workspace"> {
  const limits = {
    ...(promptTimeout !== undefined && { promptTimeout: timeMs(promptTimeout) }),
    ...(timeoutPolicy !== undefined && { timeoutPolicy }),
    ...(taskLimit !== undefined && { taskLimit: timeMs(taskLimit) }),
  };
  return { ...(lang && { lang }), ...(Object.keys(limits).length > 0 && { limits }) };
}

function readPeople(
  name: string,
  own: BotSettings,
  settings: Settings,
  env: Env,
  { t, problems, warnings }: Reading & { warnings: string[] },
): People {
  const named = (variable: string): string[] | undefined => {
    const list = (name === "" ? env[variable] : undefined)?.split(/[\s,;]+/).filter((word) => word !== "");
    for (const id of list ?? []) if (!isOpenId(id)) problems.push(t.badUser(variable, id));
    return list;
  };
  const listed = peopleIn(settings).flatMap(({ name: called, ids, roles }) =>
    ids.flatMap((id) =>
      id.startsWith("feishu:") ? [{ openId: id.slice("feishu:".length), name: called, roles }] : [],
    ),
  );
  const having = (role: Role) => listed.filter(({ roles }) => roles.includes(role)).map(({ openId }) => openId);
  const everyone = name === "" && /^(\*|anyone)$/i.test(env["FEISHU_ALLOWED_USERS"]?.trim() ?? "");
  const allowed = everyone ? "anyone" : (named("FEISHU_ALLOWED_USERS") ?? own.allowedUsers ?? []);
  const talk = allowed === "anyone" ? allowed : [...new Set([...allowed, ...having("talker")])];
  const approve = [...new Set([...(named("FEISHU_APPROVERS") ?? own.approvers ?? []), ...having("approver")])];
  const administer = having("administrator");
  if (talk.length + approve.length + administer.length === 0) problems.push(t.nobody);
  else if (approve.length === 0) warnings.push(t.noApprovers);
  if (talk === "anyone") warnings.push(t.anyone);
  return {
    talk,
    approve,
    ...(administer.length > 0 && { administer }),
    ...(listed.length > 0 && { names: Object.fromEntries(listed.map((user) => [user.openId, user.name])) }),
    ...(own.tenant !== undefined && { tenant: own.tenant }),
  };
}

export function proxyAgentFor(domain: string, env: Env): Pick<FeishuApp, "agent"> {
  const url = new URL(domain);
  return proxyFor(url, env) === undefined ? {} : { agent: agentFor(url, env) };
}

/** The library connects with ids of this form alone, and says nothing about others. */
export const isAppId = (text: string): boolean => /^cli_[0-9a-fA-F]{16}$/.test(text);

export const isOpenId = (text: string): boolean => /^ou_\w+$/.test(text);

/** An origin. The app's secret goes there: in clear only within this machine. */
export function domainOf(given: string): string | undefined {
  const known = { feishu: "https://open.feishu.cn", lark: "https://open.larksuite.com" };
  const name = given.toLowerCase();
  if (name === "feishu" || name === "lark") return known[name];
  const url = URL.parse(given);
  if (!url || url.pathname !== "/" || url.search !== "" || url.username !== "") return undefined;
  const here = ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && here) ? url.origin : undefined;
}

/** 0 is any free one. */
export function portOf(text: string, where: string, t: FeishuSetupTexts): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new SageError("config-invalid", said(t.badPort(where, text)));
}
