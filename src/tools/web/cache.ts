/** Things that were fetched a short while ago, within bounds: the oldest go first. */
export type Cache<T> = { get(key: string): T | undefined; set(key: string, value: T, size: number): void };

const KEPT_MS = 15 * 60_000;
const MAX_ENTRIES = 200;

/** `room`: what the sizes of all that is kept may add up to. `now` is a clock that is never set back. */
export function createCache<T>({
  room,
  now = () => performance.now(),
}: {
  room: number;
  now?: () => number;
}): Cache<T> {
  const kept = new Map<string, { value: T; size: number; at: number }>();
  let used = 0;
  const drop = (key: string) => {
    used -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const found = kept.get(key);
      return found && now() - found.at < KEPT_MS ? found.value : undefined;
    },
    set(key, value, size) {
      drop(key);
      kept.set(key, { value, size, at: now() });
      used += size;
      for (const [oldest, { at }] of kept)
        if (kept.size > MAX_ENTRIES || used > room || now() - at >= KEPT_MS) drop(oldest);
        else break;
    },
  };
}

/** The part of a cache that belongs to one session. */
export function partOf<T>(cache: Cache<T>, session: string): Cache<T> {
  return {
    get: (key) => cache.get(`${session}\n${key}`),
    set: (key, value, size) => cache.set(`${session}\n${key}`, value, size),
  };
}
