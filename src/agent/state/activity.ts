/** The time a turn works, as opposed to the time it waits for a person. */
export type Activity = { /** Work has begun; disposing of it ends it. */ begin(): Disposable };

const unlimited: Activity = { begin: () => ({ [Symbol.dispose]() {} }) };

/** Calls `expire` once the work of a turn has taken `limitMs` altogether. Parallel work counts once. */
export function createActivity(limitMs: number | undefined, expire: () => void): Activity {
  if (limitMs === undefined) return unlimited;
  let left = limitMs;
  let running = 0;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    if (--running > 0) return;
    clearTimeout(timer);
    left -= performance.now() - since;
  };
  return {
    begin() {
      if (running++ === 0) {
        since = performance.now();
        timer = setTimeout(expire, Math.min(left, 2 ** 31 - 1));
      }
      return { [Symbol.dispose]: end };
    },
  };
}
