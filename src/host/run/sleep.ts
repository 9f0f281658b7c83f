import { arm } from "../../input/deadlines.ts";
import type { Store } from "../../journal/store/store.ts";
import type { FactType } from "../../protocol/facts/fact.ts";

export type Asleep = {
  /** True when somebody did something for the session, false when another process took it or `end` was called. */
  woken: Promise<boolean>;
  end(): void;
};

/**
 * Waits for a session that is out of memory: its requests are on disk, its lease is kept, and whatever is done for it wakes it. It
 * costs an entry in the process's one registry; deadlines of its requests run on in the process's one timer. `newest` is the
 * seq of the last fact that the session knew.
 */
export function fallAsleep(store: Store, session: string, newest: number): Asleep {
  const { promise: woken, resolve } = Promise.withResolvers<boolean>();
  const stop = store.hub.subscribe(session, { types: wakes, fact: () => end(true), lost: () => end(false) });
  let armed: (() => void)[] = [];
  const end = (how: boolean) => {
    stop();
    for (const disarm of armed) disarm();
    resolve(how);
  };
  try {
    armed = store
      .pending(session)
      .flatMap((request) => (request.deadline || request.remind ? [arm(store, request)] : []));
    if (store.since(session, newest).length > 0) end(true); // written between the last look and the subscription
  } catch (error) {
    end(false);
    throw error;
  }
  return { woken, end: () => end(false) };
}

const wakes = new Set<FactType>(["input.resolved", "inquiry.made", "user.said", "turn.interrupted"]);

/** Lets one run start at a time and yields in between: ten thousand may be answered or resumed at once. */
export function createTurnstile(): () => Promise<void> | undefined {
  const queue: (() => void)[] = [];
  let passing = false;
  const next = () => {
    const first = queue.shift();
    passing = first !== undefined;
    if (!first) return;
    setImmediate(next);
    first();
  };
  return () => {
    if (passing) return new Promise((pass) => queue.push(pass));
    passing = true;
    setImmediate(next);
    return undefined;
  };
}
