import type { Store } from "../journal/store.ts";

const dues = new WeakMap<Store, Map<string, number>>();

/** When each request is due, by the clock of this process: one whose turn was paused or slept does not ask the wall clock in between. */
export function duesOf(store: Store): Map<string, number> {
  const known = dues.get(store) ?? new Map<string, number>();
  dues.set(store, known);
  return known;
}
