import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../journal/store/store.ts";
import type { Runner } from "./runner.ts";

const POLL_MS = 200;
const MAX_WAIT_MS = 60_000;

/** Wakes a session for a message that came while a rewind held it: a rewind lets go of it without a turn. */
export async function wakeAfterRewind(
  { store, runner, leaving }: { store: Store; runner: Runner; leaving: AbortSignal },
  session: string,
  message: number,
): Promise<void> {
  if (runner.of(session) || !store.session(session)?.owned) return;
  for (let left = MAX_WAIT_MS; left > 0 && !leaving.aborted; left -= POLL_MS) {
    await sleep(POLL_MS, undefined, { ref: false });
    const row = store.session(session);
    if (!row?.unheard) return;
    const since = store.since(session, message);
    if (since.some(({ type }) => type === "turn.begun" || type === "model.replied")) return;
    if (!row.owned && since.some(({ type }) => type === "rewind.ended")) return runner.wake(session);
  }
}
