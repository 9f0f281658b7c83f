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

/** Changes of messages and cards of which only the newest version matters. */
export type Drawing = {
  /** Sends a change, unless a newer one with this name is wanted by then. `moot` says so while it is sent. */
  draw(name: string, queue: string, work: (moot: () => boolean) => Promise<void>): Promise<void>;
  /** Skips a pending change: something newer is shown already. */
  drop(name: string): void;
};

export function createDrawing(queues: Queues): Drawing {
  /** Newest requested version of each message or text; older ones are skipped. */
  const newest = new Map<string, number>();
  let count = 0;

  const draw: Drawing["draw"] = (name, queue, work) => {
    const mine = ++count;
    newest.set(name, mine);
    const moot = () => newest.get(name) !== mine;
    return queues.run(queue, async () => {
      if (moot()) return;
      try {
        await work(moot);
      } finally {
        if (!moot()) newest.delete(name);
      }
    });
  };
  return { draw, drop: (name) => void newest.delete(name) };
}
