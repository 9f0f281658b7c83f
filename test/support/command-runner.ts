import { join } from "node:path";
import { machineRun } from "../../src/processes/identity.ts";
import { createCommandRunner, type CommandRunner } from "../../src/tools/process/command-runner.ts";
import { createSpawner } from "../../src/tools/process/spawner.ts";

/** The runner of a place whose workers have their state in this folder. Each has spawners of its own, as processes have. */
export function runnerIn(dir: string): CommandRunner {
  const [machine, folder] = [machineRun(), join(dir, "runner")];
  return createCommandRunner({ folder, machine, spawn: createSpawner() });
}
