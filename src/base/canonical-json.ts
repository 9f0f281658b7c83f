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
  let inOrder = true;
  let before = "";
  const members = Object.entries(value as Record<string, unknown>);
  for (const member of members) {
    const [key, own] = member;
    const sorted = withSortedKeys(own);
    inOrder &&= before <= key && sorted === own;
    before = key;
    member[1] = sorted;
  }
  return inOrder ? value : Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}
