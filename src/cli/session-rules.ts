import { randomUUID } from "node:crypto";
import type { Store } from "../journal/store.ts";
import { ruleRemovedKey, type Fact, type FactData } from "../protocol/index.ts";

/** Rules that were given in a session and hold there, each once. */
export function sessionRules(facts: readonly Fact[]): FactData["rule.added"][] {
  const rules = new Map<string, FactData["rule.added"]>();
  for (const fact of facts) {
    if (fact.type === "rule.added" && (fact.data.destination === "session" || fact.data.problem !== undefined))
      rules.set(fact.data.rule, fact.data);
    else if (fact.type === "rule.removed") rules.delete(fact.data.rule);
  }
  return [...rules.values()];
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
