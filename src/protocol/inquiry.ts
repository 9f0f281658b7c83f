import type { Fact } from "./fact.ts";
import { withoutEnd } from "./key.ts";
import type { ToolInput, Usage } from "./message.ts";
import type { Reason } from "./reason.ts";

/** A person asks about an open request instead of answering it. The request stays open, and so does its deadline. */
export type InquiryMade = {
  requestId: string;
  /** Id of this inquiry, below its request: the same message that arrives twice is one inquiry. */
  inquiry: string;
  text: string;
  by: string;
  surface: string;
};

/** The agent's reply to an inquiry. Nothing in it answers the request: only a person does. */
export type InquiryReplied = {
  requestId: string;
  inquiry: string;
  /** Empty when there is none. */
  text: string;
  /** Why there is no reply. */
  problem?: Reason;
  /** Files and folders that it looked at for the reply, in order; `ok` is false for a look that was refused or failed. */
  looks: { tool: string; input: ToolInput; ok: boolean }[];
  model: string;
  usage: Usage;
  /** Replies of the model that it took. */
  modelCalls: number;
  /** The list price, where it is known. */
  cost?: { usd: number };
  /** The agent takes its request back, and why: the request ends as superseded. */
  withdraws?: string;
};

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
  return before.map((one) => (one.made.inquiry === data.inquiry ? { ...one, reply: { ...data, at } } : one));
}

/** Inquiries that have no reply yet, oldest first. */
export function unrepliedIn(facts: readonly InquiryFact[]): Fact<"inquiry.made">[] {
  const replied = new Set(facts.flatMap(({ type, key }) => (type === "inquiry.replied" ? [withoutEnd(key)] : [])));
  return facts.filter((fact): fact is Fact<"inquiry.made"> => fact.type === "inquiry.made" && !replied.has(fact.key));
}
