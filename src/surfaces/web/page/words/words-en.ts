import { slashTexts } from "../../../../texts/surfaces/slash.ts";
import { panelTexts } from "../../../../texts/surfaces/terminal-panels.ts";
import { texts } from "../../../../texts/shared/texts.ts";
import { webTexts } from "../../../../texts/surfaces/web.ts";

export const words = {
  lang: "en",
  t: texts("en"),
  panel: panelTexts("en"),
  web: webTexts("en"),
  slash: slashTexts("en"),
} as const;
