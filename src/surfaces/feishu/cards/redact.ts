/** Takes secrets out of what leaves the machine; whoever attaches the surface knows them. */
export type Redaction = {
  text(text: string): string;
  /** The same in every string of plain data. */
  value<T>(value: T): T;
};

export const noRedaction: Redaction = { text: (text) => text, value: (value) => value };

/** With the number of places that were covered, which people should know of. */
export function redacted<T>(value: T, redaction: Redaction): { value: T; masked: number } {
  const clean = redaction.value(value);
  return { value: clean, masked: Math.max(0, count(clean) - count(value)) };
}

const count = (value: unknown) => JSON.stringify(value).split("[secret").length - 1;
