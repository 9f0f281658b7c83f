import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import { isInquiry, type InquiryFact } from "../../protocol/facts/inquiry.ts";
import type { Heard } from "../../protocol/facts/message.ts";
import { createMail } from "../../protocol/facts/unseen.ts";

/** The messages of a session as its owner holds them: what the next prompt hears, and what still waits. */
export type Mailbox = {
  /** Oldest first; the list grows while the session is open. */
  readonly said: Fact<"user.said">[];
  /** The model has seen messages up to this seq. */
  readonly sawUpTo: number;
  note(fact: Fact): void;
  /** Messages that no turn has taken up, no reply has seen and nobody has taken back. */
  unseen(): Fact<"user.said">[];
  /** True if there is a message after this seq that was not withdrawn in time. */
  saidSince(after: number): boolean;
  /** Messages for a new prompt, after one that contained messages up to this seq. */
  hear(after: number): Heard;
  /** Inquiries about requests and the replies to them; the list grows while the session is open. */
  readonly inquiries: readonly InquiryFact[];
  /** Told of each that comes from now on. */
  onInquiry(listener: (fact: InquiryFact) => void): void;
  clear(): void;
};

/** Facts about messages or inquiries; all others, the majority, are skipped. */
export const noted: ReadonlySet<FactType> = new Set([
  ...(["user.said", "message.withdrawn", "turn.begun", "model.replied", "turn.ended"] as const),
  ...(["reply.interrupted", "inquiry.made", "inquiry.replied"] as const),
]);

export function createMailbox(): Mailbox {
  let mail = createMail();
  const said: Fact<"user.said">[] = [];
  const inquiries: InquiryFact[] = [];
  let hears: ((fact: InquiryFact) => void) | undefined;
  return {
    said,
    inquiries,
    onInquiry: (listener) => void (hears = listener),
    get sawUpTo() {
      return mail.sawUpTo;
    },
    note(fact) {
      mail.note(fact);
      if (fact.type === "user.said") said.push(fact);
      else if (isInquiry(fact)) {
        inquiries.push(fact);
        hears?.(fact);
      }
    },
    unseen: () => said.filter(({ seq }) => mail.fateOf(seq) === "waiting"),
    saidSince: (after) => said.some(({ seq }) => seq > after && mail.fateOf(seq) !== "withdrawn"),
    hear(after) {
      if ((said.at(-1)?.seq ?? 0) <= after) return { sawUpTo: after };
      const newer = said.filter(({ seq }) => seq > after);
      const without = newer.map(({ seq }) => seq).filter((seq) => mail.fateOf(seq) === "withdrawn");
      return { sawUpTo: newer.at(-1)?.seq ?? after, ...(without.length > 0 && { without }) };
    },
    clear() {
      mail = createMail();
      said.length = inquiries.length = 0;
    },
  };
}
