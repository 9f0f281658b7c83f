import { beginsAttempt, type Fact } from "../protocol/index.ts";

/** The first facts of the attempts at a session's turns, by seq. */
export function attemptsIn(facts: readonly Fact[], upTo: number): number[] {
  return facts.flatMap((fact) => (fact.seq <= upTo && beginsAttempt(fact) ? [fact.seq] : []));
}

/** One of these interrupts fell into the attempt that wrote the fact with this seq. */
export function isCutShort(seq: number, attempts: readonly number[], interrupts: readonly number[]): boolean {
  const begun = attempts.findLast((at) => at <= seq) ?? 0;
  const next = attempts.find((at) => at > seq) ?? Infinity;
  return interrupts.some((at) => at > begun && at < next);
}
