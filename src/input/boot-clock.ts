import { uptime } from "node:os";

/** The system's uptime is told in hundredths of a second, and a busy machine lets time pass between two looks: less than this is no sleep. */
const SHORTEST_SLEEP_MS = 1_000;

let asleep = 0;
let seen: { ours: number; machine: number } | undefined;

/**
 * Milliseconds on a clock that nobody can set and that keeps running while the machine sleeps. On Linux Node's clock stands still then, and
 * the machine's uptime does not; on other systems Node's clock keeps running by itself, and the uptime follows the clock on the wall.
 */
export function bootNow(): number {
  const ours = performance.now();
  if (process.platform !== "linux") return ours;
  const machine = uptime() * 1_000;
  const gap = seen ? machine - seen.machine - (ours - seen.ours) : 0;
  if (gap > SHORTEST_SLEEP_MS) asleep += gap;
  // Rounding would add up if every look began anew: the two are compared from the last sleep on.
  if (!seen || Math.abs(gap) > SHORTEST_SLEEP_MS) seen = { ours, machine };
  return ours + asleep;
}
