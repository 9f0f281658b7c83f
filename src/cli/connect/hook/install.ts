import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { isObject } from "../../../base/issue.ts";
import { succeed, exitCodes } from "../../process/stdout.ts";
import { sageHome } from "../../../config/home/home.ts";
import { changeFile, lockIn } from "../../../config/files/locked-file.ts";
import { findProgram } from "../../../host/guests/guest-programs.ts";
import { oneLine } from "../../../base/visible.ts";
import { hookTexts } from "../../../texts/setup/hook.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { agrees } from "../../host/journal.ts";
import { type HookAgent, hookAgents } from "./event.ts";
import { canonicalJson } from "../../../base/canonical-json.ts";

/** `sage hook install claude`: shows the change to the agent's own settings, asks, and makes it. */
export async function changeHook(args: string[]): Promise<number> {
  const { positionals, values, lang } = readFlags(args, { yes: { type: "boolean", default: false } });
  const t = hookTexts(lang);
  const [word, name, ...rest] = positionals;
  const agent = hookAgents.find((candidate) => candidate === name);
  if ((word !== "install" && word !== "uninstall") || agent === undefined || rest.length > 0) throw usage(t.usage);
  const path = hookFile(agent, process.env);
  const installs = word === "install";
  let change: HookChange;
  try {
    change = installs ? withHook(agent, path, startOfSage()) : withoutHook(agent, path);
  } catch (error) {
    throw usage(t.unreadable(path, error instanceof Error ? error.message : String(error)));
  }
  if (change.before === change.after) return succeed(installs ? t.there(path) : t.notThere(path));
  console.log(installs ? t.adds(path) : t.removes(path));
  for (const line of JSON.stringify(change.hooks, undefined, 2).split("\n"))
    console.log(`${installs ? "+" : "-"} ${oneLine(line)}`);
  if (installs) console.log(t.notes[agent].join("\n"));
  if (!values.yes && !(await agrees(t.ask))) {
    console.log(process.stdin.isTTY && process.stdout.isTTY ? t.unchanged : t.terminalOnly);
    return exitCodes.needsPerson;
  }
  apply(change, { lock: lockIn(sageHome(process.env).dir), keep: installs });
  if (!installs) console.log(t.removed(path));
  else console.log(t.added(path, change.before === undefined ? undefined : copyOf(path)));
  return exitCodes.success;
}

