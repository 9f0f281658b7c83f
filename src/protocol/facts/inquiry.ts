import type { Fact } from "./fact.ts";
import type { InquiryMade, InquiryReplied } from "./request.ts";
import { withoutEnd } from "../key.ts";

/** An inquiry, or the reply to one. */
export type InquiryFact = Fact<"inquiry.made" | "inquiry.replied">;

export function isInquiry(fact: Fact): fact is InquiryFact {
  return fact.type === "inquiry.made" || fact.type === "inquiry.replied";
}

/** An inquiry with its reply. `over`: the request ended before there was one. */
export type Inquired = {
  made: InquiryMade;
  reply?: InquiryReplied & { at: number };
  over?: true;
};

/** Inquiries about one request, oldest first, with this fact told as well. */
export function withInquiry(before: readonly Inquired[], { type, data, at }: InquiryFact): Inquired[] {
  if (type === "inquiry.made") return [...before, { made: data }];
  return before.map((earlier) =>
    earlier.made.inquiry === data.inquiry ? { ...earlier, reply: { ...data, at } } : earlier,
  );
}

/** Inquiries that have no reply yet, oldest first. */
export function unrepliedIn(facts: readonly InquiryFact[]): Fact<"inquiry.made">[] {
  const replied = new Set(facts.flatMap(({ type, key }) => (type === "inquiry.replied" ? [withoutEnd(key)] : [])));
  return facts.filter((fact): fact is Fact<"inquiry.made"> => fact.type === "inquiry.made" && !replied.has(fact.key));
}
