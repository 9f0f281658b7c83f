/** Signals a process group. A group that has ended by itself is no error. */
export function signalGroup(group: number | undefined, signal: NodeJS.Signals = "SIGKILL"): void {
  if (group === undefined) return;
  try {
    process.kill(-group, signal);
  } catch {
    // gone already
  }
}
