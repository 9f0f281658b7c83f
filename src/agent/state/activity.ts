/** The time a turn works, as opposed to the time it waits for a person. */
export type Activity = { during<T>(work: () => Promise<T>): Promise<T> };

const unlimited: Activity = { during: (work) => work() };

/** Calls `expire` once the work of a turn has taken `limitMs` altogether. Parallel work counts once. */
export function createActivity(limitMs: number | undefined, expire: () => void): Activity {
  if (limitMs === undefined) return unlimited;
  let left = limitMs;
  let running = 0;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    async during(work) {
      if (running++ === 0) {
        since = performance.now();
        timer = setTimeout(expire, Math.min(left, 2 ** 31 - 1));
      }
      try {
        return await work();
      } finally {
        if (--running === 0) {
          clearTimeout(timer);
          left -= performance.now() - since;
        }
      }
    },
  };
}
