const preload = `--import ${new URL("faulty-sqlite.ts", import.meta.url).href}`;

/** Environment of a process that kills itself with SIGKILL right before or after its nth commit. */
export function killAtCommit(nth: number, side: "before" | "after"): Record<string, string> {
  return { KILL_AT: `commit:${nth}:${side}`, NODE_OPTIONS: preload };
}

/** Environment of a process that kills itself as it brings a journal of an older version up. */
export function killAtMigration(side: "before" | "after"): Record<string, string> {
  return { KILL_AT: `migration:1:${side}`, NODE_OPTIONS: preload };
}

/** Environment of a process whose journal lies on a full disk while this file is there. */
export function fullWhile(file: string): Record<string, string> {
  return { DISK_FULL: file, NODE_OPTIONS: preload };
}

/** Environment of a process that kills itself right after it has started its nth program. */
export function killAfterSpawn(nth: number): Record<string, string> {
  return { KILL_AT: `spawn:${nth}:after`, NODE_OPTIONS: preload };
}

/** Calls to the disk of the file tools, in their order, at which a process can be killed. */
export const diskCalls = ["open", "writeFile", "chmod", "sync", "close", "rename"] as const;

/** Environment of a process that kills itself right before or after the first such call that writes a file of the workspace. */
export function killAtDisk(call: (typeof diskCalls)[number], side: "before" | "after"): Record<string, string> {
  return { KILL_AT: `${call}:1:${side}`, NODE_OPTIONS: preload };
}

/** Environment of a process that kills itself around a file that is linked or copied whole, or amid a copy of the journal. */
export function killAt(point: `${"link" | "copy"}:1:${"before" | "after"}` | "backup:2:after"): Record<string, string> {
  return { KILL_AT: point, NODE_OPTIONS: preload };
}
