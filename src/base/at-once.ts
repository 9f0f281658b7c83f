/** A value that is needed at once, by the name of the function that made it. A promise of one is a mistake, and that it fails as well is no news. */
export function atOnce<T>(value: T, name: string): T {
  if (typeof (value as { then?: unknown } | null | undefined)?.then !== "function") return value;
  Promise.resolve(value).catch(() => {});
  throw new Error(`${name} should return its value at once; it returned a promise`);
}
