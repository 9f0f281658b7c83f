/** JSON with sorted keys: equal values read the same however they were written. */
export function canonicalJson(value: unknown): string {
  const sorted = (_key: string, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return JSON.stringify(value, sorted, 2) ?? "undefined";
}
