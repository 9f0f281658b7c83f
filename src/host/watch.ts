import type { Store } from "../journal/store.ts";
import type { Delta, PendingRequest, WatchEvent } from "../protocol/index.ts";
import { createEventQueue } from "./socket/event-queue.ts";
import { followOwner, type Following } from "./socket/following.ts";
import type { Peers } from "./socket/peers.ts";

type WatchOptions = {
  after?: number;
  signal: AbortSignal;
  blocks(): Delta[];
  runsHere(): boolean;
  pending(): PendingRequest[];
  /** The other processes on the journal; without them there are facts only. */
  peers: Peers | undefined;
};

/** Facts after `after`, then open requests, then the text so far of what streams, then whatever comes. Nothing is told twice. */
export async function* watch(
  store: Store,
  session: string,
  { after = 0, signal, blocks, runsHere, pending, peers }: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const queue = createEventQueue();
  let told = after;
  let queued = after;
  let ready = false;
  let following: Following | undefined;
  // Listen before reading, so that nothing falls between.
  const stop = store.hub.subscribe(session, {
    fact(fact) {
      queued = Math.max(queued, fact.seq);
      queue.push({ type: "fact", fact });
      following?.note(fact);
    },
    // Deltas that come while the facts are read are part of the blocks already.
    delta: (delta) => ready && queue.push({ type: "delta", delta }),
  });
  signal.addEventListener("abort", queue.wake, { once: true });
  try {
    for (const fact of store.since(session, after)) {
      told = fact.seq;
      yield { type: "fact", fact };
      if (signal.aborted) return;
    }
    following =
      peers &&
      followOwner({
        store,
        session,
        peers,
        runsHere,
        newest: () => Math.max(told, queued),
        reached(seq) {
          if (seq <= Math.max(told, queued)) return;
          for (const fact of store.since(session, Math.max(told, queued))) queue.push({ type: "fact", fact });
          queued = seq;
        },
        delta: (delta) => queue.push({ type: "delta", delta }),
        changed: (seen) => queue.push({ type: "owner", ...seen }),
      });
    if (following) await following.settled;
    const live = following ? following.seen().live : runsHere() || !store.session(session)?.owned;
    const soFar = blocks();
    ready = true;
    yield { type: "ready", requests: pending(), live };
    for (const delta of soFar) yield { type: "delta", delta };
    while (!signal.aborted) {
      for (const event of queue.take()) {
        if (event.type === "fact") {
          if (event.fact.seq <= told) continue;
          told = event.fact.seq;
        }
        yield event;
        if (signal.aborted) return;
      }
      if (!signal.aborted) await queue.more();
    }
  } finally {
    stop();
    following?.stop();
    signal.removeEventListener("abort", queue.wake);
  }
}
