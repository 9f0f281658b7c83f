import { randomUUID } from "node:crypto";
import type { Store } from "../journal/store.ts";
import { readRule } from "../permission/rules/rules.ts";
import { reason, ruleAddedKey, ruleRemovedKey, type FactData, type Sender } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";

export function checkRule(rule: string, behavior: FactData["rule.added"]["behavior"]): void {
  const reading = readRule(rule, behavior);
  if (!reading.ok) throw errorBecause("config-invalid", reason("rule-not-read", { rule, problem: reading.problem }));
}

/** Gives a session a rule; a turn that runs hears of it before its next call. */
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
  gone: { rule: string; /** Any, if it is left out. */ behavior?: FactData["rule.added"]["behavior"] },
  { by, surface }: Sender,
): Promise<void> {
  const { rule, behavior } = gone;
  const data = { rule, ...(behavior && { behavior }), by, surface };
  await store.append(session, { key: ruleRemovedKey(randomUUID()), type: "rule.removed", at: Date.now(), data });
}
