import { readRule } from "../../../permission/rules/rules.ts";
import type { FactData } from "../../../protocol/facts/fact.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import { errorBecause } from "../../../texts/shared/error.ts";

export function checkRule(rule: string, behavior: FactData["rule.added"]["behavior"]): void {
  const reading = readRule(rule, behavior);
  if (!reading.ok) throw errorBecause("config-invalid", reason("rule-not-read", { rule, problem: reading.problem }));
}
