import { callOfKey } from "../key.ts";
import type { BackgroundTask } from "./call.ts";
import type { Fact, FactData } from "./fact.ts";
import type { RuleRemoval } from "./answer.ts";
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

/** Configured rules that stand in no file and were taken back: they mean nothing in this session. One that is given again counts again. */
export function setAside(facts: readonly Fact[]): RuleRemoval[] {
  const changes = facts.filter((fact) => fact.type === "rule.added" || fact.type === "rule.removed");
  return changes.reduce<RuleRemoval[]>((gone, fact) => changedAside(gone, fact), []);
}

export function changedAside(gone: RuleRemoval[], { type, data }: RuleChange): RuleRemoval[] {
  const { rule, destination = "session", behavior, saved, problem } = data;
  if (type === "rule.added")
    return gone.filter(
      (removal) => !isTakenBack({ text: rule, source: destination, behavior: data.behavior }, removal),
    );
  const isAside = destination !== "session" && saved === undefined && problem === undefined;
  return isAside ? [...gone, { rule, destination, ...(behavior && { behavior }) }] : gone;
}

/** The rules after one was added or removed. A rule whose removal failed is kept. */
export function changedRules(rules: readonly Rule[], change: RuleChange): readonly Rule[] {
  if (change.type === "rule.removed") {
    const { data } = change;
    return data.problem === undefined ? rules.filter((rule) => !isTakenBack(rule, data)) : rules;
  }
  const rule = given(change.data);
  const { text, source: destination, behavior } = rule;
  return [...rules.filter((earlier) => !isTakenBack(earlier, { rule: text, destination, behavior })), rule];
}

/** A text may be allowed in one place and denied in another: a removal means its own place, and its own behaviour where it names one. */
export function isTakenBack(
  { text, source, behavior }: Rule,
  gone: Pick<FactData["rule.removed"], "rule" | "destination" | "behavior">,
): boolean {
  return text === gone.rule && source === (gone.destination ?? "session") && behavior === (gone.behavior ?? behavior);
}

/** A rule that could not be saved holds in the session alone. */
function given({
  behavior,
  rule,
  destination,
  problem,
}: FactData["rule.added"]): Rule & { source: FactData["rule.added"]["destination"] } {
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

type Undoable = Fact<"rule.added"> | Fact<"rule.removed"> | Fact<"mode.chosen">;

/** The changes that came with one answer, or by hand at one time. `mode`: the one before it. */
export type Grant = { id: string; changes: Undoable[]; mode: SessionMode };

/** The newest change of rules, or to a mode that asks less, that nobody has taken back. */
export function undoable(facts: readonly Fact[]): Grant | undefined {
  const grants = new Map<string, Grant>();
  let mode: SessionMode = "ask";
  for (const fact of facts) {
    if (fact.type !== "rule.added" && fact.type !== "rule.removed" && fact.type !== "mode.chosen") continue;
    if (fact.data.undoes !== undefined) grants.delete(fact.data.undoes);
    else if (fact.type === "mode.chosen" ? fact.data.mode === "acceptEdits" : !isMoot(fact)) {
      // The call whose answer changed something; what was changed by hand stands by itself.
      const id = callOfKey(fact.key) ?? fact.key;
      const grant = grants.get(id) ?? { id, changes: [], mode };
      grants.set(id, { ...grant, changes: [...grant.changes, fact] });
    }
    if (fact.type === "mode.chosen") mode = fact.data.mode;
  }
  return [...grants.values()].at(-1);
}

/** A removal that found nothing to remove. A rule that could not be saved holds in the session. */
function isMoot({ type, data }: Fact<"rule.added"> | Fact<"rule.removed">): boolean {
  return type === "rule.removed" && data.problem !== undefined;
}
