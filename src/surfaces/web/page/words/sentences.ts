import { reasonFrom, type Reason } from "../../../../protocol/reasons/reason.ts";
import type { Lang } from "../../../../texts/language.ts";

let table: ((stored: Reason | string, lang: Lang) => string) | undefined;

/** In place of `texts/reasons.ts`: the inbox needs no reasons, which are as large as all other words. They load right after it. */
export function sentence(stored: Reason | string, lang: Lang): string {
  if (table) return table(stored, lang);
  const { code, args } = reasonFrom(stored);
  return code === "said" ? String((args as { text?: unknown }).text) : "";
}

export async function loadSentences(lang: Lang): Promise<void> {
  table = (lang === "zh" ? await import("./reasons-zh.ts") : await import("./reasons-en.ts")).sentence;
}
