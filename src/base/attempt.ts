/** Returns the result of the work, or undefined if it throws: for callers to whom the reason does not matter. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
