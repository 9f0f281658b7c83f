import type { Store } from "../journal/store/store.ts";
import type { Delta } from "../protocol/facts/fact.ts";
import { seenBy } from "../protocol/facts/unseen.ts";
import type { PendingRequest, WatchEvent } from "../protocol/host/host.ts";
import { createEventQueue } from "../remote/event-queue.ts";
import { followOwner, type Following } from "./socket/following.ts";
import type { Peers } from "./socket/peers.ts";

/** Facts that are read at once: a reader that stalls holds no more of them in memory. */
const PAGE = 500;
/** Events that wait for a slow reader; beyond them, facts are read again when the reader continues, and text comes as it is then. */
const MAX_WAITING = 5_000;

type WatchParts = {
  after?: number;
  last?: number;
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
  { after, last, signal, blocks, runsHere, pending, peers }: WatchParts,
): AsyncGenerator<WatchEvent> {
  const queue = createEventQueue();
  let told = after ?? (last === undefined ? 0 : await beforeLast(store, session, last));
  let queued = told;
  /** Facts are read from the store: events that come meanwhile are part of it, or of the blocks. */
  let reading = true;
  let ready = false;
  let following: Following | undefined;
  const push = (event: WatchEvent) => {
    if (queue.size >= MAX_WAITING) {
      queue.take();
      reading = true;
    }
    if (reading) queue.wake();
    else queue.push(event);
  };
  // Listen before reading, so that nothing falls between.
  const stop = store.hub.subscribe(session, {
    fact(fact) {
      queued = Math.max(queued, fact.seq);
      push({ type: "fact", fact });
      following?.note(fact);
    },
    delta: (delta) => ready && push({ type: "delta", delta }),
  });
  signal.addEventListener("abort", queue.wake, { once: true });

  async function* unread(): AsyncGenerator<WatchEvent> {
    for (reading = true; reading;) {
      const page = store.since(session, told, PAGE);
      reading = page.length === PAGE; // whatever is written from now on is heard of
      for (const fact of page) {
        told = fact.seq;
        yield { type: "fact", fact };
        if (signal.aborted) return;
      }
    }
  }
  async function* untold(events: readonly WatchEvent[]): AsyncGenerator<WatchEvent> {
    for (const event of events) {
      if (event.type === "fact") {
        if (event.fact.seq <= told) continue;
        told = event.fact.seq;
      }
      yield event;
      if (signal.aborted) return;
    }
  }
  const soFar = () =>
    [...blocks(), ...(following?.blocks() ?? [])].map((delta): WatchEvent => ({
      type: "delta",
      delta: { ...delta, whole: true },
    }));

  try {
    yield* unread();
    following =
      peers &&
      (peers.follow ?? followOwner)({
        store,
        session,
        peers,
        runsHere,
        newest: () => Math.max(told, queued),
        reached(seq) {
          if (seq <= Math.max(told, queued)) return;
          for (const fact of store.since(session, Math.max(told, queued))) push({ type: "fact", fact });
          queued = seq;
        },
        delta: (delta) => ready && push({ type: "delta", delta }),
        changed: (seen) => ready && push({ type: "owner", ...seen }),
      });
    if (following) await following.settled;
    while (reading && !signal.aborted) yield* unread();
    // Taken in one moment: facts that came meanwhile go before the text behind them, and whatever comes from now on waits its turn.
    const [facts, text] = [queue.take(), soFar()];
    ready = true;
    yield* untold(facts);
    const owned = runsHere() || store.session(session)?.owned === true;
    const live = following ? following.seen().live : runsHere() || !owned;
    yield { type: "ready", requests: pending(), live, owned };
    yield* text;
    while (!signal.aborted) {
      yield* untold(queue.take());
      if (reading && !signal.aborted) {
        yield* unread();
        yield* soFar();
      } else if (!signal.aborted) await queue.more();
    }
  } finally {
    stop();
    following?.stop();
    signal.removeEventListener("abort", queue.wake);
  }
}

/** The seq after which the last turns, and the messages that they answer, begin. */
async function beforeLast(store: Store, session: string, turns: number): Promise<number> {
  const facts = await store.read(session, { types: ["user.said", "turn.begun", "turn.ended"] });
  const first = facts.filter(({ type }) => type === "turn.begun").at(-turns);
  if (!first) return 0;
  const earlier = facts.filter(({ seq }) => seq < first.seq);
  const seen = earlier.reduce((most, fact) => Math.max(most, seenBy(fact)), 0);
  const message = earlier.find(({ type, seq }) => type === "user.said" && seq > seen);
  return (message ?? first).seq - 1;
}
