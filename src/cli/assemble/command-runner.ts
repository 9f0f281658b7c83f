import { join } from "node:path";
import type { Home } from "../../config/home/home.ts";
import { spawn } from "../../host/assembly/agent.ts";
import { machineRun } from "../../processes/identity.ts";
import { createCommandRunner, type CommandRunner } from "../../tools/process/command-runner.ts";

const SOON_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

/** In a terminal, a command that runs this long gets a keeper; closing Sage ends it. */
const ATTENDED = { afterMs: 200, endsOnLeaving: true };

/** The runner of this home: its commands outlive a killed Sage, and without `attended` one that leaves. Undefined on systems without spawners to keep them. */
export function openRunner({ dir }: Pick<Home, "dir">, { attended = false } = {}): CommandRunner | undefined {
  if (process.platform !== "linux") return undefined;
  const place = { folder: join(dir, "runner"), machine: machineRun(), spawn };
  const runner = createCommandRunner({ ...place, ...(attended && ATTENDED) });
  setTimeout(() => runner.sweep(), SOON_MS).unref();
  setInterval(() => runner.sweep(), DAY_MS).unref();
  return runner;
}
