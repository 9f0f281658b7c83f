import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { LaunchEnd } from "../tools/process/spawn.ts";
import { checkMounts } from "./mounts.ts";
import { exists, type Mount } from "./plan.ts";

/** Follows the status that bwrap writes: lines of JSON with the process inside, and at the end with its exit code. */
export function createStatus(mounts: readonly Mount[]) {
  let inner: number | undefined;
  let hasEnded = false;
  let problem: Omit<LaunchEnd, "blocked"> | undefined;
  return {
    inner: () => inner,
    failure: () => (hasEnded ? {} : (problem ?? neverBegun(mounts))),
    async heard(line: string): Promise<boolean | undefined> {
      const { "child-pid": pid, "exit-code": code } = parsed(line);
      if (code !== undefined) hasEnded = problem !== undefined && problem.failed === undefined;
      if (pid === undefined) return undefined;
      inner = pid;
      const wrong = await checkMounts(pid, mounts, () => !isAlive(pid));
      problem = wrong === undefined ? {} : { failed: `${wrong} is not what it was`, outdated: true };
      return wrong === undefined;
    },
    /** Its first process ends when all others in there are gone. */
    async dead(): Promise<void> {
      if (inner !== undefined) await ended(inner);
    },
  };
}

/** Bwrap may end before its mounts are looked at: it cannot mount what is gone. */
function neverBegun(mounts: readonly Mount[]): Omit<LaunchEnd, "blocked"> {
  const gone = mounts.find(({ bind }) => bind && !exists(bind.from))?.bind?.from;
  if (gone === undefined) return { failed: "bwrap ended before the command began" };
  return { failed: `${gone} is not what it was`, outdated: true };
}

function parsed(line: string): { "child-pid"?: number; "exit-code"?: number } {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}

async function ended(pid: number): Promise<void> {
  for (;;) {
    if (!isAlive(pid)) return;
    await sleep(2);
  }
}

export function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
