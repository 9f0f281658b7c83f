import { oneLine } from "../../../base/visible.ts";
import { loadConfig } from "../../../config/config.ts";
import { sageHome } from "../../../config/home/home.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { permissionTexts } from "../../../texts/setup/permissions.ts";
import { styleOf, printJson, exitCodes } from "../../process/stdout.ts";
import { readFlags } from "../../process/flags.ts";
import { type ListedRule, listedRules } from "../../assemble/listed-rules.ts";
import type { Style } from "../../../view/lines/paint.ts";
import { exact, fitted } from "../../../view/lines/safe.ts";

/** All rules with their files, including those that would apply if the folder were trusted. */
export async function list(args: string[]): Promise<number> {
  const { values, lang } = readFlags(args, { json: { type: "boolean" } });
  const t = permissionTexts(lang);
  const home = sageHome(process.env);
  const config = loadConfig(home, process.cwd(), process.env);
  const rules = listedRules(config, home.settings);
  const warnings = config.warnings.map((why) => sentence(why, lang));
  if (values.json) return printJson({ rules, warnings });
  const style = styleOf(process.stdout, lang);
  if (rules.length === 0) console.log(t.noRules);
  for (const file of new Set(rules.map((rule) => rule.file))) {
    const own = rules.filter((rule) => rule.file === file);
    const [{ source, counts }] = own as [ListedRule];
    console.log(style.paint.bold(`${oneLine(file)} (${t.source[source]})`));
    if (!counts) console.log(style.paint.yellow(`  ${t.notCounting}`));
    console.log(
      ruleLines(
        own.map(({ behavior, rule, approvals, notAsker }) => ({
          what: behavior,
          text: [
            rule,
            ...(approvals === undefined ? [] : [t.approvals(approvals)]),
            ...(notAsker ? [t.notAsker] : []),
          ].join("  · "),
        })),
        style,
      ).join("\n"),
    );
  }
  for (const warning of warnings) console.error(`sage: ${oneLine(warning)}`);
  return exitCodes.success;
}

/** A rule or a hook's command under what it is; marked where it is a difference. */
export type RuleEntry = { what: string; text: string; mark?: "+" | "-" };

/** In full and in order; a shared heading is printed once. */
export function ruleLines(entries: readonly RuleEntry[], style: Style): string[] {
  const { paint } = style;
  return entries.flatMap(({ what, text, mark }, n) => {
    const rows = exact(text, style).map((row) => (mark ? paint[mark === "+" ? "green" : "red"](`${mark}${row}`) : row));
    return what === entries[n - 1]?.what ? rows : [...fitted([`  ${what}`], style.width), ...rows];
  });
}
