/** Makes a value when it is first asked for: a process that starts has no use for most tables and patterns. */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
