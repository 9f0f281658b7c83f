import type { InboxEvent, WatchEvent } from "../protocol/host/host.ts";

/** Characters of live output that are kept for a slow reader. Older output is dropped: deltas are not reliable anyway. */
const MAX_OUTPUT = 4_000_000;

/** Events on their way to a reader that takes them at its own pace. */
export type EventQueue<E = WatchEvent> = {
  push(event: E): void;
  /** Everything so far; the queue is empty then. */
  take(): E[];
  readonly size: number;
  more(): Promise<void>;
  wake(): void;
};

export function createEventQueue<E extends WatchEvent | InboxEvent = WatchEvent>(): EventQueue<E> {
  let events: E[] = [];
  let output = 0;
  let woken: (() => void) | undefined;
  const wake = () => {
    woken?.();
    woken = undefined;
  };
  return {
    wake,
    push(event) {
      const length = outputIn(event);
      if (length !== undefined) {
        output += length;
        if (output > MAX_OUTPUT) {
          events = events.filter((event) => outputIn(event) === undefined);
          output = length;
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
    get size() {
      return events.length;
    },
    more: () => (events.length > 0 ? Promise.resolve() : new Promise((resolve) => (woken = resolve))),
  };
}

function outputIn(event: WatchEvent | InboxEvent): number | undefined {
  return event.type === "delta" && event.delta.kind === "output" ? event.delta.text.length : undefined;
}
