import { realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { SageError } from "../../../protocol/index.ts";
import type { FeishuSettings } from "../../../config/settings.ts";
import type { FeishuApp } from "../../../surfaces/feishu/transport/config.ts";
import type { FeishuSetupTexts } from "../../../texts/feishu-setup.ts";
import { agentFor, proxyFor, type Env } from "../../../models/proxy.ts";

export type FeishuConfig = FeishuApp & {
  people: { talk: readonly string[] | "anyone"; approve: readonly string[]; tenant?: string };
  cwd: string;
  folders: readonly string[];
  models: readonly string[];
  /** Good enough to start with, and worth a word. */
  warnings: string[];
};

export const secretVariables = ["FEISHU_APP_SECRET", "FEISHU_ENCRYPT_KEY", "FEISHU_VERIFICATION_TOKEN"] as const;

/**
 * What the settings file and the environment say together; the environment wins. Undefined when nobody has mentioned Feishu.
 * Everything that is wrong is told at once.
 */
export function feishuConfig(
  settings: FeishuSettings | undefined,
  env: Env,
  { cwd, t }: { cwd: string; t: FeishuSetupTexts },
): FeishuConfig | undefined {
  const appId = env["FEISHU_APP_ID"] || settings?.appId;
  if (!appId && !settings && !env["FEISHU_APP_SECRET"]) return undefined;
  const problems: string[] = [];
  const warnings: string[] = [];
  const must = <T>(value: T | undefined, problem: string): T | undefined => {
    if (value === undefined) problems.push(problem);
    return value;
  };

  if (!appId) problems.push(t.noAppId);
  else if (!isAppId(appId)) problems.push(t.badAppId(appId));
  const appSecret = must(env["FEISHU_APP_SECRET"] || undefined, t.noSecret);
  const given = env["FEISHU_DOMAIN"] || settings?.domain || "feishu";
  const domain = must(domainOf(given), t.badDomain(given));
  const mode = env["FEISHU_MODE"] || settings?.mode || "socket";
  if (mode !== "socket" && mode !== "webhook") problems.push(t.badMode(mode));
  const [encryptKey, verificationToken] = [env["FEISHU_ENCRYPT_KEY"], env["FEISHU_VERIFICATION_TOKEN"]];
  if (mode === "webhook") {
    if (!encryptKey) problems.push(t.noEncryptKey);
    if (!verificationToken) problems.push(t.noVerificationToken);
  }

  const named = (variable: string): string[] | undefined => {
    const list = env[variable]?.split(/[\s,;]+/).filter((one) => one !== "");
    for (const one of list ?? []) if (!isOpenId(one)) problems.push(t.badUser(variable, one));
    return list;
  };
  const everyone = /^(\*|anyone)$/i.test(env["FEISHU_ALLOWED_USERS"]?.trim() ?? "");
  const talk = everyone ? "anyone" : (named("FEISHU_ALLOWED_USERS") ?? settings?.allowedUsers ?? []);
  const approve = named("FEISHU_APPROVERS") ?? settings?.approvers ?? [];
  if (talk.length === 0 && approve.length === 0) problems.push(t.nobody);
  else if (approve.length === 0) warnings.push(t.noApprovers);
  if (talk === "anyone") warnings.push(t.anyone);

  const folder = (path: string): string => {
    const full = isAbsolute(path) ? path : resolve(cwd, path);
    if (statSync(full, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(full);
    problems.push(t.noFolder(full));
    return full;
  };
  const where = folder(settings?.cwd ?? cwd);
  const folders = (settings?.folders ?? []).map(folder);
  if (problems.length > 0 || !appId || !appSecret || !domain)
    throw new SageError("config-invalid", [t.wrong, ...problems.map((one) => `  · ${one}`)].join("\n"));
  return {
    appId,
    appSecret,
    domain,
    mode: mode as FeishuApp["mode"],
    ...(encryptKey && { encryptKey }),
    ...(verificationToken && { verificationToken }),
    ...wayTo(domain, env),
    people: { talk, approve, ...(settings?.tenant !== undefined && { tenant: settings.tenant }) },
    cwd: where,
    folders,
    models: settings?.models ?? [],
    warnings,
  };
}

/** By way of the proxy that the environment names, if it names one for there. */
export function wayTo(domain: string, env: Env): Pick<FeishuApp, "agent"> {
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
  throw new SageError("config-invalid", t.badPort(where, text));
}
