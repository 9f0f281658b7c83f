import type { Delta } from "../../protocol/facts/fact.ts";
import { SageError, type SageErrorCode } from "../../protocol/reasons/error.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import { sentence } from "./sentence.ts";
import type { Texts } from "./texts.ts";

/** An error that people read: in English by its message, in their language by its reason. */
export function errorBecause(
  code: SageErrorCode,
  reason: Reason,
  options: { retryable?: boolean; cause?: unknown } = {},
): SageError {
  return new SageError(code, reason, { ...options, message: inEnglish(reason) });
}

/** Sentences may lie in a file that is read for the first of them: where no file can be opened any more, the code has to do. */
function inEnglish(reason: Reason): string {
  try {
    return sentence(reason, "en");
  } catch {
    return reason.code;
  }
}

/** An error in the reader's language, where its reason is known as data. */
export function errorText({ message, reason }: { message: string; reason?: Reason | undefined }, t: Texts): string {
  return reason ? t.because(reason) : message;
}

/** A notice in the reader's language. */
export function noticeText({ text, reason }: Pick<Delta, "text" | "reason">, t: Texts): string {
  return reason ? t.because(reason) : text;
}
