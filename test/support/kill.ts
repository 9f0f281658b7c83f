/** Environment of a process that kills itself with SIGKILL right before or after its nth commit. */
export function killAtCommit(nth: number, side: "before" | "after"): Record<string, string> {
  const preload = new URL("kill-at-commit.ts", import.meta.url).href;
  return { KILL_AT: `commit:${nth}:${side}`, NODE_OPTIONS: `--import ${preload}` };
}
