import type { Store } from "../journal/store.ts";
import type { Delta, PendingRequest, WatchEvent } from "../protocol/index.ts";

export type WatchOptions = {
  after?: number;
  signal: AbortSignal;
  blocks(): Delta[];
  live(): boolean;
  pending(): PendingRequest[];
};

/** Facts after `after`, then what is open, then the text so far of what streams, then whatever comes. Nothing is told twice. */
export async function* watch(
  store: Store,
  session: string,
  { after = 0, signal, blocks, live, pending }: WatchOptions,
): AsyncGenerator<WatchEvent> {
  let queue: WatchEvent[] = [];
  let wake: (() => void) | undefined;
  let told = after;
  const push = (event: WatchEvent) => {
    queue.push(event);
    wake?.();
  };
  // Listen before reading, so that nothing falls between.
  const stop = store.hub.subscribe(session, {
    fact: (fact) => push({ type: "fact", fact }),
    delta: (delta) => push({ type: "delta", delta }),
  });
  const abort = () => wake?.();
  signal.addEventListener("abort", abort, { once: true });
  try {
    for (const fact of store.since(session, after)) {
      told = fact.seq;
      yield { type: "fact", fact };
      if (signal.aborted) return;
    }
    yield { type: "ready", requests: pending(), live: live() };
    // Deltas that arrived while the facts were read are part of these blocks already.
    queue = queue.filter((event) => event.type === "fact");
    for (const delta of blocks()) yield { type: "delta", delta };
    while (!signal.aborted) {
      const batch = queue;
      queue = [];
      for (const event of batch) {
        if (event.type === "fact") {
          if (event.fact.seq <= told) continue;
          told = event.fact.seq;
        }
        yield event;
        if (signal.aborted) return;
      }
      if (queue.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop();
    signal.removeEventListener("abort", abort);
  }
}
