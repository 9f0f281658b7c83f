import type { TerminalActs } from "../../src/surfaces/terminal/index.ts";
import type { Lang } from "../../src/texts/language.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { slashTexts } from "../../src/texts/surfaces/slash.ts";
import type { SlashWords } from "../../src/view/slash/run.ts";

export function slashWords(lang: Lang): SlashWords {
  return { t: texts(lang), slash: slashTexts(lang) };
}

/** A screen whose caller can do these commands alone. */
export function actsOf(acts: Partial<TerminalActs>): TerminalActs {
  const none = undefined;
  return {
    ...{ resume: none, sessions: none, new: none, model: none, permissions: none, rewind: none, tasks: none },
    ...{ export: none },
    ...acts,
  };
}
