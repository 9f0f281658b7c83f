import { randomUUID } from "node:crypto";
import type { Store } from "../journal/store.ts";
import { readRule } from "../permission/rules/rules.ts";
import { reason, ruleAddedKey, ruleRemovedKey, type Fact, type FactData } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";

/** Rules that were given in a session and hold there, each once. */
export function sessionRules(facts: readonly Fact[]): FactData["rule.added"][] {
  const rules = new Map<string, FactData["rule.added"]>();
  for (const fact of facts) {
    if (fact.type === "rule.added" && (fact.data.destination === "session" || fact.data.problem !== undefined))
      rules.set(fact.data.rule, fact.data);
    else if (fact.type === "rule.removed" && fact.data.problem === undefined) rules.delete(fact.data.rule);
  }
  return [...rules.values()];
}

export function checkRule(rule: string, behavior: FactData["rule.added"]["behavior"]): void {
  const reading = readRule(rule, behavior);
  if (!reading.ok) throw errorBecause("config-invalid", reason("rule-not-read", { rule, problem: reading.problem }));
}

/** Gives a session a rule, from its next turn on. */
export async function give(
  store: Store,
  session: string,
  { rule, behavior }: { rule: string; behavior: FactData["rule.added"]["behavior"] },
  by: string,
): Promise<void> {
  checkRule(rule, behavior);
  const data = { rule, behavior, destination: "session" as const, by };
  await store.append(session, { key: ruleAddedKey(randomUUID()), type: "rule.added", at: Date.now(), data });
}

/** Takes a rule of a session back; a turn that runs hears of it before its next call. */
export async function takeBack(
  store: Store,
  session: string,
  rule: string,
  sender: { by: string; surface: string },
): Promise<void> {
  const data = { rule, ...sender };
  await store.append(session, { key: ruleRemovedKey(randomUUID()), type: "rule.removed", at: Date.now(), data });
}
