import type { Appended, InboundFact, Store } from "../journal/store.ts";
import { SageError } from "../protocol/index.ts";

type Inbound = { session: string; fact: InboundFact };

type Waiting = Inbound & {
  done(written: Appended): void;
  failed(error: unknown): void;
};

/** A thousand answers that come at once wait for the disk once. Each is on disk before its sender hears of it, as always. */
export function createTogether(store: Store): (one: Inbound) => Promise<Appended> {
  let waiting: Waiting[] = [];
  const write = () => {
    const all = waiting;
    waiting = [];
    try {
      const written = store.appendAll(all);
      for (const [n, { done, failed }] of all.entries()) {
        const one = written[n] as Appended | SageError;
        if (one instanceof SageError) failed(one);
        else done(one);
      }
    } catch (error) {
      for (const { failed } of all) failed(error);
    }
  };
  return (one) =>
    new Promise((done, failed) => {
      if (waiting.push({ ...one, done, failed }) === 1) setImmediate(write);
    });
}
