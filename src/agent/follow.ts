import type { Store } from "../journal/store.ts";
import type { Delta, Fact } from "../protocol/index.ts";

/** Everything a session writes and streams while `work` goes on, as an async generator that ends with its result. */
export async function* follow<T>(
  store: Store,
  session: string,
  work: () => Promise<T>,
): AsyncGenerator<Fact | Delta, T> {
  let queue: (Fact | Delta)[] = [];
  let wake: (() => void) | undefined;
  let done = false;
  const push = (event: Fact | Delta) => {
    queue.push(event);
    wake?.();
  };
  const stop = store.hub.subscribe(session, { fact: push, delta: push });
  const result = work();
  const finished = () => {
    done = true;
    wake?.();
  };
  result.then(finished, finished);
  try {
    for (;;) {
      const batch = queue;
      queue = [];
      yield* batch;
      if (queue.length > 0) continue;
      if (done) return await result;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop();
  }
}
