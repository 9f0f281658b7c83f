import type { Store } from "../journal/store/store.ts";
import type { FactType } from "../protocol/facts/fact.ts";
import type { Host, InboxEvent } from "../protocol/host/host.ts";
import { createEventQueue } from "../remote/event-queue.ts";

const MAX_REQUESTS = 200;
const MAX_SESSIONS = 100;
/** Facts that wait for a slow reader; with more, a new snapshot costs less than all of them. */
const MAX_WAITING = 2_000;

/** Facts that change what waits, who works, or what a session is called. */
const told: ReadonlySet<FactType> = new Set<FactType>([
  "session.opened",
  "session.titled",
  "session.moved",
  "session.removed",
  "session.rewound",
  "user.said",
  "message.withdrawn",
  "turn.begun",
  "turn.interrupted",
  "turn.ended",
  "input.requested",
  "input.approved",
  "input.reminded",
  "input.escalated",
  "time.moved",
  "input.resolved",
  "draft.saved",
]);

/** Everything that waits, over all sessions: a snapshot, then the facts that change it. */
export async function* watchInbox(store: Store, send: Host["send"], signal: AbortSignal): AsyncGenerator<InboxEvent> {
  const queue = createEventQueue<InboxEvent>();
  let behind = true;
  // Listen before reading, so that nothing falls between.
  const stop = store.hub.overhear(told, (fact) => {
    if (queue.size >= MAX_WAITING) {
      queue.take();
      behind = true;
    }
    if (!behind) queue.push({ type: "fact", fact });
    else queue.wake();
  });
  signal.addEventListener("abort", queue.wake, { once: true });
  try {
    while (!signal.aborted) {
      if (behind) {
        behind = false;
        yield await snapshot(store, send);
      }
      for (const event of queue.take()) {
        yield event;
        if (signal.aborted) return;
      }
      if (!signal.aborted && !behind) await queue.more();
    }
  } finally {
    stop();
    signal.removeEventListener("abort", queue.wake);
  }
}

async function snapshot(store: Store, send: Host["send"]): Promise<InboxEvent> {
  const pending = await send({ type: "pending", limit: MAX_REQUESTS });
  const listed = await send({ type: "sessions", limit: MAX_SESSIONS });
  const requests = pending.ok ? pending.requests : [];
  const waiting =
    requests.length < MAX_REQUESTS ? requests.length : store.sessions().reduce((sum, { pending }) => sum + pending, 0);
  return { type: "inbox", requests, more: waiting - requests.length, sessions: listed.ok ? listed.sessions : [] };
}
