import type { Delta } from "../../protocol/facts/fact.ts";
import { type Reason, reasonOf } from "../../protocol/reasons/reason.ts";
import type { Lang } from "../language.ts";
import { sentence } from "./sentence.ts";
import type { Texts } from "./texts.ts";

/** Whatever was thrown, as a sentence. Logs are in English. */
export function thrownText(error: unknown, lang: Lang = "en"): string {
  return sentence(reasonOf(error), lang);
}

/** An error in the reader's language, where its reason is known as data. */
export function errorText({ message, reason }: { message: string; reason?: Reason | undefined }, t: Texts): string {
  return reason ? t.because(reason) : message;
}

/** A notice in the reader's language. */
export function noticeText({ text, reason }: Pick<Delta, "text" | "reason">, t: Texts): string {
  return reason ? t.because(reason) : text;
}
