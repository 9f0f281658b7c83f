import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../base/attempt.ts";
import { lazy } from "../base/lazy.ts";

/** When a process was started, in a form that no other process with the same pid can have. "" when it does not live. */
export function startOf(pid: number): string {
  return pid === process.pid ? (ownStart ||= lookUpStart(pid)) : lookUpStart(pid);
}

/** Asked for whenever a journal is opened or a session claimed; the kernel takes longer to tell it than SQLite to find a row. */
let ownStart = "";

function lookUpStart(pid: number): string {
  try {
    const { state, started } = stat(pid);
    return state === "Z" ? "" : `${boot()}:${started}`;
  } catch {
    return process.platform === "linux" ? "" : livesByPid(pid);
  }
}

/** True when a process that was started so was started since this machine was. */
export function isOfThisBoot(started: string): boolean {
  return process.platform !== "linux" || started.startsWith(`${boot()}:`);
}

/** Names the numbering of processes that this one sees: in another container the same pid is another process. Null where there is one. */
export const pidNamespace = lazy((): string | null => {
  return attempt(() => readlinkSync("/proc/self/ns/pid")) ?? null;
});

/** Names this start of the machine. */
export function machineBoot(): string {
  return boot();
}

/** Names this machine since it was started, as far as its processes see each other. */
export function machineRun(): string {
  return `${boot()}-${pidNamespace()?.replaceAll(/\D/g, "") ?? ""}`;
}

/** Milliseconds on a clock shared by all processes of this machine that nobody can set; it stops while the machine sleeps. */
export function uptime(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Does any process of this group live? The leader may be gone while its children work on; zombies do not count. */
export function groupLives(group: number, leaderStarted?: string): boolean {
  const leader = startOf(group);
  // The kernel gives a group's number to nobody while the group has members, so another start time means: ours is over.
  if (leader !== "") return leaderStarted === undefined || leader === leaderStarted;
  if (process.platform !== "linux") return false;
  if (leaderStarted !== undefined && !isOfThisBoot(leaderStarted)) return false;
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const { state, group: other } = stat(Number(name));
      return other === group && state !== "Z";
    } catch {
      return false; // it ended while we were reading
    }
  });
}

/** This process and those above it, each with its group and its session: a child that left its parent is still in those. */
export function ancestry(): number[] {
  const known = process.platform === "linux" ? undefined : processTable();
  const found = new Set<number>();
  for (let pid = process.pid; pid > 1 && !found.has(pid);) {
    const relatives = known ? known.get(pid) : relativesOf(pid);
    found.add(pid);
    for (const group of relatives?.groups ?? []) if (group > 1) found.add(group);
    pid = relatives?.parent ?? 0;
  }
  return [...found];
}

/** The parent of a command, where that leads the session both are in: a child of the command that left both its parent and its group is still in there. */
export function spawnerOf(pid: number): number | undefined {
  try {
    const { parent, session } = stat(pid);
    return parent === session ? session : undefined;
  } catch {
    return undefined;
  }
}

type Relatives = { parent: number; groups: number[] };

function relativesOf(pid: number): Relatives | undefined {
  try {
    const { parent, group, session } = stat(pid);
    return { parent, groups: [group, session] };
  } catch {
    return undefined; // it has just ended
  }
}

/** Asks `ps` where there is no /proc. Empty where there is no `ps` either. */
function processTable(): Map<number, Relatives> {
  try {
    const table = execFileSync("/bin/ps", ["-axo", "pid=,ppid=,pgid="], { encoding: "utf8", timeout: 5_000 });
    const rows = table.split("\n").map((row) => row.trim().split(/\s+/).map(Number));
    return new Map(rows.map(([pid = 0, parent = 0, group = 0]) => [pid, { parent, groups: [group] }]));
  } catch {
    return new Map();
  }
}

type Stat = { state: string; parent: number; group: number; session: number; started: string };

function stat(pid: number): Stat {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before it may hold anything
  const [state = "", parent, group, session] = fields;
  return {
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: fields[19] ?? "",
  };
}

/** "" on systems without it. */
const boot = lazy(() => {
  return attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8)) ?? "";
});

function livesByPid(pid: number): string {
  try {
    process.kill(pid, 0);
    return "unknown";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "unknown" : "";
  }
}
