import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { sageHome, type Home } from "../../../config/home/home.ts";
import { saveKey, withKeys } from "../../../config/home/keys.ts";
import { withRole } from "../../../config/settings/people.ts";
import { changeSettings, readSettings, type FeishuSettings } from "../../../config/settings/settings.ts";
import { createApi } from "../../../surfaces/feishu/transport/api/api.ts";
import { usual, type FeishuApp } from "../../../surfaces/feishu/transport/api/config.ts";
import { readEnvelope, readMessage } from "../../../surfaces/feishu/transport/incoming/event.ts";
import { createConnection } from "../../../surfaces/feishu/transport/incoming/socket.ts";
import type { Lang } from "../../../texts/language.ts";
import { feishuSetupTexts, type FeishuSetupTexts } from "../../../texts/serve/feishu-setup.ts";
import { exitCodes } from "../../process/stdout.ts";
import { readFlagsOnly } from "../../process/flags.ts";
import { promptLine, promptHidden } from "../../process/prompt.ts";
import { domainOf, isAppId, isOpenId, secretVariables, proxyAgentFor } from "./config.ts";
import { register } from "./register.ts";

/** The person left: nothing is written. */
class Left extends Error {}

/** Asks for what is needed, tries it, and keeps it: secrets where keys are, the rest in the person's settings. */
export async function setup(args: string[]): Promise<number> {
  const { lang } = readFlagsOnly("feishu setup", args, {});
  const t = feishuSetupTexts(lang);
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw new SageError("usage", said(t.needsTerminal));
  try {
    await walk(t, lang);
  } catch (error) {
    if (!(error instanceof Left)) throw error;
    console.log(t.nothing);
  }
  return exitCodes.success;
}

async function walk(t: FeishuSetupTexts, lang: Lang): Promise<void> {
  const home = sageHome(process.env);
  const env = withKeys(process.env, home);
  const before = readSettings(home.settings).feishu ?? {};
  console.log(t.welcome);
  const usually = before.domain ?? "feishu";
  const named = await until(
    t.askDomain(usually),
    (text) => (domainOf(text || usually) ? text || usually : undefined),
    t.badDomain,
  );
  const fresh = before.appId === undefined && domainOf(named)?.startsWith("https:") === true;
  const way = await until(
    t.askWay(fresh ? "1" : "2"),
    (text) => (/^[12]?$/.test(text) ? text || (fresh ? "1" : "2") : undefined),
    t.badChoice,
  );
  if (way === "1" && (await byCode(named, { home, env, before, lang, t }))) return;
  const appId = await until(
    t.askAppId(before.appId ?? ""),
    (text) => (isAppId(text || (before.appId ?? "")) ? text || before.appId : undefined),
    t.badAppId,
  );
  const secrets: Partial<Record<(typeof secretVariables)[number], string>> = {};
  const secret = async (variable: (typeof secretVariables)[number], label: (kept: boolean) => string) => {
    for (;;) {
      const kept = env[variable];
      const typedIn = await promptHidden(label(kept !== undefined));
      if (typedIn === undefined) throw new Left();
      if (typedIn !== "") return (secrets[variable] = typedIn);
      if (kept !== undefined) return kept;
    }
  };
  const appSecret = await secret("FEISHU_APP_SECRET", t.askSecret);
  const choice = before.mode === "webhook" ? "2" : "1";
  const chosen = await until(
    t.askMode(choice),
    (text) => (/^[12]?$/.test(text) ? text || choice : undefined),
    t.badChoice,
  );
  const mode = chosen === "2" ? "webhook" : "socket";
  const domain = domainOf(named) ?? "";
  const app: FeishuApp = { appId, appSecret, domain, mode, ...proxyAgentFor(domain, env) };
  if (mode === "webhook") {
    app.encryptKey = await secret("FEISHU_ENCRYPT_KEY", t.askEncryptKey);
    app.verificationToken = await secret("FEISHU_VERIFICATION_TOKEN", t.askToken);
  }
  if (!(await works(app, t)) && !/^(y|yes|是)$/i.test(await line(t.keepAnyway))) throw new Left();
  const approvers = await whoApproves(app, before.approvers ?? [], t);
  const talkers = await whoTalks(before.allowedUsers, t);
  keep(
    home,
    { ...before, appId, domain: named, mode, approvers, ...(talkers && { allowedUsers: talkers }) },
    secrets,
    t,
  );
}

type Scanning = { home: Home; env: NodeJS.ProcessEnv; before: FeishuSettings; lang: Lang; t: FeishuSetupTexts };

