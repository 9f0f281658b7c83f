import { homedir } from "node:os";
import { decisionSteps } from "../../../permission/decide.ts";
import { oneLine, visible } from "../../../base/visible.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { PermissionResult } from "../../../protocol/facts/permission.ts";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import { loadConfig, knownTools } from "../../../config/config.ts";
import { sageHome } from "../../../config/home/home.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import type { Style } from "../../../view/lines/paint.ts";
import { rows } from "../../../view/lines/safe.ts";
import { permissionTexts, type PermissionTexts } from "../../../texts/setup/permissions.ts";
import { styleOf, printJson, exitCodes } from "../../process/stdout.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { loadDecision } from "../../../archive/decision.ts";

/** Tells the verdict on a call here and now, and the rule and file behind it. Nothing runs. */
export async function explain(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, {
    json: { type: "boolean" },
    bypass: { type: "boolean" },
    plan: { type: "boolean" },
  });
  const t = permissionTexts(lang);
  const [tool, ...words] = positionals;
  if (tool === undefined || words.length === 0) throw usage(t.explainHow);
  const home = sageHome(process.env);
  const { rules, ruleFiles, warnings, policy, sandbox } = loadConfig(home, process.cwd(), process.env);
  const { judge } = await loadDecision();
  const { step, result } = judge({
    rules,
    ...(sandbox.mode !== "off" && { confine: { ...sandbox, mode: sandbox.mode, blocked: [] } }),
    ...(values.plan && { sessionMode: "plan" }),
    mode: values.bypass ? "bypass" : "default",
    cwd: process.cwd(),
    home: homedir(),
    roots: [process.cwd()],
    tool,
    input: readInput(tool, words.join(" "), t),
  });
  const { source } = result;
  const file = source === "managed" ? policy : source && source !== "session" ? ruleFiles[source] : undefined;
  const number = decisionSteps.indexOf(step) + 1;
  if (values.json)
    printJson({
      ...result,
      message: sentence(result.reason, lang),
      step: number,
      stepName: step,
      ...(file !== undefined && { file }),
    });
  else {
    const lines = resultLines(tool, result, file, styleOf(process.stdout, lang), t);
    console.log(lines.toSpliced(1, 0, `  ${t.step(number, decisionSteps.length, t.steps[step])}`).join("\n"));
  }
  for (const why of warnings) console.error(`sage: ${oneLine(sentence(why, lang))}`);
  return exitCodes.success;
}

const mainField: Record<string, string> = {
  Bash: "command",
  Read: "file_path",
  Write: "file_path",
  Edit: "file_path",
  Grep: "path",
  Glob: "path",
  WebFetch: "url",
};

/** JSON is an input; anything else is the field that rules look at. */
function readInput(tool: string, text: string, t: PermissionTexts): ToolInput {
  if (text.startsWith("{")) {
    try {
      return JSON.parse(text) as ToolInput;
    } catch {
      // a command may begin with a brace as well
    }
  }
  const field = mainField[tool];
  if (field !== undefined) return { [field]: text };
  if (knownTools().has(tool) || tool.startsWith("mcp__")) throw usage(t.explainHow);
  throw new SageError("usage", said(t.noTool(oneLine(tool), [...knownTools()])));
}

const colon = (text: string): string => (text === "" ? "" : `: ${text}`);

function resultLines(
  tool: string,
  { behavior, reason, rule, source, hard, parts = [] }: PermissionResult,
  file: string | undefined,
  style: Style,
  t: PermissionTexts,
): string[] {
  const {
    paint,
    t: { because },
  } = style;
  const colour = { allow: paint.green, deny: paint.red, ask: paint.yellow, passthrough: paint.yellow }[behavior];
  return [
    `${paint.bold(oneLine(tool))} ${colour(t.behavior[behavior])}`,
    ...(rule !== undefined && source !== undefined ? [`  ${t.byRule(oneLine(rule), t.source[source], file)}`] : []),
    `  ${oneLine(because(reason))}`,
    ...(hard ? [`  ${t.hard}`] : []),
    ...(parts.length > 0 ? [t.parts] : []),
    ...parts.flatMap((part) => [
      ...rows(visible(part.text).split("\n"), style),
      paint.dim(`    ${t.behavior[part.behavior]}${colon(oneLine(because(part.reason)))}`),
    ]),
  ];
}
