import { join } from "node:path";
import type { Home } from "../../config/home/home.ts";
import { spawn } from "../../host/assembly/agent.ts";
import { machineRun } from "../../processes/identity.ts";
import { createCommandRunner, type CommandRunner } from "../../tools/process/command-runner.ts";

const SOON_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

/** The runner of this home, for hosts whose commands outlive them. Undefined on systems without spawners to keep them. */
export function openRunner({ dir }: Pick<Home, "dir">): CommandRunner | undefined {
  if (process.platform !== "linux") return undefined;
  const runner = createCommandRunner({ folder: join(dir, "runner"), machine: machineRun(), spawn });
  setTimeout(() => runner.sweep(), SOON_MS).unref();
  setInterval(() => runner.sweep(), DAY_MS).unref();
  return runner;
}
