import type { Fact } from "./fact.ts";

/** The newest message that this fact shows to have been in a prompt, by its seq; 0 where it says nothing about messages. */
export function seenBy(fact: Fact): number {
  if (fact.type === "turn.ended") return fact.data.sawUpTo ?? 0;
  return fact.type === "turn.begun" || fact.type === "model.replied" ? fact.data.sawUpTo : 0;
}

/** Messages that no turn has taken up and no reply has seen, oldest first. `seen`: how far earlier facts have seen. */
export function unseenMessages(facts: readonly Fact[], seen = 0): Fact<"user.said">[] {
  const upTo = facts.reduce((most, fact) => Math.max(most, seenBy(fact)), seen);
  return facts.filter((fact): fact is Fact<"user.said"> => fact.type === "user.said" && fact.seq > upTo);
}
