import type { Anchors } from "../config/home/anchors.ts";
import { REMOVED } from "../journal/store/housekeeping.ts";
import type { Store } from "../journal/store/store.ts";
import type { Integrity } from "../protocol/host/receipt.ts";

type IntegrityReport = {
  sessions: Map<string, Integrity>;
  /** Anchored sessions that are neither in the journal nor on record as deleted. */
  vanished: string[];
  /** Anchors that were not sealed with the person's key, or are damaged. */
  forged: number;
};

/** Compares the journal with its own hashes and with the anchors outside of it. */
export async function integrityOf(store: Store, anchors: Anchors, ids: readonly string[]): Promise<IntegrityReport> {
  const { newest, forged } = anchors.read();
  const sessions = new Map<string, Integrity>();
  for (const id of ids) sessions.set(id, await integrity(id));
  const left = await store.housekeeping.verifyRemoved();
  if (left) sessions.set(REMOVED, { state: "broken", ...left });
  const deleted = new Set((await store.housekeeping.removed()).map(({ data }) => data.session));
  const vanished = [...newest.keys()].filter((id) => !store.session(id) && !deleted.has(id));
  return { sessions, vanished, forged };

  async function integrity(id: string): Promise<Integrity> {
    const broken = await store.verify(id);
    if (broken) return { state: "broken", ...broken };
    const anchor = newest.get(id);
    if (!anchor) return { state: "chained" };
    const there = await store.head(id, anchor.seq);
    if (there?.seq !== anchor.seq || there.hash !== anchor.hash) return { state: "rewritten", at: anchor.at };
    return { state: "anchored", at: anchor.at, since: (await store.read(id, { after: anchor.seq })).length };
  }
}
