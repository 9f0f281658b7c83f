import type { Store } from "../journal/store/store.ts";
import { unrepliedIn } from "../protocol/facts/inquiry.ts";
import type { InputRequest } from "../protocol/facts/request.ts";
import type { Host } from "../protocol/host/host.ts";
import { fallAsleep } from "./run/sleep.ts";
import { arm } from "../input/deadlines.ts";
import type { FactType } from "../protocol/facts/fact.ts";

export type Recovered = {
  /** Turns that continue now. */
  resumed: number;
  /** Turns that wait for a person: each costs an entry in a list until somebody answers. */
  waiting: number;
  /** Waits no longer; what was resumed is the host's. */
  stop(): void;
};

/**
 * Continues the turns that were open when the process that ran these sessions ended, and takes up messages that it had not begun
 * with. A turn that waits for people alone is not loaded: it sleeps, its deadlines run, and it continues when it is answered; but a call
 * whose end is unknown is asked about at once. A turn that a person paused stays paused.
 */
export async function recover(store: Store, host: Host, sessions: readonly string[]): Promise<Recovered> {
  const stops: (() => void)[] = [];
  let resumed = 0;
  let waiting = 0;
  for (const session of sessions) {
    const row = store.session(session);
    if (!row || row.owned) continue;
    if (!row.open && !row.unheard) continue;
    const requests = store.pending(session);
    const waits = requests.length > 0 && !store.leftCalls(session);
    const paused = await isPaused(store, session);
    // Somebody asked about a request, and the process that should have replied was killed.
    if (waits && (paused || !requests.some(({ id }) => unrepliedIn(store.inquiries(id)).length > 0))) {
      waiting++;
      const letGo = paused ? () => {} : hold(store, session);
      const goOn = () => {
        letGo(); // a session that cannot continue here, because its folder is gone, must not block other processes
        void host.send({ type: "resume", session });
      };
      stops.push(sleepOn(store, requests, session, goOn));
    } else if (!paused) {
      resumed++;
      await host.send({ type: "resume", session });
    }
  }
  return { resumed, waiting, stop: () => stops.forEach((stop) => stop()) };
}

function sleepOn(store: Store, requests: readonly InputRequest[], session: string, goOn: () => void): () => void {
  const { woken, end } = fallAsleep(store, session, Number.MAX_SAFE_INTEGER);
  void woken.then((how) => how && goOn());
  // Answered by another process between the look and the listening.
  if (requests.some(({ id }) => store.resolution(id))) {
    end();
    goOn();
  }
  return end;
}

/** Holds the lease until the process leaves: people who answer elsewhere see that the session continues, and no other process takes it. */
function hold(store: Store, session: string): () => void {
  try {
    const epoch = store.claim(session);
    return () => void store.release(session, epoch);
  } catch {
    return () => {}; // another process was faster
  }
}

/** Reads these facts alone: a session that waits is not loaded. */
async function isPaused(store: Store, session: string): Promise<boolean> {
  const last = (await store.read(session, { types: ["state.changed", "user.said"] })).at(-1);
  return last?.type === "state.changed" && last.data.to.state === "paused";
}

const telling: ReadonlySet<FactType> = new Set(["input.requested", "input.resolved", "session.removed"]);

/** Measures escalations, whoever runs the session: the asking process may be gone. Of two that measure, the fact's key lets one write. */
export function watchEscalations(store: Store): () => void {
  const armed = new Map<string, { session: string; disarm: () => void }>();
  const begin = (request: InputRequest) => {
    if (!request.deadline?.escalation || armed.has(request.id)) return;
    armed.set(request.id, { session: request.session, disarm: arm(store, request) });
  };
  const end = (id: string) => {
    armed.get(id)?.disarm();
    armed.delete(id);
  };
  // Listen before reading, so that nothing falls between.
  const stop = store.hub.overhear(telling, (fact) => {
    if (fact.type === "input.requested") begin(fact.data);
    else if (fact.type === "input.resolved") end(fact.data.requestId);
    else for (const [id, { session }] of armed) if (session === fact.session) end(id);
  });
  for (const request of store.pending()) begin(request);
  return () => {
    stop();
    for (const id of armed.keys()) end(id);
  };
}
