import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks every process of the group to end, and after a while makes it. False when there was none. `inner`: the group to ask in its
 * place, for a sandbox would end at once and take the command with it.
 */
export async function endGroup(group: number, graceMs: number, inner = group): Promise<boolean> {
  if (!groupRuns(group)) return false;
  signalGroup(inner, "SIGTERM");
  for (const from = performance.now(); performance.now() - from < graceMs; await sleep(20)) {
    if (!groupRuns(group)) return true;
  }
  signalGroup(group, "SIGKILL");
  return true;
}

/** The dead that nobody has reaped yet still take signals. In a container that may be for long, so they are looked at. */
export function groupRuns(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  return !existsSync("/proc/self/stat") || readdirSync("/proc").some((entry) => isAliveIn(group, entry));
}

function isAliveIn(group: number, entry: string): boolean {
  try {
    // After the name, which may hold anything: state, parent, group.
    const [state, , itsGroup] = readFileSync(`/proc/${entry}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return Number(itsGroup) === group && state !== "Z";
  } catch {
    return false;
  }
}

export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
