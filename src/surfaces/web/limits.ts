const MINUTE = 60_000;
const A_MINUTE = { ofAddress: 10, together: 60 };

/** Counts tries to pair. True while another one may be made from this address. */
export function createPairLimits(now: () => number = Date.now): (address: string) => boolean {
  const tries = new Map<string, number>();
  let together = 0;
  let since = now();
  return (address) => {
    if (now() - since >= MINUTE) {
      tries.clear();
      [together, since] = [0, now()];
    }
    const own = (tries.get(address) ?? 0) + 1;
    if (own > A_MINUTE.ofAddress || together >= A_MINUTE.together) return false;
    tries.set(address, own);
    together++;
    return true;
  };
}
