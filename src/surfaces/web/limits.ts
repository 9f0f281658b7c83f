const MINUTE = 60_000;
const A_MINUTE = { ofAddress: 10, together: 60 };

/** Failed pairing attempts are counted per address and in total; own failures do not block a person with the right link. */
type PairLimits = { may(address: string): boolean; failed(address: string): void };

export function createPairLimits(now: () => number = Date.now): PairLimits {
  const failures = new Map<string, number>();
  let together = 0;
  let since = now();
  const renew = () => {
    if (now() - since < MINUTE) return;
    failures.clear();
    [together, since] = [0, now()];
  };
  return {
    may(address) {
      renew();
      return (failures.get(address) ?? 0) < A_MINUTE.ofAddress && together < A_MINUTE.together;
    },
    failed(address) {
      renew();
      failures.set(address, (failures.get(address) ?? 0) + 1);
      together++;
    },
  };
}
