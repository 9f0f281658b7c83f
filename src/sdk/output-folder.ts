import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineRun, startOf } from "../journal/process.ts";

/** Makes a temporary folder whose name nobody can guess, for long results of tools. Removes those of processes that were killed. */
export function makeOutputFolder(): string {
  const prefix = `sage-output-${machineRun()}-`;
  for (const name of namesIn(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const [pid = "", started] = name.slice(prefix.length).split("-");
    if (started !== undefined && startedIn(Number(pid)) !== started) remove(join(tmpdir(), name));
  }
  return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-${startedIn(process.pid)}-`));
}

let ofProcess: string | undefined;

/** The same for executors, which nobody closes: it is removed when the process ends. */
export function processOutputFolder(): string {
  if (ofProcess === undefined) {
    const folder = (ofProcess = makeOutputFolder());
    process.once("exit", () => remove(folder));
  }
  return ofProcess;
}

/** When the process started, as a part of a file name. */
function startedIn(pid: number): string {
  return startOf(pid).replaceAll(/\W/g, ".");
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // may not be listed: nothing is cleaned up
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // another account's
  }
}
