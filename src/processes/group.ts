import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { groupLife, groupMembers, runningProcesses, type Identity } from "./identity.ts";

const POLL_MS = 20;
/** Variable that stands in the environment of everything a background command starts. */
export const TASK_MARK = "SAGE_TASK";

/** False when the group has no process, not even one that is dead and not reaped. */
export function signalGroup(group: number | undefined, signal: NodeJS.Signals | 0 = "SIGKILL"): boolean {
  if (group === undefined || !(group > 1)) return false; // it could not be started; -1 would be every process there is
  try {
    return process.kill(process.platform === "win32" ? group : -group, signal);
  } catch {
    return false;
  }
}

/** The dead that nobody has reaped yet still take signals. In a container that may be for long, so they are looked at. */
export function groupRuns(group: number): boolean {
  return signalGroup(group, 0) && (process.platform !== "linux" || groupMembers(group).length > 0);
}

/** Ends a group, in the end by force; false: there was none. `inner` is asked in its place: a sandbox would take the command with it. */
export async function endGroup(group: number, graceMs: number, inner = group): Promise<boolean> {
  if (!groupRuns(group)) return false;
  signalGroup(inner, "SIGTERM");
  for (const from = performance.now(); performance.now() - from < graceMs; await sleep(POLL_MS))
    if (!groupRuns(group)) return true;
  signalGroup(group, "SIGKILL");
  return true;
}

/** Everything a command started: its group and session, everything below, and by its mark whatever called `setsid`. Off Linux its group. */
export function treeOf(leader: Identity, mark: string): number[] {
  const isOurs = groupLife(leader) === "alive";
  if (process.platform !== "linux") return isOurs ? [-leader.pid] : [];
  const all = runningProcesses().filter(({ pid }) => pid !== process.pid);
  const { pid: group } = leader;
  const found = new Set<number>();
  for (const { pid, ...place } of all)
    if ((isOurs && (place.group === group || place.session === group)) || carries(pid, mark)) found.add(pid);
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

/** Asks them to end, and after a while makes them. */
export async function endAll(listed: () => number[], graceMs: number): Promise<void> {
  signalEach(listed(), "SIGTERM");
  for (const from = performance.now(); performance.now() - from < graceMs; await sleep(POLL_MS))
    if (listed().length === 0) return;
  signalEach(listed(), "SIGKILL");
}

/** The same for a process that exits, in which nothing can be awaited any more. */
export function endAllNow(listed: () => number[], graceMs: number): void {
  signalEach(listed(), "SIGTERM");
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (const from = performance.now(); performance.now() - from < graceMs; Atomics.wait(clock, 0, 0, POLL_MS))
    if (listed().length === 0) return;
  signalEach(listed(), "SIGKILL");
}

function signalEach(processes: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of processes)
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
}

function carries(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`${TASK_MARK}=${mark}`);
  } catch {
    return false; // it has ended, or is somebody else's
  }
}
