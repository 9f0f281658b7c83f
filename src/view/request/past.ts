import { oneLine } from "../../base/visible.ts";
import type { RulePreview, RuleTrial } from "../../protocol/host/past.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import { summaryOf } from "../items/summary.ts";

const MAX_NAMED_LENGTH = 60;

/** The past of a rule in one line; `sage permissions backtest` shows all of it. Empty where the call itself is all there is. */
export function trialLine({ calls, changed, against, surprising: [first] }: RuleTrial, t: Texts): string {
  if (calls < 2) return "";
  return t.past(calls, changed, against, against > 0 && first ? shortened(oneLine(summaryOf(first.input))) : "");
}

/** The meaning of rules that would be kept, in one line for the past and one for what is open. */
export function previewLines({ trials, opens }: RulePreview, t: Texts): string[] {
  return [...trials.map((trial) => trialLine(trial, t)), opens.length === 0 ? "" : t.opensToo(opens.length)].filter(
    Boolean,
  );
}

function shortened(text: string): string {
  const signs = [...text];
  return signs.length > MAX_NAMED_LENGTH ? `${signs.slice(0, MAX_NAMED_LENGTH - 1).join("")}…` : text;
}
