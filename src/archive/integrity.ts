import type { Anchors } from "../config/anchors.ts";
import { REMOVED } from "../journal/housekeeping.ts";
import type { Store } from "../journal/store.ts";
import type { Integrity } from "../protocol/index.ts";

type IntegrityReport = {
  sessions: Map<string, Integrity>;
  /** Anchored sessions that are neither in the journal nor on record as deleted. */
  vanished: string[];
  /** Anchors that were not sealed with the person's key, or are damaged. */
  forged: number;
};

/** Compares the journal with its own hashes and with the anchors outside of it. */
export function integrityOf(store: Store, anchors: Anchors, ids: readonly string[]): IntegrityReport {
  const { newest, forged } = anchors.read();
  const sessions = new Map(ids.map((id): [string, Integrity] => [id, integrity(id)]));
  const left = store.housekeeping.verifyRemoved();
  if (left) sessions.set(REMOVED, { state: "broken", ...left });
  const deleted = new Set(store.housekeeping.removed().map(({ data }) => data.session));
  const vanished = [...newest.keys()].filter((id) => !store.session(id) && !deleted.has(id));
  return { sessions, vanished, forged };

  function integrity(id: string): Integrity {
    const broken = store.verify(id);
    if (broken) return { state: "broken", ...broken };
    const anchor = newest.get(id);
    if (!anchor) return { state: "chained" };
    const there = store.head(id, anchor.seq);
    if (there?.seq !== anchor.seq || there.hash !== anchor.hash) return { state: "rewritten", at: anchor.at };
    return { state: "anchored", at: anchor.at, since: store.since(id, anchor.seq).length };
  }
}
