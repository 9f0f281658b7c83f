import type { Delta, Fact, FactData, FactType } from "../../src/protocol/facts/fact.ts";
import type { Host, WatchEvent } from "../../src/protocol/host/host.ts";

/** A host that tells a surface what it is told to, and agrees to everything. */
export function puppet() {
  let queue: WatchEvent[] = [{ type: "ready", requests: [], live: true, owned: false }];
  let wake: (() => void) | undefined;
  let seq = 0;
  const push = (event: WatchEvent) => {
    queue.push(event);
    wake?.();
  };
  const host: Host = {
    send: async () => ({ ok: true }) as never,
    async *inbox() {},
    async *watch(_session, { signal }) {
      signal.addEventListener("abort", () => wake?.(), { once: true });
      while (!signal.aborted) {
        const batch = queue;
        queue = [];
        yield* batch;
        if (queue.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
  return {
    host,
    fact<T extends FactType>(key: string, type: T, data: FactData[T]) {
      push({ type: "fact", fact: { session: "s", seq: ++seq, key, type, at: Date.now(), data } as Fact });
    },
    delta(key: string, kind: Delta["kind"], text: string) {
      push({ type: "delta", delta: { session: "s", key, attempt: 0, n: ++seq, kind, text } });
    },
  };
}
