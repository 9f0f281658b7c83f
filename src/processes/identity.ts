import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../base/attempt.ts";
import { lazy } from "../base/lazy.ts";

/** A process, so that no other one with the same number is taken for it. */
export type Identity = {
  pid: number;
  /** `boot:ticks`, and `:namespace` where processes are numbered apart, as in a container. "" of one that did not live. */
  started: string;
  /** The machine, where it tells its name. */
  machine?: string;
};

/** `unknown`: in a container or on a machine into which this process cannot look. */
export type Life = "alive" | "dead" | "unknown";

/** Namespace of processes that a machine starts with: the kernel gives it this number everywhere. */
const FIRST_NAMESPACE = "4026531836";

/** When a process was started, in a form that no other process with the same pid can have. "" when it does not live. */
export function startOf(pid: number): string {
  return pid === process.pid ? (ownStart ||= lookUpStart(pid)) : lookUpStart(pid);
}

/** Asked for whenever a journal is opened or a session claimed; the kernel takes longer to tell it than SQLite to find a row. */
let ownStart = "";

export function identify(pid: number): Identity {
  const machine = machineName();
  return { pid, started: startOf(pid), ...(machine !== undefined && { machine }) };
}

/** Does this very process live? `namespace`: where it was noted beside the start. */
export function lifeOf({ pid, started, machine }: Identity, namespace = namespaceIn(started)): Life {
  const here = machineName();
  if (machine !== undefined && here !== undefined && machine !== here) return "unknown";
  if (started === "") return "dead";
  if (process.platform !== "linux") return startOf(pid) === "" ? "dead" : "alive";
  const [itsBoot, ticks] = started.split(":");
  if (itsBoot !== boot()) return "dead";
  if (namespace !== undefined && namespace !== ownNamespace()) return "unknown";
  if (startOf(pid).split(":")[1] === ticks) return "alive";
  return namespace === undefined ? "unknown" : "dead";
}

/** Does any process of this group live? The leader may be gone while its children work on; zombies do not count. */
export function groupLife(leader: Identity): Life {
  const life = lifeOf(leader);
  if (life !== "dead" || process.platform !== "linux" || !leader.started.startsWith(`${boot()}:`)) return life;
  // The kernel gives a group's number to nobody while the group has members: another leader means that ours is over.
  return startOf(leader.pid) === "" && groupMembers(leader.pid).length > 0 ? "alive" : "dead";
}

/** Processes of a group that run. */
export function groupMembers(group: number): number[] {
  return runningProcesses().flatMap(({ pid, group: other }) => (other === group ? [pid] : []));
}

/** Every process that this one sees, apart from those that nobody has reaped yet. */
export function runningProcesses(): { pid: number; parent: number; group: number; session: number }[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const { state, ...found } = stat(Number(name));
      return state === "Z" ? [] : [{ pid: Number(name), ...found }];
    } catch {
      return []; // it ended while we looked
    }
  });
}

function lookUpStart(pid: number): string {
  try {
    const { state, started } = stat(pid);
    const namespace = ownNamespace();
    const apart = namespace === undefined || namespace === FIRST_NAMESPACE ? "" : `:${namespace}`;
    return state === "Z" ? "" : `${boot()}:${started}${apart}`;
  } catch {
    return process.platform === "linux" ? "" : livesByPid(pid);
  }
}

/** Versions before this one named no namespace: then it is known of processes on the machine itself alone. */
function namespaceIn(started: string): string | undefined {
  return started.split(":")[2] ?? (ownNamespace() === FIRST_NAMESPACE ? FIRST_NAMESPACE : undefined);
}

/** Names the numbering of processes that this one sees: in another container the same pid is another process. Null where there is one. */
export const pidNamespace = lazy((): string | null => {
  return attempt(() => readlinkSync("/proc/self/ns/pid")) ?? null;
});

function ownNamespace(): string | undefined {
  return pidNamespace()?.replaceAll(/\D/g, "");
}

const machineName = lazy((): string | undefined => {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim().slice(0, 8) || undefined;
  } catch {
    return undefined;
  }
});

/** A process as a part of a file name, and whether the process that such a name begins with lives. */
export function processName(pid = process.pid): string {
  return `${pid}-${startOf(pid).replaceAll(/\W/g, ".")}`;
}

export function isNameOfDead(name: string): boolean {
  const [pid = "", started = ""] = name.split("-");
  if (!started.includes(".")) return startOf(Number(pid)) === ""; // made by a version that put no start there
  return lifeOf({ pid: Number(pid), started: started.replaceAll(".", ":") }) === "dead";
}

/** Names this start of the machine. */
export function machineBoot(): string {
  return boot();
}

/** Names this machine since it was started, as far as its processes see each other. */
export function machineRun(): string {
  return `${boot()}-${ownNamespace() ?? ""}`;
}

/** Milliseconds on a clock shared by all processes of this machine that nobody can set; it stops while the machine sleeps. */
export function uptime(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
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
