import type { InputRequest } from "../../protocol/index.ts";

/** A shorter wait needs no reminder: people have just been called. */
const SHORTEST_MS = 2 * 60_000;
const LATEST_MS = 15 * 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls people once more before nobody has answered in time. */
export type Reminders = {
  /** Again and again for the same request is the same as once. */
  plan(request: InputRequest): void;
  drop(requestId: string): void;
  stop(): void;
};

export function createReminders(now: () => number, remind: (request: InputRequest) => void): Reminders {
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    plan(request) {
      const at = reminderAt(request);
      if (at === undefined || timers.has(request.id)) return;
      const wait = Math.min(Math.max(0, at - now()), LONGEST_TIMER_MS);
      timers.set(request.id, setTimeout(() => remind(request), wait).unref());
    },
    drop(requestId) {
      clearTimeout(timers.get(requestId));
      timers.delete(requestId);
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** When the last quarter of the wait begins, and at most fifteen minutes before its end. */
export function reminderAt({ deadline }: InputRequest): number | undefined {
  if (!deadline || deadline.timeoutMs < SHORTEST_MS) return undefined;
  return deadline.at - Math.min(deadline.timeoutMs / 4, LATEST_MS);
}
