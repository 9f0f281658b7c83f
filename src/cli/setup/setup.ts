import { homedir } from "node:os";
import { succeed, exitCodes } from "../process/stdout.ts";
import { chooseModel, defaultModels, keyVariables, type ModelSettings } from "../../models/choice/choose.ts";
import { listModels } from "../../models/wire/list.ts";
import { oneLine } from "../../base/visible.ts";
import { type Reason, reasonOf } from "../../protocol/reasons/reason.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { sageHome, type Home } from "../../config/home/home.ts";
import { saveKey, withKeys } from "../../config/home/keys.ts";
import { changeSettings, readSettings, type Settings } from "../../config/settings/settings.ts";
import { sandboxTexts } from "../../texts/setup/sandbox.ts";
import { firstRunTexts, type FirstRunTexts } from "../../texts/setup/first-run.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { fitted } from "../../view/lines/safe.ts";
import { readFlagsOnly, usage } from "../process/flags.ts";
import { promptLine, promptHidden } from "../process/prompt.ts";
import { asksTrust } from "../govern/trust-prompt.ts";

const LOCAL = "http://127.0.0.1:11434/v1";
const TIMEOUT_MS = 30_000;
const LISTED = 20;

/** A model as the person described it. Nothing of it is written before it was tried, or they insist. */
type Draft = {
  spec: string;
  /** Variable that holds the key, and the key itself if it was typed. */
  variable?: string;
  key?: string;
  provider?: { name: string; baseURL: string };
};

/** `sage setup`: chooses a model, tries it, and keeps it. As often as one likes. */
export async function setup(args: string[]): Promise<number> {
  const { lang } = readFlagsOnly("setup", args, {});
  const words = firstRunTexts(lang);
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw usage(words.needsTerminal);
  if (!(await setUpModel(lang))) return succeed(words.nothing);
  await offerSandbox(lang);
  if ((await asksTrust(sageHome(process.env), process.cwd(), lang)) === "go on") console.log(words.start);
  return exitCodes.success;
}

/** Offers a setup when there is no model and a person is at the terminal. */
export async function firstRun(lang: Lang): Promise<"set up" | "demo" | "leave"> {
  const t = firstRunTexts(lang);
  say(t.welcome, `  s  ${t.now}`, `  d  ${t.demo}`, `  q  ${t.leave}`);
  for (;;) {
    const said = (await promptLine("s/d/q > "))?.toLowerCase();
    if (said === undefined || said === "q") return "leave";
    if (said === "" || said === "d") return "demo";
    if (said === "s") {
      if (!(await setUpModel(lang))) return "leave";
      await offerSandbox(lang);
      return "set up";
    }
    say(t.noLetter(oneLine(said)));
  }
}

/** Offers the sandbox if commands can be confined and the setting is not set. It would not spare root any prompt. */
async function offerSandbox(lang: Lang): Promise<void> {
  const home = sageHome(process.env);
  if (readSettings(home.settings).sandbox?.mode !== undefined || process.getuid?.() === 0) return;
  const { probeOnce } = await import("../../host/assembly/confining.ts");
  if (!(await probeOnce(home.dir, homedir())).ok) return;
  const t = sandboxTexts(lang);
  say(t.offer, `  y  ${t.modes.autoAllow}`, `  n  ${t.modes.off}`);
  const said = (await promptLine("y/n > "))?.toLowerCase();
  if (said !== "y") return;
  changeSettings(home.settings, (settings) => ({ ...settings, sandbox: { ...settings.sandbox, mode: "autoAllow" } }));
  say(t.saved("autoAllow", home.settings));
}

/** True when a model was kept. */
async function setUpModel(lang: Lang): Promise<boolean> {
  const t = firstRunTexts(lang);
  const home = sageHome(process.env);
  for (;;) {
    const draft = await describe(t);
    if (draft === "leave") return false;
    if (draft === "back") continue;
    const problem = await tryOut(draft, home, lang);
    if (problem === undefined) say(t.works(draft.spec));
    else {
      say(t.fails(oneLine(problem)), `  a  ${t.again}`, `  k  ${t.keep}`, `  q  ${t.leave}`);
      const said = (await promptLine("a/k/q > "))?.toLowerCase();
      if (said === undefined || said === "q") return false;
      if (said !== "k") continue;
    }
    keep(draft, home, t);
    return true;
  }
}

async function describe(t: FirstRunTexts): Promise<Draft | "back" | "leave"> {
  const known = Object.entries(defaultModels) as [keyof typeof defaultModels, string][];
  const names = known.map(([provider, model]) => `${provider}/${model}`);
  say(t.which, ...[...names, t.own].map((what, n) => `  ${n + 1}  ${what}`), `  q  ${t.leave}`, t.change);
  const said = (await promptLine("> "))?.toLowerCase();
  if (said === undefined || said === "q") return "leave";
  if (said === String(known.length + 1)) return describeServer(t);
  const chosen = known[Number(said) - 1];
  if (!chosen) {
    say(t.noChoice(oneLine(said), known.length + 1));
    return "back";
  }
  const [provider, model] = chosen;
  const variable = keyVariables[provider];
  const spec = `${provider}/${model}`;
  if (process.env[variable]) {
    say(t.fromEnvironment(variable));
    return { spec, variable };
  }
  const key = await promptHidden(t.key(provider));
  return key && mayBeKey(key, t) ? { spec, variable, key } : "back";
}

