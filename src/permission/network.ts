import type { RuleBook } from "./rules/book.ts";
import { mayName, names } from "./web.ts";
import { star } from "./text/wild.ts";

/** Judgement of the rules on one host. `named`: a rule names this very host, and not a pattern that it fits. */
type HostJudgement = { behavior: "allow" | "deny" | "ask" | "none"; named: boolean };

/** May a confined command connect to this host? A host that must not be fetched from must not be reached either. */
export function judgeHost(host: string, book: RuleBook): HostJudgement {
  const rules = book.about("Network");
  const spelled = host.includes(":") ? `[${host}]` : host;
  const against = [...rules.deny, ...book.about("WebFetch").deny];
  const behaviorOf = (): HostJudgement["behavior"] => {
    if (against.some((rule) => rule.whole || mayName(rule, spelled))) return "deny";
    if (rules.ask.some((rule) => rule.whole || mayName(rule, spelled))) return "ask";
    return rules.allow.some((rule) => rule.whole || names(rule, spelled)) ? "allow" : "none";
  };
  const named = rules.allow.some((rule) => names(rule, spelled) && !rule.glob.includes(star));
  return { behavior: behaviorOf(), named };
}
