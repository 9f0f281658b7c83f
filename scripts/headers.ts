/**
 * What the bundle takes for the global `Headers`. The AI SDK needs it only to put a user agent into a record, on every
 * request; the first touch of the global one loads undici: 20 ms before the first request, and several MB.
 */
export class Headers extends Map<string, string> {
  constructor(init: Iterable<[string, string]> | Record<string, string> = {}) {
    const entries = Symbol.iterator in init ? [...init] : Object.entries(init);
    super(entries.map(([name, value]) => [name.toLowerCase(), value]));
  }
}
