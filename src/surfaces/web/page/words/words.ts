import type { Lang } from "../../../../texts/language.ts";
import type { PanelTexts } from "../../../../texts/surfaces/terminal-panels.ts";
import type { WebTexts } from "../../../../texts/surfaces/web.ts";
import type { SlashWords } from "../../../../view/slash/run.ts";
import { loadSentences } from "./sentences.ts";

export type Words = SlashWords & { lang: Lang; panel: PanelTexts; web: WebTexts };

/** A browser fetches one language; the build takes the other one out of each file. `more` is called when reasons can be told too. */
export async function wordsIn(lang: Lang, more: (words: Words) => void): Promise<Words> {
  const { words } = lang === "zh" ? await import("./words-zh.ts") : await import("./words-en.ts");
  void loadSentences(lang).then(() => more({ ...words }));
  return words;
}
