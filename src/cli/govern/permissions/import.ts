import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { isObject } from "../../../base/issue.ts";
import { oneLine, visible } from "../../../base/visible.ts";
import { reason, said, SageError } from "../../../protocol/reasons/reason.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { knownTools, loadConfig, type Config } from "../../../config/config.ts";
import { sageHome } from "../../../config/home/home.ts";
import { readSmallFile } from "../../../config/files/small-file.ts";
import type { Style } from "../../../view/lines/paint.ts";
import { rows } from "../../../view/lines/safe.ts";
import type { CliTexts } from "../../../texts/commands/cli.ts";
import { permissionTexts, type PermissionTexts } from "../../../texts/setup/permissions.ts";
import { agrees, checkApprover } from "../../host/journal.ts";
import { styleOf, succeed, exitCodes } from "../../process/stdout.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { convertSettings, type Finding, type Origin } from "./claude-code.ts";
import { type Destination, destinationOf } from "./change.ts";

const options = { to: { type: "string" }, yes: { type: "boolean" }, "dry-run": { type: "boolean" } } as const;

type Source = { file: string; kind: Origin["kind"]; root: string };

export async function importRules(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const texts = permissionTexts(lang);
  if (positionals.length > 1) throw usage(texts.usage);
  if (values.yes && values["dry-run"]) throw usage(t.conflict("--yes", "--dry-run"));
  const asked = destinationOf(values.to, t);
  const config = loadConfig(sageHome(process.env), process.cwd(), process.env);
  const known = positionals[0] === undefined ? places(config.trust.root) : [sourceAt(positionals[0])];
  for (const { file } of known)
    if (positionals[0] !== undefined && !existsSync(file)) throw usage(texts.importMissing(file));
  const sources = positionals[0] === undefined ? known.filter(({ file }) => existsSync(file)) : known;
  if (sources.length === 0) return succeed(texts.importNothing(known.map(({ file }) => file)));
  const style = styleOf(process.stdout, lang);
  const plans = sources.map((source) => planFor(source, asked ?? source.kind, config, t));
  for (const plan of plans) console.log(reportLines(plan, style, texts).join("\n"));
  const agreed = !values["dry-run"] && (values.yes === true || (await agrees(texts.importAsk)));
  if (!agreed) {
    console.log(values["dry-run"] ? texts.importDry : texts.importHow);
    return values["dry-run"] ? exitCodes.success : exitCodes.needsPerson;
  }
  checkApprover();
  for (const { fresh, to, target } of plans) {
    for (const { rule, behavior } of fresh) config.saveRule({ rule, behavior, destination: to });
    console.log(texts.importDone(fresh.length, target));
  }
  return exitCodes.success;
}

function places(root: string): Source[] {
  const own = sourceAt(join(homedir(), ".claude", "settings.json"));
  const project = join(root, ".claude");
  if (project === own.root) return [own];
  return [
    own,
    { file: join(project, "settings.json"), kind: "project", root },
    { file: join(project, "settings.local.json"), kind: "local", root },
  ];
}

/** A leading slash means the project's folder there; in a person's own settings, the folder they are in. */
function sourceAt(path: string): Source {
  const file = resolve(path);
  const folder = dirname(file);
  if (folder === join(homedir(), ".claude")) return { file, kind: "user", root: folder };
  const kind = basename(file) === "settings.local.json" ? "local" : "project";
  return { file, kind, root: basename(folder) === ".claude" ? dirname(folder) : folder };
}

type Plan = {
  from: string;
  to: Destination;
  target: string;
  findings: Finding[];
  fresh: { rule: string; behavior: NonNullable<Finding["behavior"]> }[];
  there: number;
};

function planFor(
  { file, kind, root }: Source,
  to: Destination,
  { ruleFiles, rules, trust }: Config,
  t: CliTexts,
): Plan {
  const target = ruleFiles[to];
  if (target === undefined) throw new SageError("config-invalid", said(t.untrusted(trust.root)));
  const findings = convertSettings(read(file), { kind, root, to }, knownTools());
  const all = findings.flatMap(({ behavior, to: converted = [] }) =>
    behavior ? converted.map((rule) => ({ rule, behavior })) : [],
  );
  const stands = ({ rule, behavior }: (typeof all)[number]) =>
    rules.some((entry) => entry.text === rule && entry.behavior === behavior && entry.source === to);
  const fresh = all.filter((entry) => !stands(entry));
  return { from: file, to, target, findings, fresh, there: all.length - fresh.length };
}

function read(file: string): Record<string, unknown> {
  try {
    const settings: unknown = JSON.parse(readSmallFile(file) ?? "");
    if (isObject(settings)) return settings;
  } catch (error) {
    throw new SageError("config-invalid", reason("file-unreadable", { path: file, problem: thrownText(error) }));
  }
  throw new SageError("config-invalid", reason("file-not-object", { path: file }));
}

function reportLines({ from, target, findings, there }: Plan, style: Style, t: PermissionTexts): string[] {
  const { paint } = style;
  const section = (title: string, some: readonly Finding[]) =>
    some.length === 0 ? [] : [title, ...some.flatMap((finding) => findingLines(finding, style, t))];
  const lost = findings.filter(({ to }) => !to);
  const looser = lost.filter(({ behavior }) => behavior === "deny" || behavior === "ask").length;
  return [
    paint.bold(t.importFrom(oneLine(from), oneLine(target))),
    ...section(
      t.importTaken,
      findings.filter(({ to, why }) => to && !why),
    ),
    ...section(
      t.importDifferent,
      findings.filter(({ to, why }) => to && why),
    ),
    ...section(t.importLost, lost),
    ...(looser > 0 ? [paint.red(t.importLooser(looser))] : []),
    ...(there > 0 ? [paint.dim(t.importThere(there))] : []),
  ];
}

function findingLines({ from, behavior, to = [], why, detail }: Finding, style: Style, t: PermissionTexts): string[] {
  const old = `${behavior ? `${behavior} ` : ""}${visible(from)}`;
  const line = to.length === 0 || (to.length === 1 && to[0] === from) ? old : `${old} → ${to.map(visible).join(", ")}`;
  const because = why && `${t.why[why]}${detail === undefined ? "" : `: ${style.t.because(detail)}`}`;
  return [...rows(line.split("\n"), style), ...(because ? [style.paint.dim(`    ${oneLine(because)}`)] : [])];
}
