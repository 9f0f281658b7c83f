import { panelTexts } from "../../../texts/terminal-panels.ts";
import { texts } from "../../../texts/texts.ts";
import { webTexts } from "../../../texts/web.ts";

export const words = { lang: "en", t: texts("en"), panel: panelTexts("en"), web: webTexts("en") } as const;
