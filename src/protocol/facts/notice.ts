import { plainText, type Reason } from "../reasons/reason.ts";
import type { Delta } from "./fact.ts";

/** A notice as the part of a delta. Its readers make the sentence from the reason. */
export function noticeOf(why: Reason): Pick<Delta, "kind" | "text" | "reason"> {
  return { kind: "notice", text: plainText(why), reason: why };
}
