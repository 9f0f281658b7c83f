import type { Fact } from "./fact.ts";
import type { Heard } from "./message.ts";

/** Seq of the newest message that, according to this fact, a prompt has contained; 0 if it says nothing about messages. */
export function seenBy(fact: Fact): number {
  return heardBy(fact)?.sawUpTo ?? 0;
}

function heardBy(fact: Fact): Partial<Heard> | undefined {
  switch (fact.type) {
    case "turn.begun":
    case "model.replied":
    case "reply.interrupted":
    case "turn.ended":
      return fact.data;
    default:
      return undefined;
  }
}

/** Follows the fate of people's messages, from the facts in their order. */
type Mail = {
  /** The model has seen messages up to this seq. */
  readonly sawUpTo: number;
  note(fact: Fact): void;
  /** A prompt decides it, once: it has read what it did not know withdrawn. Until then whoever takes the message back has done so. */
  fateOf(seq: number): "waiting" | "read" | "withdrawn";
};

/** `seen`: how far earlier facts have seen. */
export function createMail(seen = 0): Mail {
  let sawUpTo = seen;
  let asked: Set<number> | undefined;
  let leftOut: Set<number> | undefined;
  return {
    get sawUpTo() {
      return sawUpTo;
    },
    note(fact) {
      if (fact.type === "message.withdrawn") (asked ??= new Set()).add(fact.data.message);
      const heard = heardBy(fact);
      if (heard === undefined) return;
      sawUpTo = Math.max(sawUpTo, heard.sawUpTo ?? 0);
      for (const seq of heard.without ?? []) (leftOut ??= new Set()).add(seq);
    },
    fateOf(seq) {
      if (leftOut?.has(seq)) return "withdrawn";
      if (seq <= sawUpTo) return "read";
      return asked?.has(seq) ? "withdrawn" : "waiting";
    },
  };
}

/** Messages that no turn has taken up, no reply has seen and nobody has taken back, oldest first. `seen`: how far earlier facts have seen. */
export function unseenMessages(facts: readonly Fact[], seen = 0): Fact<"user.said">[] {
  const mail = createMail(seen);
  for (const fact of facts) mail.note(fact);
  return facts.filter(
    (fact): fact is Fact<"user.said"> => fact.type === "user.said" && mail.fateOf(fact.seq) === "waiting",
  );
}
