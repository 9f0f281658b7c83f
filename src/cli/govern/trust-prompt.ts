import { oneLine } from "../../base/visible.ts";
import { guestTrust, trustGuests, type GuestTrust } from "../../config/trust/guest-trust.ts";
import type { Home, Installation } from "../../config/home/home.ts";
import { moduleTexts, packagesIn } from "../../config/modules/module-files.ts";
import { commandLine, readServers, type ServersFile } from "../../config/settings/servers.ts";
import { projectFiles, projectSchema, readSettings, type ProjectSettings } from "../../config/settings/settings.ts";
import { mayBeTrusted, projectTrust, trust, type ProjectTrust } from "../../config/trust/trust.ts";
import type { Style } from "../../view/lines/paint.ts";
import { cliTexts, type CliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { accountMay } from "../host/journal.ts";
import { styleOf } from "../process/stdout.ts";
import { promptLine } from "../process/prompt.ts";
import { type RuleEntry, ruleLines } from "./permissions/list.ts";

/** Asks a person at a terminal about a folder's own settings, if they do not count. Nothing but a clear yes trusts them. */
export async function asksTrust(home: Home, cwd: string, lang: Lang): Promise<"go on" | "leave"> {
  const project = projectTrust(home.trust, cwd);
  const { state, root } = project;
  if (state === "trusted" || state === "nothing-to-trust") return "go on";
  const mayTrust = mayBeTrusted(root) && accountMay(readSettings(home.settings), "approve");
  const lines = (style: Style, t: CliTexts) => trustLines(project, style, t);
  return askTrust({ root, lines, keys: mayTrust ? ["o", "t", "q"] : ["o", "q"], lang }, () =>
    trust(home.trust, project),
  );
}

/** The same about settings of the folder that another agent would follow. */
export async function asksGuestTrust(
  { home, settings }: Installation,
  cwd: string,
  lang: Lang,
): Promise<"go on" | "leave"> {
  const found = guestTrust(home.trust, cwd);
  if (found.state === "trusted" || found.state === "nothing-to-trust") return "go on";
  const lines = (style: Style, t: CliTexts) => guestTrustLines(found, style, t);
  const keys = accountMay(settings, "approve") ? (["t", "q"] as const) : (["q"] as const);
  return askTrust({ root: found.root, lines, keys, lang }, () => trustGuests(home.trust, found));
}

type TrustQuestion = {
  root: string;
  lines(style: Style, t: CliTexts): string[];
  /** `o`: go on without trust. `t`: trust. `q`: leave. */
  keys: readonly ("o" | "t" | "q")[];
  lang: Lang;
};

async function askTrust({ root, lines, keys, lang }: TrustQuestion, accept: () => void): Promise<"go on" | "leave"> {
  const t = cliTexts(lang);
  const style = styleOf(process.stdout, lang);
  const words = { o: t.trustOpen, t: t.trustTrust, q: t.trustLeave };
  const choices = keys.map((key) => `  ${style.paint.bold(key)}  ${words[key]}`);
  console.log([...lines(style, t), ...choices].join("\n"));
  for (;;) {
    const said = (await promptLine(`${keys.join("/")} > `))?.toLowerCase();
    if (said === undefined || said === "q") return "leave";
    if (keys.includes("o") && (said === "" || said === "o")) return "go on";
    if (said !== "t" || !keys.includes("t")) continue;
    accept();
    console.log(t.trusted(oneLine(root)));
    return "go on";
  }
}

/** Content that trust would enable, whole; of settings that were trusted before, the difference. */
export function trustLines(project: ProjectTrust, style: Style, t: CliTexts): string[] {
  const root = oneLine(project.root);
  const since = project.state === "changed" ? differences(project, style, t) : [];
  if (since.length > 0) return [t.trustChanged(root), ...since.flatMap((file) => fileLines(file, style))];
  const whole = [...fileEntries(project, style, t)].map(([path, entries]) => ({ path, entries }));
  return [t.trustWhat(root), ...whole.flatMap((file) => fileLines(file, style))];
}

/** Settings of a folder that other agents would follow, whole. */
export function guestTrustLines({ root, files }: GuestTrust, style: Style, t: CliTexts): string[] {
  const whole = files.map(({ path, text }) => ({ path, entries: told(text, t.trustFollowed) }));
  return [t.trustAgents(oneLine(root)), ...whole.flatMap((file) => fileLines(file, style))];
}

type FileEntries = { path: string; entries: RuleEntry[] };

/** Empty when only the order has changed: then there is nothing but the whole to show. */
function differences(project: ProjectTrust, style: Style, t: CliTexts): FileEntries[] {
  const { before } = project;
  const now = fileEntries(project, style, t);
  const settings = Object.values(projectFiles(project.root));
  return [...new Set([...now.keys(), ...Object.keys(before)])].flatMap((path) => {
    const is = now.get(path) ?? [];
    if (!settings.includes(path)) {
      const was = before[path] ?? "";
      if (path.endsWith(".mcp.json")) return changedText(path, serverEntries(readServers(path, was).servers, t), is);
      if (is[0]?.what === t.trustCode) return changedText(path, code(was, t), is);
      return changedText(path, told(was, is[0]?.what ?? (path.endsWith(".md") ? t.trustTold : t.trustRun)), is);
    }
    const was = ruleEntries(parsed(before[path]), style, t);
    const entries = [...marked("-", missing(was, is)), ...marked("+", missing(is, was))];
    return entries.length > 0 ? [{ path, entries }] : [];
  });
}

function fileEntries(
  { files, content, scripts, modules, servers }: ProjectTrust,
  style: Style,
  t: CliTexts,
): Map<string, RuleEntry[]> {
  return new Map([
    ...files.map(({ path, settings }) => [path, ruleEntries(settings, style, t)] as const),
    ...[...content.skills, ...content.agents, ...content.commands].map(
      ({ path, text }) => [path, told(text, t.trustTold)] as const,
    ),
    ...scripts.map(({ path, text }) => [path, told(text, t.trustRun)] as const),
    ...moduleTexts(modules).map(({ path, text }) => [path, code(text, t)] as const),
    ...(servers ? serverFiles(servers, t) : []),
  ]);
}

function serverFiles({ path, servers, scripts }: ServersFile, t: CliTexts): (readonly [string, RuleEntry[]])[] {
  return [
    [path, serverEntries(servers, t)],
    ...scripts.map((script) => [script.path, told(script.text, t.trustServed)] as const),
  ];
}

/** Servers in full: what is started with which variables, or where a connection leads and what is sent along. */
function serverEntries(servers: ServersFile["servers"], t: CliTexts): RuleEntry[] {
  const named = (values: Record<string, string> = {}) =>
    Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return Object.entries(servers).map(([name, { command, args, env, url = "", headers }]) =>
    command === undefined
      ? { what: t.trustAddress(name), text: [url, ...named(headers)].join(" ") }
      : { what: t.trustServer(name), text: [...named(env), commandLine({ command, args })].join(" ") },
  );
}

/** The order of a text counts too, so the new text is shown whole. */
function changedText(path: string, was: readonly RuleEntry[], is: readonly RuleEntry[]): FileEntries[] {
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  const fresh = missing(is, was);
  const entries = is.map((entry) => (fresh.includes(entry) ? { ...entry, mark: "+" as const } : entry));
  return [{ path, entries: [...marked("-", missing(was, is)), ...entries] }];
}

function marked(mark: "+" | "-", entries: readonly RuleEntry[]): RuleEntry[] {
  return entries.map((entry) => ({ ...entry, mark }));
}

/** A skill, a subagent, a command or the script of a hook: every line of it, for a model will read or a shell run them. */
function told(text: string, what: string): RuleEntry[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  return lines.map((line) => ({ what, text: line }));
}

/** A module file, and what it uses that trust does not cover. */
function code(text: string, t: CliTexts): RuleEntry[] {
  const packages = packagesIn(text);
  return [
    ...told(text, t.trustCode),
    ...(packages.length > 0 ? [{ what: t.trustUncovered, text: packages.join(", ") }] : []),
  ];
}

function fileLines({ path, entries }: FileEntries, style: Style): string[] {
  return [style.paint.bold(oneLine(path)), ...ruleLines(entries, style)];
}

function ruleEntries({ permissions, hooks, modules = [] }: ProjectSettings, { t: { duration } }: Style, t: CliTexts) {
  const rules = (["allow", "ask", "deny"] as const).flatMap((what) =>
    permissions[what].map((listed) => ({ what, text: typeof listed === "string" ? listed : JSON.stringify(listed) })),
  );
  const commands = Object.entries(hooks).flatMap(([moment, list]) =>
    (list ?? []).map(({ matcher, command, timeoutMs }) => ({
      what: t.trustHook(moment, oneLine(matcher), duration(timeoutMs)),
      text: command,
    })),
  );
  return [...rules, ...commands, ...modules.map((text) => ({ what: t.trustModule, text }))];
}

function missing(some: readonly RuleEntry[], others: readonly RuleEntry[]): RuleEntry[] {
  return some.filter(({ what, text }) => !others.some((other) => other.what === what && other.text === text));
}

function parsed(text: string | undefined): ProjectSettings {
  const read = projectSchema.safeParse(text === undefined ? {} : JSON.parse(text));
  return read.success ? read.data : projectSchema.parse({});
}
