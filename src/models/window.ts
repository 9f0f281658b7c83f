import { type Reason, SageError } from "../protocol/reasons/reason.ts";
import { classify } from "./failure.ts";

const UNKNOWN = 200_000;

/** Tokens that fit into one prompt. A wrong guess costs one refused request: see `isOverflow`. */
const windows: readonly [RegExp, number][] = [
  [/\bgpt-4o/, 128_000],
  [/\bgpt-4\.1/, 1_000_000],
  // Longer ones are taken, at twice the price.
  [/\bgpt-[56]/, 272_000],
  [/\bclaude-/, 200_000],
  [/\bgemini-/, 1_000_000],
];

export function contextWindow(model: string): number {
  return knownWindow(model) ?? UNKNOWN;
}

export function knownWindow(model: string): number | undefined {
  return windows.find(([name]) => name.test(model))?.[1];
}

/** Did the provider refuse the prompt because it is too long? */
export function isOverflow(error: unknown): boolean {
  if (error instanceof SageError) return isTooLarge(error.reason);
  // An error of a model that nobody wrapped in retries.
  return (Object(error) as { statusCode?: unknown }).statusCode !== undefined && isTooLarge(classify(error).problem);
}

function isTooLarge({ code, args }: Reason): boolean {
  if (code === "model-failed") return isTooLarge(args.problem);
  if (code === "fallback-failed") return isTooLarge(args.fallback);
  return code === "request-failed" && args.kind === "too-large";
}
