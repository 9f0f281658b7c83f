import type { Store } from "../journal/store/store.ts";

/**
 * When each request is due, by the clock of this process. A request keeps its time while its turn is paused or asleep: nobody
 * asks the wall clock in between.
 */
export function duesOf(store: Store): Map<string, number> {
  return store.member(createDues);
}

const createDues = () => new Map<string, number>();
