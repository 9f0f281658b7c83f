import { SageError } from "../protocol/index.ts";

const UNKNOWN = 200_000;

/** Tokens that fit into one prompt. A wrong guess costs one refused request: see `isOverflow`. */
const windows: readonly [RegExp, number][] = [
  [/\bgpt-4o/, 128_000],
  [/\bgpt-4\.1/, 1_000_000],
  // Longer ones are taken, at twice the price.
  [/\bgpt-[56]/, 272_000],
];

export function contextWindow(model: string): number {
  return windows.find(([name]) => name.test(model))?.[1] ?? UNKNOWN;
}

/** Did the provider refuse the prompt because it is too long? Each says so in words of its own, and few with a code. */
export function isOverflow(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { statusCode } = error as { statusCode?: number };
  if (statusCode === 413) return true;
  // "Too large" is also what a rate limit says of a single request; waiting helps there, not a shorter prompt.
  if (statusCode === 429 || /\(429\b/.test(error.message)) return false;
  return (
    (error instanceof SageError || statusCode !== undefined) &&
    /\(413\b|prompt is too long|(context|input).{0,24}(length|window|too long)|maximum context|too many (input )?tokens|exceed_context/i.test(
      error.message,
    )
  );
}