async function describeServer(t: FirstRunTexts): Promise<Draft | "back" | "leave"> {
  const said = await promptLine(t.address(LOCAL));
  if (said === undefined) return "leave";
  const baseURL = (said || LOCAL).replace(/\/+$/, "");
  if (!/^https?:$/.test(URL.parse(baseURL)?.protocol ?? "")) {
    say(t.badAddress(oneLine(baseURL)));
    return "back";
  }
  const key = await promptHidden(t.optionalKey);
  if (key === undefined) return "leave";
  if (!mayBeKey(key, t)) return "back";
  say(t.asking(baseURL));
  const models = await listModels(baseURL, key, process.env).catch((error: unknown) => {
    say(t.noModels(oneLine(networkCodeOf(error))));
    return [];
  });
  if (models.length > 0) {
    const more = models.length > LISTED ? [t.more(models.length - LISTED)] : [];
    say(t.models, ...models.slice(0, LISTED).map((name, n) => `  ${n + 1}  ${oneLine(name)}`), ...more);
  }
  const name = await nameModel(models, t);
  if (name === undefined) return "leave";
  if (name === "") return "back";
  const provider = { name: "local", baseURL };
  return { spec: `local/${name}`, provider, ...(key !== "" && { variable: "SAGE_LOCAL_API_KEY", key }) };
}

/** Asks for a model of the list or another one. Enter alone takes the only model of a list, and does not lead back to the start. */
async function nameModel(models: readonly string[], t: FirstRunTexts): Promise<string | undefined> {
  const [only = ""] = models.length === 1 ? models : [];
  for (;;) {
    const said = await promptLine(only === "" ? t.modelName : t.onlyModel(oneLine(only)));
    if (said !== "") return said && (models[Number(said) - 1] ?? said);
    if (models.length < 2) return only;
  }
}

/** Sage's own lines, broken between words. */
function say(...lines: string[]): void {
  console.log(fitted(lines, process.stdout.columns || undefined).join("\n"));
}

/** `ECONNREFUSED` says more than the sentence around it. */
function networkCodeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : thrownText(error);
}

/** It travels in a header, and what was copied with it by mistake would only show as a failure later. */
function mayBeKey(key: string, t: FirstRunTexts): boolean {
  const fits = /^[\x21-\x7e]*$/.test(key);
  if (!fits) say(t.badKey);
  return fits;
}

/** Why it does not work; undefined if the model replied. */
async function tryOut(draft: Draft, home: Home, lang: Lang): Promise<string | undefined> {
  say(firstRunTexts(lang).trying(draft.spec));
  let first: Reason | undefined;
  const enough = new AbortController();
  try {
    const stored = withKeys(process.env, home);
    const env = draft.variable && draft.key ? { ...stored, [draft.variable]: draft.key } : stored;
    const choice = chooseModel({
      spec: draft.spec,
      env,
      settings: withDraft(readSettings(home.settings), draft) as ModelSettings,
    });
    const model = await choice?.load();
    await model?.reply(
      { system: "", messages: [{ role: "user", text: "Say OK." }], tools: [], options: {}, agent: ["setup"] },
      {
        signal: AbortSignal.any([enough.signal, AbortSignal.timeout(TIMEOUT_MS)]),
        text() {},
        reasoning() {},
        // A person waits: what went wrong the first time is what they need to know.
        retry(why) {
          first ??= why.code === "tries-again" ? why.args.problem : why; // nothing is tried again here
          enough.abort();
        },
      },
    );
    return undefined;
  } catch (error) {
    return texts(lang).because(first ?? reasonOf(error));
  }
}

function keep(draft: Draft, home: Home, t: FirstRunTexts): void {
  if (draft.variable && draft.key) {
    const place = saveKey(home, process.env, draft.variable, draft.key);
    say(place === "keychain" ? t.keptInKeychain : t.keptInFile(home.keys));
  }
  changeSettings(home.settings, (settings) => withDraft(settings, draft));
  say(t.saved(draft.spec, home.settings));
}

function withDraft<S extends Partial<Settings>>(settings: S, { spec, provider, variable }: Draft): S {
  const model = { ...settings, model: spec };
  if (!provider) return model;
  const { name, baseURL } = provider;
  const server = { baseURL, ...(variable !== undefined && { apiKeyEnv: variable }) };
  return { ...model, providers: { ...settings.providers, [name]: server } };
}
