import type { Anchors } from "../config/anchors.ts";
import { REMOVED } from "../journal/housekeeping.ts";
import type { Store } from "../journal/store.ts";

/** How far the record of a session can be relied on. */
export type Integrity =
  /** The record up to the end of the turn at `at` is the one that Sage wrote; `since`: records after it, which are chained only. */
  | { state: "anchored"; at: number; since: number }
  /** Every hash follows from the one before; whoever can compute hashes could have written all of them. */
  | { state: "chained" }
  /** A record does not follow from the one before it. */
  | { state: "broken"; seq: number; key: string }
  /** The chain holds, and is not the one that was there at the end of the turn at `at`: it was written anew, or cut off. */
  | { state: "rewritten"; at: number };

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
