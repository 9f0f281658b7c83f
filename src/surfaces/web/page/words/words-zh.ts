import { slashTexts } from "../../../../texts/surfaces/slash.ts";
import { panelTexts } from "../../../../texts/surfaces/terminal-panels.ts";
import { texts } from "../../../../texts/shared/texts.ts";
import { webTexts } from "../../../../texts/surfaces/web.ts";

export const words = {
  lang: "zh",
  t: texts("zh"),
  panel: panelTexts("zh"),
  web: webTexts("zh"),
  slash: slashTexts("zh"),
} as const;
