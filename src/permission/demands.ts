import { demands, isStricter, strictest } from "../protocol/facts/consent.ts";
import type { PermissionResult, Rule } from "../protocol/facts/permission.ts";
import { reason } from "../protocol/reasons/reason.ts";
import type { Decision, DecisionInput } from "./decide.ts";
import { examine } from "./examine.ts";
import { namedRule } from "./rules/compile.ts";
import { by } from "./steps.ts";

/**
 * The demands of all ask rules about the call, and the strictest of them as its rule. Each is held against the call by itself: of
 * several that match, the finding names one.
 */
export function demandsOn(
  call: DecisionInput,
  { book, finding }: NonNullable<Decision["ruled"]>,
): Partial<PermissionResult> | undefined {
  if (!call.rules.some(isDemanding)) return undefined;
  const isAbout = (n: number) => examine(call, book.alone(n), finding.shell?.reading).ask !== undefined;
  const asking = call.rules.filter((rule, n) => isDemanding(rule) && isAbout(n));
  const silence = asking.find((rule) => rule.silence)?.silence;
  const consent = strictest(asking.flatMap((rule) => rule.consent ?? []));
  if (!consent) return silence ? { silence } : {};
  const first = asking.find((rule) => rule.consent && !isStricter(consent, rule.consent)) ?? asking[0]!;
  const why = reason("asked-by-rule", { rule: namedRule(first) });
  return { ...(silence && { silence }), consent, reason: why, ...by(first) };
}

/** Ask rules that say how many have to agree, or what happens without an answer. */
export function demandingRules(rules: readonly Rule[]): Rule[] {
  return rules.filter(isDemanding);
}

function isDemanding(rule: Rule): boolean {
  return rule.behavior === "ask" && (demands(rule) || rule.silence !== undefined);
}
