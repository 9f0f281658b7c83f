import { loadConfig } from "../../../config/config.ts";
import { sageHome } from "../../../config/home/home.ts";
import { readRule } from "../../../permission/rules/rules.ts";
import { oneLine } from "../../../base/visible.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import { pastTexts } from "../../../texts/setup/past.ts";
import { timeOf } from "../../../texts/shared/resolution.ts";
import { ideaLines, trialLines } from "../../../view/lines/past.ts";
import { openLocalJournal, person } from "../../host/journal.ts";
import { styleOf, printJson, succeed, exitCodes } from "../../process/stdout.ts";
import { readFlags, readFlagsOnly, usage } from "../../process/flags.ts";
import { readPast } from "../../../archive/trials.ts";
import { ownRedaction } from "../../host/redaction.ts";

const options = { json: { type: "boolean" }, behavior: { type: "string", default: "allow" } } as const;

/** Holds rules against the calls of this project before they are kept: how many each would have changed, and which. */
export async function backtest(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, options);
  const w = pastTexts(lang);
  const { behavior } = values;
  if (behavior !== "allow" && behavior !== "ask" && behavior !== "deny") throw usage(w.backtestHow);
  for (const text of positionals) {
    const reading = readRule(text, behavior);
    if (!reading.ok)
      throw new SageError(
        "config-invalid",
        reason("rule-not-read", { rule: text, problem: reading.problem, behavior }),
      );
  }
  const { calls, trials, close, rules } = await open();
  const [first, ...more] = positionals.map((text) => ({ text, behavior }) as const);
  // Rules that are named in one breath would be kept together.
  const tried = first ? [trials.of(first, ...more)] : rules.map((rule) => trials.of(rule));
  const results = ownRedaction(process.env).value(tried);
  await close();
  if (values.json) return printJson(results);
  const style = styleOf(process.stdout, lang);
  if (tried.length === 0) console.log(w.noRules);
  else if (calls.length === 0) console.log(w.noPast);
  else console.log(w.looked(calls.length, timeOf(calls[0]!.at)));
  for (const trial of calls.length === 0 ? [] : results) {
    console.log(style.paint.bold((trial.rules ?? [trial.rule]).map(oneLine).join("  ")));
    console.log(trialLines(trial, { style, w, me: person() }).join("\n"));
  }
  return exitCodes.success;
}

/** The smallest set of rules that would have spared the most questions without allowing anything that was refused. */
export async function suggestRules(args: string[]): Promise<number> {
  const { values, lang } = readFlagsOnly("permissions suggest", args, { json: { type: "boolean" } });
  const w = pastTexts(lang);
  const { calls, trials, offers, close } = await open();
  const ideas = ownRedaction(process.env).value(trials.ideas(offers));
  await close();
  const asked = calls.filter((call) => call.asked !== undefined).length;
  if (values.json) return printJson({ asked, ideas });
  if (ideas.length === 0) return succeed(w.noIdeas(asked));
  const style = styleOf(process.stdout, lang);
  const rules = ideas.flatMap((idea) => idea.rules);
  const spared = ideas.reduce((sum, idea) => sum + idea.spared, 0);
  console.log(w.ideas(rules.length, spared, asked));
  console.log(ideaLines(ideas, { style, w }).join("\n"));
  return succeed(w.keep(`'${oneLine(rules[0]!).replaceAll("'", `'\\''`)}'`));
}

async function open() {
  const { host, store } = openLocalJournal(process.env, { looks: true });
  const { rules } = loadConfig(sageHome(process.env), process.cwd(), process.env);
  return { ...(await readPast(store, process.cwd(), { rules })), rules, close: () => host.close() };
}
