import type { BackgroundTask } from "./call.ts";
import type { Fact, FactData } from "./fact.ts";
import type { Rule } from "./permission.ts";
import type { SessionMode } from "../mode.ts";

/** A rule that somebody gave, or took back. */
export type RuleChange =
  | { type: "rule.added"; data: FactData["rule.added"] }
  | { type: "rule.removed"; data: FactData["rule.removed"] };

/** Session rules, without duplicates. Rules saved to files are read from the files, where a person may have removed them. */
export function sessionRules(facts: readonly Fact[]): Rule[] {
  let rules: readonly Rule[] = [];
  for (const fact of facts) {
    if (fact.type === "rule.added" ? given(fact.data).source === "session" : fact.type === "rule.removed")
      rules = changedRules(rules, fact as RuleChange);
  }
  return [...rules];
}

/** The rules after one was added or removed. A rule whose removal failed is kept. */
export function changedRules(rules: readonly Rule[], change: RuleChange): readonly Rule[] {
  if (change.type === "rule.removed") {
    const { data } = change;
    return data.problem === undefined ? rules.filter((rule) => !isTakenBack(rule, data)) : rules;
  }
  const rule = given(change.data);
  const { text, source, behavior } = rule;
  return [...rules.filter((earlier) => !isTakenBack(earlier, { rule: text, destination: source, behavior })), rule];
}

/** A text may be allowed in one place and denied in another: a removal means its own place, and its own behaviour where it names one. */
export function isTakenBack(
  { text, source, behavior }: Rule,
  gone: Pick<FactData["rule.removed"], "rule" | "destination" | "behavior">,
): boolean {
  return text === gone.rule && source === (gone.destination ?? "session") && behavior === (gone.behavior ?? behavior);
}

/** A rule that could not be saved holds in the session alone. */
function given({ behavior, rule, destination, problem }: FactData["rule.added"]): Rule {
  return { behavior, text: rule, source: problem === undefined ? destination : "session" };
}

/** The mode of a session, from all of its facts. */
export function modeOf(facts: readonly Fact[]): SessionMode {
  const chosen = facts.findLast((fact) => fact.type === "mode.chosen");
  return chosen?.type === "mode.chosen" ? chosen.data.mode : "ask";
}

/** With this fact a process begins an attempt at a turn, or another attempt. */
export function beginsAttempt(fact: Fact): boolean {
  return fact.type === "state.changed" && fact.data.from.state === "initializing";
}

/** Background commands of a session, and those whose end the model was told about. */
export function tasksIn(facts: readonly Fact[]): { tasks: BackgroundTask[]; told: Set<string> } {
  const tasks = new Map<string, BackgroundTask>();
  const told = new Set<string>();
  for (const fact of facts) {
    if (fact.type === "call.finished" && fact.data.background) tasks.set(fact.data.background.id, fact.data.background);
    if (fact.type === "model.replied") for (const { id } of fact.data.ended ?? []) told.add(id);
  }
  return { tasks: [...tasks.values()], told };
}
