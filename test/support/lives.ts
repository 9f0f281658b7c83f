import { groupLife, startOf } from "../../src/processes/identity.ts";

/** Does anything of this process group run? */
export function groupLives(pid: number, started = startOf(pid)): boolean {
  return groupLife({ pid, started }) === "alive";
}
