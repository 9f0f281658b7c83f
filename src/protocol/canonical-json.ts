/** JSON with sorted keys: equal values read the same however they were written. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(withSortedKeys(value), undefined, 2) ?? "undefined";
}

/** The same value with sorted keys at every depth: itself where they are in order already, as those of most inputs are. */
export function withSortedKeys(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const items = value.map(withSortedKeys);
    return items.every((item, n) => item === value[n]) ? value : items;
  }
  const keys = Object.keys(value);
  const members = Object.values(value).map(withSortedKeys);
  const inOrder = keys.every((key, n) => n === 0 || (keys[n - 1] as string) < key);
  const record = value as Record<string, unknown>;
  if (inOrder && keys.every((key, n) => members[n] === record[key])) return value;
  return Object.fromEntries(keys.map((key, n) => [key, members[n]] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}
