import type { Output } from "../../protocol/facts/call.ts";
import type { Standing } from "../../protocol/host/receipt.ts";
import { reasonFrom } from "../../protocol/reasons/reason.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { CallItem } from "../transcript/item.ts";
import { isApprovedPlan } from "./summary.ts";

/** A call's result as people read it. `text` is foreign, and so are names inside of `notes`, which are sentences of Sage's own. */
export type ShownResult = { text: string; notes: string[]; output?: Output };

const nothing: ShownResult = { text: "", notes: [] };
const notRun: readonly Standing[] = ["not-run", "refused-by-person", "refused-by-rule"];

/** Leaves out text for the model, and everything that a person's answer or the end of the turn already shows. */
export function resultOf(item: CallItem, t: Texts): ShownResult {
  const { result, verdict, asked, runs, standing, turnStopped } = item;
  if (!result || isApprovedPlan(item)) return nothing;
  if (turnStopped && runs.length === 0) return nothing;
  if (notRun.includes(standing) && asked.some(({ resolution }) => resolution)) return nothing;
  const why = verdict?.behavior === "deny" && runs.length === 0 ? t.because(reasonFrom(verdict.reason)) : "";
  if (why !== "") return { text: "", notes: lines(why) };
  const { text, shown, output } = result;
  return {
    text: shown ? text.slice(0, shown.characters) : text,
    notes: (shown?.notes ?? []).flatMap((note) => lines(t.because(note))),
    ...(output && { output }),
  };
}

/** The whole of it, to be read by itself. */
export function resultText(item: CallItem, t: Texts): string {
  const { text, notes } = resultOf(item, t);
  return [...(text === "" ? [] : [text]), ...notes].join("\n");
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}