/** The platform creates the app; the person who scans the code becomes administrator and approver. False if this way failed. */
async function byCode(named: string, { home, env, before, lang, t }: Scanning): Promise<boolean> {
  const leaving = new AbortController();
  const skip = () => leaving.abort();
  try {
    process.stdin.once("data", skip).resume();
    const made = await register(domainOf(named) ?? "", {
      env,
      signal: leaving.signal,
      show: ({ url, picture }) => console.log(`${picture}\n${t.scan(url)}`),
    });
    const domain = made.lark ? "lark" : named;
    const settings = { ...before, appId: made.appId, domain, mode: "socket" as const };
    keep(home, settings, { FEISHU_APP_SECRET: made.appSecret }, t);
    const id = made.openId;
    if (id !== undefined && isOpenId(id)) {
      changeSettings(home.settings, (all) => {
        const people = withRole(all.people ?? {}, { id: `feishu:${id}`, name: t.scanner, role: "administrator" });
        return { ...all, people: withRole(people, { id: `feishu:${id}`, name: t.scanner, role: "approver" }) };
      });
      console.log(t.scanned);
    }
    return true;
  } catch (error) {
    console.log(t.notScanned(thrownText(error, lang)));
    return false;
  } finally {
    process.stdin.off("data", skip).pause();
  }
}

async function works(app: FeishuApp, t: FeishuSetupTexts): Promise<boolean> {
  console.log(t.trying(app.domain));
  try {
    const api = createApi(app, usual, () => {}, sleep);
    const { bot } = (await api.call({ method: "GET", path: "bot/v3/info" })) as { bot?: { app_name?: string } };
    console.log(t.works(bot?.app_name ?? "?"));
    return true;
  } catch (error) {
    console.log(t.fails(thrownText(error)));
    return false;
  }
}

async function whoApproves(app: FeishuApp, before: string[], t: FeishuSetupTexts): Promise<string[]> {
  const said = await until(
    t.askApprovers(before.join(" ")),
    (text) => (list(text).every(isOpenId) ? text : undefined),
    (text) => t.badUser("approvers", text),
  );
  if (said !== "") return list(said);
  if (before.length > 0 || app.mode !== "socket") return before;
  const openId = await pair(app, t);
  return openId === undefined ? [] : [openId];
}

/** The sender of the code is the person here: nobody looks up an open id. The console saves its setting only while we are connected. */
async function pair(app: FeishuApp, t: FeishuSetupTexts): Promise<string | undefined> {
  const code = `sage ${randomInt(100_000, 1_000_000)}`;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const api = createApi(app, usual, () => {}, sleep);
  const receive = (payload: unknown): Promise<object> => {
    const message = readMessage(readEnvelope(payload)?.event, undefined);
    // Any other event is not acknowledged, and comes again when the bot is there.
    if (message?.chatType !== "p2p" || message.text !== code) return Promise.reject(new Error("not for the setup"));
    resolve(message.sender.openId);
    return Promise.resolve({});
  };
  const connection = createConnection(app, { api, timings: usual, log() {}, receive });
  await connection.start();
  console.log(t.pairing(code));
  const skip = () => resolve(undefined);
  process.stdin.once("data", skip).resume();
  const found = await promise;
  process.stdin.off("data", skip).pause();
  connection.close();
  if (found !== undefined) console.log(t.paired(found));
  return found;
}

async function whoTalks(before: FeishuSettings["allowedUsers"], t: FeishuSetupTexts) {
  const shown = before === undefined ? "" : before === "anyone" ? before : before.join(" ");
  const said = await until(
    t.askTalkers(shown),
    (text) => (text === "anyone" || list(text).every(isOpenId) ? text : undefined),
    (text) => t.badUser("allowedUsers", text),
  );
  if (said === "") return before;
  return said === "anyone" ? said : list(said);
}

function keep(home: Home, feishu: FeishuSettings, secrets: Record<string, string>, t: FeishuSetupTexts): void {
  const places = Object.entries(secrets).map(([variable, value]) => saveKey(home, process.env, variable, value));
  changeSettings(home.settings, (settings) => ({ ...settings, feishu }));
  const [place] = places;
  if (place) console.log(t.keptIn(place, home.keys));
  console.log(t.saved(home.settings));
  console.log(t.next);
}

const list = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== "");

async function line(label: string): Promise<string> {
  const said = await promptLine(label);
  if (said === undefined) throw new Left();
  return said;
}

/** Asks again until it can be used. */
async function until(label: string, accept: (text: string) => string | undefined, complain: (text: string) => string) {
  for (;;) {
    const said = await line(label);
    const value = accept(said);
    if (value !== undefined) return value;
    console.log(complain(said));
  }
}
