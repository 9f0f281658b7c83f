/** Runs work of the same name one at a time, in order. */
export type Queues = {
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Blocks the queue until the returned function is called; running work is not stopped. */
  hold(name: string): () => void;
  /** Resolves when all queues are empty. */
  idle(): Promise<void>;
};

export function createQueues(): Queues {
  const tails = new Map<string, Promise<unknown>>();
  const push = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const next = (tails.get(name) ?? Promise.resolve()).then(work);
    const tail = next
      .catch(() => {})
      .then(() => {
        if (tails.get(name) === tail) tails.delete(name);
      });
    tails.set(name, tail);
    return next;
  };
  return {
    run: push,
    hold(name) {
      const { promise, resolve } = Promise.withResolvers<void>();
      void push(name, () => promise);
      return resolve;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}

/** Limits calls per second and name; further ones wait. */
export function createPace(perSecond: number, sleep: (ms: number) => Promise<void>): (name: string) => Promise<void> {
  const recent = new Map<string, number[]>();
  return async (name) => {
    for (;;) {
      const now = performance.now();
      const starts = (recent.get(name) ?? []).filter((at) => now - at < 1_050);
      const [oldest] = starts;
      if (oldest === undefined || starts.length < perSecond) {
        recent.set(name, [...starts, now]);
        if (recent.size > 1_000)
          for (const [key, list] of recent) if (now - (list.at(-1) ?? 0) > 1_050) recent.delete(key);
        return;
      }
      await sleep(oldest + 1_050 - now);
    }
  };
}
