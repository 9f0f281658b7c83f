import { localHead, type Store } from "../journal/store/store.ts";

/** Seq of the newest fact of a session; 0 where there is none. A store without hashes has its facts at hand anyway. */
export function newestSeq(store: Store, session: string): number {
  return localHead(store, session)?.seq ?? store.since(session, 0).at(-1)?.seq ?? 0;
}
