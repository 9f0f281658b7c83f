import { dirname } from "node:path";
import { unheard } from "../input/other-end.ts";
import { settle } from "../input/respond.ts";
import type { Store } from "../journal/store/store.ts";
import { createReaper, type Entry } from "../processes/registry.ts";
import { requestId } from "../protocol/key.ts";

const BEAT_MS = 2_500;

/** Looks at the list of processes at the start and from then on: helpers that were left behind end, and so do requests that nobody waits for. */
export function startReaper(
  store: Store,
  { home, runsHere, signal }: { home: string | undefined; runsHere(session: string): boolean; signal: AbortSignal },
): void {
  const folder = store.place ? dirname(store.place.journal) : home;
  if (folder === undefined) return;
  const askerGone = async ({ session = "", key = "" }: Entry) => {
    const found = store.find(requestId(session, key));
    if (found && !found.resolution) await settle(store, found.request, unheard(found.request));
  };
  const reap = createReaper(folder, { runsHere, askerGone });
  let busy: Promise<void> | undefined;
  const look = () => void (busy ??= reap().finally(() => (busy = undefined)));
  look();
  const timer = setInterval(look, BEAT_MS).unref();
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
