import { oneLine } from "../../base/visible.ts";
import type { PastCall, RuleIdea, RuleTrial } from "../../protocol/host/past.ts";
import type { PastTexts } from "../../texts/setup/past.ts";
import { timeOf } from "../../texts/shared/resolution.ts";
import { summaryOf } from "../items/summary.ts";
import type { Style } from "./paint.ts";
import { clipped } from "./safe.ts";

/** `me`: the name of the reader. */
type Reader = { style: Style; w: PastTexts; me?: string | undefined };

/** A rule held against the past: how much it would have changed, and the calls that are worth a look. */
export function trialLines(trial: RuleTrial, reader: Reader): string[] {
  const { style, w } = reader;
  const { behavior, changed, against, surprising } = trial;
  if (changed === 0) return [`  ${w.none[behavior]}`];
  const summary = `  ${w.changed[behavior](changed)}`;
  return [
    against === 0 ? summary : `${summary} ${style.paint.yellow(w.against[behavior](against))}`,
    style.paint.dim(`  ${w.also}`),
    ...surprising.map((call) => callLine(call, reader)),
  ];
}

export function ideaLines(ideas: readonly RuleIdea[], reader: Reader): string[] {
  const { style, w } = reader;
  return ideas.flatMap(({ rules, spared, examples }) => [
    `  ${style.paint.bold(rules.map(oneLine).join("  "))}  ${w.spared(spared)}`,
    ...examples.map((call) => style.paint.dim(clipped(`    ${oneLine(summaryOf(call.input))}`, style.width))),
  ]);
}

function callLine(call: PastCall, { style, w, me }: Reader): string {
  const { asked, tool, input, at } = call;
  const when = timeOf(at);
  const by = asked?.by === undefined ? "" : asked.by === me ? w.you : oneLine(asked.by);
  const told = asked ? w.answered[asked.answer](by, when) : w.ran(when);
  const text = tool === "Bash" ? summaryOf(input) : `${tool} ${summaryOf(input)}`;
  const line = `${clipped(oneLine(text), style.width === undefined ? undefined : Math.max(20, style.width - 45))}  ${style.paint.dim(told)}`;
  return `    ${asked?.answer === "no" ? style.paint.yellow(line) : line}`;
}
