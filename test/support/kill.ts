const preload = `--import ${new URL("faulty-sqlite.ts", import.meta.url).href}`;

/** Environment of a process that kills itself with SIGKILL right before or after its nth commit. */
export function killAtCommit(nth: number, side: "before" | "after"): Record<string, string> {
  return { KILL_AT: `commit:${nth}:${side}`, NODE_OPTIONS: preload };
}

/** Environment of a process whose journal lies on a full disk while this file is there. */
export function fullWhile(file: string): Record<string, string> {
  return { DISK_FULL: file, NODE_OPTIONS: preload };
}

/** Environment of a process that kills itself right after it has started its nth program. */
export function killAfterSpawn(nth: number): Record<string, string> {
  return { KILL_AT: `spawn:${nth}:after`, NODE_OPTIONS: preload };
}
