import type { Fact } from "../../protocol/facts/fact.ts";
import { beginsAttempt } from "../../protocol/facts/session.ts";

/** Seqs of the facts with which attempts at a session's turns began. */
export function attemptsIn(facts: readonly Fact[], upTo: number): number[] {
  return facts.flatMap((fact) => (fact.seq <= upTo && beginsAttempt(fact) ? [fact.seq] : []));
}

/** True when one of these interrupts fell into the attempt that wrote the fact with this seq. */
export function isCutShort(seq: number, attempts: readonly number[], interrupts: readonly number[]): boolean {
  const begun = attempts.findLast((at) => at <= seq) ?? 0;
  const next = attempts.find((at) => at > seq) ?? Infinity;
  return interrupts.some((at) => at > begun && at < next);
}
