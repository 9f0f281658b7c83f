import { readdirSync, readFileSync } from "node:fs";

/** When a process was started, in a form that no other process with the same pid can have. "" when it does not live. */
export function startOf(pid: number): string {
  try {
    const { state, started } = stat(pid);
    return state === "Z" ? "" : `${boot()}:${started}`;
  } catch {
    return process.platform === "linux" ? "" : livesByPid(pid);
  }
}

/** Milliseconds on a clock that all processes of this machine share and nobody can set; it stands still while the machine sleeps. */
export function uptime(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Does any process of this group live? The leader may be gone while its children work on; zombies do not count. */
export function groupLives(group: number, leaderStarted?: string): boolean {
  const leader = startOf(group);
  // The kernel gives a group's number to nobody while the group has members, so another start time means: ours is over.
  if (leader !== "") return leaderStarted === undefined || leader === leaderStarted;
  if (process.platform !== "linux") return false;
  if (leaderStarted !== undefined && !leaderStarted.startsWith(`${boot()}:`)) return false;
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const { state, group: other } = stat(Number(name));
      return other === group && state !== "Z";
    } catch {
      return false; // it ended while we looked
    }
  });
}

function stat(pid: number): { state: string; group: number; started: string } {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before it may hold anything
  return { state: fields[0] ?? "", group: Number(fields[2]), started: fields[19] ?? "" };
}

let bootId: string | undefined;
function boot(): string {
  return (bootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8));
}

function livesByPid(pid: number): string {
  try {
    process.kill(pid, 0);
    return "unknown";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "unknown" : "";
  }
}
