import type { WatchEvent } from "../../protocol/index.ts";

/** Characters of live output that are kept for a slow reader. Older output is dropped: deltas are not reliable anyway. */
const MOST_OUTPUT = 4_000_000;

/** Events on their way to a reader that takes them at its own pace. */
export type EventQueue = {
  push(event: WatchEvent): void;
  /** Everything so far; the queue is empty then. */
  take(): WatchEvent[];
  isEmpty(): boolean;
  /** Resolves when there may be more, at once if there is. */
  more(): Promise<void>;
  wake(): void;
};

export function createEventQueue(): EventQueue {
  let events: WatchEvent[] = [];
  let output = 0;
  let woken: (() => void) | undefined;
  const wake = () => {
    woken?.();
    woken = undefined;
  };
  return {
    wake,
    push(event) {
      if (event.type === "delta" && event.delta.kind === "output") {
        output += event.delta.text.length;
        if (output > MOST_OUTPUT) {
          events = events.filter((one) => one.type !== "delta" || one.delta.kind !== "output");
          output = event.delta.text.length;
        }
      }
      events.push(event);
      wake();
    },
    take() {
      const all = events;
      [events, output] = [[], 0];
      return all;
    },
    isEmpty: () => events.length === 0,
    more: () => (events.length > 0 ? Promise.resolve() : new Promise((resolve) => (woken = resolve))),
  };
}
