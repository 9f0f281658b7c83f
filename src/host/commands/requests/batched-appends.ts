import type { Appended, InboundFact, Store } from "../../../journal/store/store.ts";
import { SageError } from "../../../protocol/reasons/error.ts";

type Inbound = { session: string; fact: InboundFact };

type Queued = Inbound & {
  done(written: Appended): void;
  failed(error: unknown): void;
};

/** Facts that come in one tick share one commit. Each is on disk before its sender hears of it. */
export function batchAppends(store: Store): (inbound: Inbound) => Promise<Appended> {
  let queued: Queued[] = [];
  const write = async () => {
    const batch = queued;
    queued = [];
    try {
      const written = await store.appendAll(batch);
      for (const [n, { done, failed }] of batch.entries()) {
        const result = written[n] as Appended | SageError;
        if (result instanceof SageError) failed(result);
        else done(result);
      }
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  };
  return (inbound) =>
    new Promise((done, failed) => {
      if (queued.push({ ...inbound, done, failed }) === 1) setImmediate(() => void write());
    });
}
