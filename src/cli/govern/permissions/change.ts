import { ask } from "../../../protocol/host/refusal.ts";
import { oneLine } from "../../../base/visible.ts";
import type { Rule } from "../../../protocol/facts/permission.ts";
import { sessionRules } from "../../../protocol/facts/session.ts";
import { type Reason, isSameReason, said, SageError } from "../../../protocol/reasons/reason.ts";
import { loadConfig } from "../../../config/config.ts";
import { sageHome } from "../../../config/home/home.ts";
import { meaningOf } from "../../../permission/rules/meaning.ts";
import type { Lang } from "../../../texts/language.ts";
import { pastTexts } from "../../../texts/setup/past.ts";
import { timeOf } from "../../../texts/shared/resolution.ts";
import { trialLines } from "../../../view/lines/past.ts";
import { ownRedaction } from "../../host/redaction.ts";
import { styleOf, succeed, exitCodes } from "../../process/stdout.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { permissionTexts } from "../../../texts/setup/permissions.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { listedRules } from "../../assemble/listed-rules.ts";
import { openLocalJournal, checkApprover, person } from "../../host/journal.ts";
import type { CliTexts } from "../../../texts/commands/cli.ts";

const options = { to: { type: "string" } } as const;

/** Into the person's own file for this project, unless told otherwise: nothing shared by accident. */
export async function add(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const texts = permissionTexts(lang);
  const [behavior, ...words] = positionals;
  if ((behavior !== "allow" && behavior !== "ask" && behavior !== "deny") || words.length === 0)
    throw usage(texts.addHow);
  checkApprover();
  const rule = words.join(" ");
  const destination = destinationOf(values.to, t) ?? "local";
  const load = () => loadConfig(sageHome(process.env), process.cwd(), process.env);
  const config = load();
  const file = config.saveRule({ rule, behavior, destination });
  console.log(texts.saved(oneLine(rule), oneLine(file)));
  const meaning = behavior === "allow" ? meaningOf(rule) : undefined;
  if (meaning) console.log(oneLine(sentence(meaning, lang)));
  for (const line of await pastLines({ text: rule, behavior }, config.rules, lang)) console.log(line);
  const isNew = (why: Reason) => !config.warnings.some((warning) => isSameReason(warning, why));
  for (const why of load().warnings.filter(isNew)) console.error(`sage: ${oneLine(sentence(why, lang))}`);
  return exitCodes.success;
}

/** The rule held against the past, where there is one that it would have changed. */
async function pastLines(rule: Pick<Rule, "text" | "behavior">, rules: readonly Rule[], lang: Lang) {
  const { host, store } = openLocalJournal(process.env, { looks: true });
  const { readPast } = await import("../../../archive/trials.ts");
  const trial = (await readPast(store, process.cwd(), { rules })).trials.of(rule);
  await host.close();
  if (trial.changed === 0) return [];
  const w = pastTexts(lang);
  const style = styleOf(process.stdout, lang);
  const told = ownRedaction(process.env).value(trial);
  return [w.looked(trial.calls, timeOf(trial.since ?? 0)), ...trialLines(told, { style, w, me: person() })];
}

export async function remove(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const texts = permissionTexts(lang);
  if (positionals.length === 0) throw usage(texts.removeHow);
  checkApprover();
  const rule = positionals.join(" ");
  const home = sageHome(process.env);
  const config = loadConfig(home, process.cwd(), process.env);
  const asked = destinationOf(values.to, t);
  const found = listedRules(config, home.settings).filter((entry) => entry.rule === rule && entry.counts);
  const places = destinations.filter(
    (place) => (asked ?? place) === place && found.some(({ source }) => source === place),
  );
  if (places.length > 1) throw usage(texts.inSeveral(oneLine(rule), places));
  const file = places[0] && config.dropRule(rule, places[0]);
  if (file === undefined) {
    const session = asked === undefined ? await takenBack(rule) : undefined;
    if (session === undefined) throw new SageError("config-invalid", said(texts.notFound(oneLine(rule))));
    return succeed(texts.removed(oneLine(rule), session));
  }
  return succeed(texts.removed(oneLine(rule), oneLine(file)));
}

/** Removes the rule from the newest session of this folder that has it and returns that session. */
async function takenBack(rule: string): Promise<string | undefined> {
  const { host, store } = openLocalJournal(process.env);
  const here = store.sessions().filter(({ cwd }) => cwd === process.cwd());
  const newest = here.toSorted((a, b) => b.lastAt - a.lastAt);
  const found = newest.find(({ id }) => sessionRules(store.load(id)).some(({ text }) => text === rule));
  const sender = { by: person(), surface: "cli" };
  if (found) await ask(host, { type: "removeRule", session: found.id, rule, destination: "session", ...sender });
  await host.close();
  return found?.id;
}

const destinations = ["local", "project", "user"] as const;
export type Destination = (typeof destinations)[number];

export function destinationOf(given: string | undefined, t: CliTexts): Destination | undefined {
  const found = destinations.find((destination) => destination === given);
  if (given !== undefined && !found) throw usage(t.expected("--to", t.oneOf(destinations), given));
  return found;
}