/** A line of a shell that starts this Sage from anywhere, also where the agent has another PATH. */
function startOfSage(): string {
  const script = process.argv[1] ?? "";
  const installed = findProgram("sage", process.env);
  const isThis = installed !== undefined && realpathSync(installed) === realpathSync(script);
  return (isThis ? [installed] : [process.execPath, script]).map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

type Entry = { type: "command"; command: string; timeout?: number; async?: true };
type Group = { matcher?: string; hooks: Entry[] };
type HookFile = { hooks?: Record<string, Group[]>; [field: string]: unknown };

/** The change to the agent's file: its text before and after, and the hooks that come or go. */
type HookChange = {
  path: string;
  before: string | undefined;
  after: string | undefined;
  hooks: Record<string, Group[]>;
};

/** Longer than anybody thinks: without it the agent ends the hook after ten minutes. */
const FOR_EVER_S = 2_000_000;
const CODEX_S = 60;

/** The agent's own file, behind whatever links a person keeps it by. */
function hookFile(agent: HookAgent, env: NodeJS.ProcessEnv): string {
  const path =
    agent === "claude"
      ? join(env["CLAUDE_CONFIG_DIR"] ?? join(homedir(), ".claude"), "settings.json")
      : join(env["CODEX_HOME"] ?? join(homedir(), ".codex"), "hooks.json");
  return existsSync(path) ? realpathSync(path) : path;
}

export function copyOf(path: string): string {
  return `${path}.before-sage`;
}

/** `command` starts Sage. What it adds replaces what it added before. Throws where the file holds something else than settings. */
export function withHook(agent: HookAgent, path: string, command: string): HookChange {
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const file = without(agent, read(before));
  const hooks = hookGroups(agent, `exec ${command} hook ${agent}`);
  const merged = { ...file.hooks };
  for (const [event, groups] of Object.entries(hooks)) merged[event] = [...(merged[event] ?? []), ...groups];
  return { path, before, after: written({ ...file, hooks: merged }, before), hooks };
}

/** Leaves no trace: a file with no other changes is restored byte for byte, and a file that Sage created is removed. */
export function withoutHook(agent: HookAgent, path: string): HookChange {
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const file = read(before);
  const left = without(agent, file);
  const hooks = oursIn(agent, file);
  const copy = existsSync(copyOf(path)) ? readFileSync(copyOf(path), "utf8") : undefined;
  if (Object.keys(hooks).length === 0) return { path, before, after: before, hooks };
  if (copy !== undefined && canonicalJson(read(copy)) === canonicalJson(left))
    return { path, before, after: copy, hooks };
  const isEmpty = copy === undefined && Object.keys(left).length === 0;
  return { path, before, after: isEmpty ? undefined : written(left, before), hooks };
}

/** Writes the change. `keep`: a copy of the original stays next to the file until the hook is removed. */
export function apply({ path, before, after }: HookChange, { lock, keep }: { lock: string; keep: boolean }): void {
  mkdirSync(dirname(path), { recursive: true });
  const mode = before === undefined ? undefined : statSync(path).mode & 0o777;
  if (keep && before !== undefined && !existsSync(copyOf(path))) copyFileSync(path, copyOf(path));
  if (after === undefined) rmSync(path, { force: true });
  else changeFile(path, (now) => (now === (before ?? "") ? after : changedMeanwhile(path)), lock);
  if (after !== undefined && mode !== undefined) chmodSync(path, mode);
  if (!keep) rmSync(copyOf(path), { force: true });
}

function changedMeanwhile(path: string): never {
  throw new Error(`${path} has changed meanwhile`);
}

function hookGroups(agent: HookAgent, command: string): Record<string, Group[]> {
  const group = (more: Omit<Entry, "type" | "command">): Group[] => [
    { matcher: "", hooks: [{ type: "command", command, ...more }] },
  ];
  if (agent === "codex") return { PermissionRequest: group({ timeout: CODEX_S }) };
  const told = group({ async: true });
  return {
    PermissionRequest: group({ timeout: FOR_EVER_S }),
    PostToolUse: told,
    PostToolUseFailure: told,
    UserPromptSubmit: told,
    Stop: told,
    SessionEnd: group({}),
  };
}

function read(text: string | undefined): HookFile {
  if (text === undefined || text.trim() === "") return {};
  const file: unknown = JSON.parse(text);
  if (!isObject(file)) throw new Error("no object");
  const settings = file as HookFile;
  const { hooks } = settings;
  if (hooks === undefined) return settings;
  const isKnown =
    typeof hooks === "object" && hooks !== null && Object.values(hooks).every((groups) => Array.isArray(groups));
  if (!isKnown) throw new Error('"hooks" has a form that Sage does not know');
  return settings;
}

function isOurs(agent: HookAgent, entry: unknown): boolean {
  const { command } = (entry ?? {}) as Partial<Entry>;
  return typeof command === "string" && command.startsWith("exec ") && command.endsWith(` hook ${agent}`);
}

function split(agent: HookAgent, { hooks = {} }: HookFile, wanted: boolean): Record<string, Group[]> {
  return Object.fromEntries(
    Object.entries(hooks).flatMap(([event, groups]) => {
      const kept = groups.flatMap((group) => {
        const entries = Array.isArray(group?.hooks) ? group.hooks : undefined;
        if (entries === undefined) return wanted ? [] : [group];
        const some = entries.filter((entry) => isOurs(agent, entry) === wanted);
        return some.length === 0 && (wanted || entries.length > 0) ? [] : [{ ...group, hooks: some }];
      });
      return kept.length === 0 && (wanted || groups.length > 0) ? [] : [[event, kept]];
    }),
  );
}

function oursIn(agent: HookAgent, file: HookFile): Record<string, Group[]> {
  return split(agent, file, true);
}

function without(agent: HookAgent, file: HookFile): HookFile {
  if (Object.keys(oursIn(agent, file)).length === 0) return file;
  const { hooks: _hooks, ...rest } = file;
  const left = split(agent, file, false);
  return Object.keys(left).length === 0 ? rest : { ...file, hooks: left };
}

function written(file: HookFile, like: string | undefined): string {
  const indent = /^\{\n?([\t ]+)/.exec(like ?? "")?.[1] ?? 2;
  return `${JSON.stringify(file, undefined, indent)}${like === undefined || like.endsWith("\n") ? "\n" : ""}`;
}
