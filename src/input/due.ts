import type { Store } from "../journal/store/store.ts";

/** When each request is due by this process's clock. It keeps its time while the turn is paused: no wall clock in between. */
export function duesOf(store: Store): Map<string, number> {
  return store.member(createDues);
}

const createDues = () => new Map<string, number>();
