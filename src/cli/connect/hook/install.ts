import { realpathSync } from "node:fs";
import { sageHome } from "../../../config/home/home.ts";
import { lockIn } from "../../../config/files/locked-file.ts";
import { pathOf } from "../../../host/guests/guest-programs.ts";
import { oneLine } from "../../../base/visible.ts";
import { hookTexts } from "../../../texts/setup/hook.ts";
import { exitCodes } from "../../process/exit-codes.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { agrees } from "../../host/journal.ts";
import { hookAgents } from "./event.ts";
import { apply, copyOf, hookFile, withHook, withoutHook, type HookChange } from "./settings-file.ts";

/** `sage hook install claude`: shows the change to the agent's own settings, asks, and makes it. */
export async function changeHook(args: string[]): Promise<number> {
  const { positionals, values, lang } = readFlags(args, { yes: { type: "boolean", default: false } });
  const t = hookTexts(lang);
  const [word, name, ...rest] = positionals;
  const agent = hookAgents.find((one) => one === name);
  if ((word !== "install" && word !== "uninstall") || agent === undefined || rest.length > 0) throw usage(t.usage);
  const path = hookFile(agent, process.env);
  const installs = word === "install";
  let change: HookChange;
  try {
    change = installs ? withHook(agent, path, startOfSage()) : withoutHook(agent, path);
  } catch (error) {
    throw usage(t.unreadable(path, error instanceof Error ? error.message : String(error)));
  }
  if (change.before === change.after) {
    console.log(installs ? t.there(path) : t.notThere(path));
    return exitCodes.success;
  }
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
  const installed = pathOf("sage", process.env);
  const isThis = installed !== undefined && realpathSync(installed) === realpathSync(script);
  return (isThis ? [installed] : [process.execPath, script]).map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
