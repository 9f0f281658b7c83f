import { uptime } from "node:os";
import { machineBoot } from "../../src/processes/identity.ts";
import type { Store } from "../../src/journal/store/store.ts";

/** As if another process had enforced deadlines until now, by the clock of the test. */
export function enforcedUntilNow(store: Store): void {
  store.beat?.({ at: Date.now(), boot: machineBoot(), uptime: uptime() * 1_000 }, false);
}
