import { panelTexts } from "../../../texts/terminal-panels.ts";
import { texts } from "../../../texts/texts.ts";
import { webTexts } from "../../../texts/web.ts";

export const words = { lang: "zh", t: texts("zh"), panel: panelTexts("zh"), web: webTexts("zh") } as const;
