import type { Rule } from "../../protocol/facts/permission.ts";
import { changedRules, type RuleChange } from "../../protocol/facts/session.ts";
import type { Rules } from "./context.ts";

/** Configured rules and those of the session, as the person has changed them meanwhile. */
export function rulesOf(context: Rules): readonly Rule[] {
  const { config, sessionRules, ruleChanges } = context;
  const { rules } = config;
  if (ruleChanges && ruleChanges.length > 0) for (const change of ruleChanges.splice(0)) changeRules(context, change);
  return sessionRules.length === 0 ? rules : [...rules, ...sessionRules];
}

/** Changes the rules that were given in the session: subagents hold the same list. */
export function changeRules({ sessionRules }: Pick<Rules, "sessionRules">, change: RuleChange): void {
  sessionRules.splice(0, sessionRules.length, ...changedRules(sessionRules, change));
}
