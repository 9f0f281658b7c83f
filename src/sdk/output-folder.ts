import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isNameOfDead, machineRun, processName } from "../processes/identity.ts";

/** Makes a temporary folder whose name nobody can guess, for long results of tools. Removes those of processes that were killed. */
export function makeOutputFolder(): string {
  const prefix = `sage-output-${machineRun()}-`;
  for (const name of namesIn(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    if (isNameOfDead(name.slice(prefix.length))) remove(join(tmpdir(), name));
  }
  return mkdtempSync(join(tmpdir(), `${prefix}${processName()}-`));
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
