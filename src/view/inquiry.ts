import { oneLine } from "../base/visible.ts";
import type { Inquired } from "../protocol/facts/inquiry.ts";
import type { Sender } from "../protocol/sender.ts";
import { whoOf } from "../texts/shared/resolution.ts";
import type { Texts } from "../texts/shared/texts.ts";
import type { Note } from "./note.ts";
import { dollars } from "./items/summary.ts";

/** The inquiry itself. */
export function madeNote({ made }: Inquired, t: Texts, me?: Sender): Note {
  const [first = "", ...more] = made.text.trim().split("\n");
  const line = t.inquired(oneLine(first), whoOf(made, t, me));
  return { tone: "dim", line, ...(more.length > 0 && { foreign: more.join("\n") }) };
}

/** The reply, or why there is none; undefined while it is pending. */
export function replyNote({ reply, over }: Inquired, t: Texts): Note | undefined {
  if (!reply) return over && { tone: "dim", line: t.inquiryOver };
  if (reply.problem) return { tone: "warn", line: t.inquiryFailed(oneLine(t.because(reply.problem))) };
  return { tone: "dim", line: t.inquiryReply(dollars(reply.cost)), foreign: reply.text };
}
