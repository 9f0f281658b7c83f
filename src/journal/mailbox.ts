import { createMail, type Fact, type Heard } from "../protocol/index.ts";

/** The messages of a session as its owner holds them: what the next prompt hears, and what still waits. */
export type Mailbox = {
  /** Oldest first; the list grows while the session is open. */
  readonly said: Fact<"user.said">[];
  /** The model has seen messages up to this seq. */
  readonly sawUpTo: number;
  note(fact: Fact): void;
  /** Messages that no turn has taken up, no reply has seen and nobody has taken back. */
  unseen(): Fact<"user.said">[];
  /** True when something was said after this seq that nobody took back in time. */
  saidSince(after: number): boolean;
  /** A prompt that is made now, after one that has heard so far, hears this. */
  hear(after: number): Heard;
  clear(): void;
};

export function createMailbox(): Mailbox {
  let mail = createMail();
  const said: Fact<"user.said">[] = [];
  return {
    said,
    get sawUpTo() {
      return mail.sawUpTo;
    },
    note(fact) {
      mail.note(fact);
      if (fact.type === "user.said") said.push(fact);
    },
    unseen: () => said.filter(({ seq }) => mail.fateOf(seq) === "waiting"),
    saidSince: (after) => said.some(({ seq }) => seq > after && mail.fateOf(seq) !== "withdrawn"),
    hear(after) {
      const newer = said.filter(({ seq }) => seq > after);
      const without = newer.map(({ seq }) => seq).filter((seq) => mail.fateOf(seq) === "withdrawn");
      return { sawUpTo: newer.at(-1)?.seq ?? after, ...(without.length > 0 && { without }) };
    },
    clear() {
      mail = createMail();
      said.length = 0;
    },
  };
}
