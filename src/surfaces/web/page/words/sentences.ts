import { reasonFrom, type Reason } from "../../../../protocol/reasons/reason.ts";
import type { Lang } from "../../../../texts/language.ts";

type Sentence = (stored: Reason | string, lang: Lang) => string;

let table: Sentence | undefined;

/**
 * Stands in the place of `texts/reasons.ts` in the page's first file: the inbox needs no reasons, and they are as large as all other
 * words together. They come in a file of their own, right after it.
 */
export function sentence(stored: Reason | string, lang: Lang): string {
  if (table) return table(stored, lang);
  const { code, args } = reasonFrom(stored);
  return code === "said" ? String((args as { text?: unknown }).text) : "";
}

export async function loadSentences(lang: Lang): Promise<void> {
  table = (lang === "zh" ? await import("./reasons-zh.ts") : await import("./reasons-en.ts")).sentence;
}
