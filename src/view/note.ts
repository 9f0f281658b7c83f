import { oneLine } from "../base/visible.ts";
import type { FactData } from "../protocol/facts/fact.ts";
import type { OutcomeStatus, TurnEnd } from "../protocol/facts/outcome.ts";
import type { Sender } from "../protocol/sender.ts";
import { errorText, noticeText } from "../texts/shared/error.ts";
import { headline, whoOf } from "../texts/shared/resolution.ts";
import type { Texts } from "../texts/shared/texts.ts";
import { consentSoFar } from "./request/consent.ts";
import { madeNote, replyNote } from "./inquiry.ts";
import type { InquiryItem, Item } from "./transcript/item.ts";
import { dollars } from "./items/summary.ts";

export type Tone = "dim" | "warn" | "danger" | "good";

/** Sage's own words about something that happened, safe to draw. `foreign` belongs behind a margin. */
export type Note = { tone: Tone; line: string; foreign?: string };

/** Items shown as a single line in Sage's own words; undefined for all others. */
export function noteOf(item: Item, t: Texts, me?: Sender): Note | undefined {
  switch (item.type) {
    case "rule":
      return ruleNote(item, t, me && "/revoke");
    case "ruleRemoved":
      return { tone: "dim", line: t.ruleRemoved(oneLine(item.rule), whoOf(item, t, me)) };
    case "compacted":
      return { tone: "dim", line: t.compacted(item.tokens.before, item.tokens.after) };
    case "interrupted":
      // The end of a cancelled turn tells it.
      if (item.to === "cancel") return undefined;
      if (item.to === "now") return { tone: "dim", line: t.interruptedToRead(whoOf(item, t, me)) };
      return { tone: "warn", line: t.interrupted(whoOf(item, t, me)) };
    case "model":
      return { tone: "dim", line: t.modelChosen(oneLine(item.model), whoOf(item, t, me)) };
    case "rewound":
      return { tone: "warn", line: t.rewound(t.rewindWhat[item.what], `t${item.turn}`, whoOf(item, t, me)) };
    case "restored":
      return restoredNote(item, t);
    case "withdrawn":
      return item.late
        ? { tone: "warn", line: t.withdrawnLate }
        : { tone: "dim", line: t.withdrawn(oneLine(item.text), whoOf(item, t, me)) };
    case "mode":
      return { tone: "dim", line: t.modeChosen(t.modes[item.mode], whoOf(item, t, me)) };
    case "lost":
      return told("warn", t.unknownEnd, t.because(item.reason));
    case "notice":
      return { tone: "warn", line: oneLine(noticeText(item, t)) };
    case "asked":
      return item.resolution && { tone: "dim", line: headline(item.resolution, t, me, item.request) };
    case "inquiry":
      return inquiryNote(item, t, me);
    case "silence":
      return { tone: "warn", line: item.to === undefined ? t.reminded : t.escalated(oneLine(item.to)) };
    case "approved":
      return { tone: "good", line: consentSoFar(item, t, me) };
    case "end":
      return endNote(item.end, t);
    case "said":
    case "text":
    case "thought":
    case "call":
      return undefined;
    default:
      return item satisfies never;
  }
}

/** Question and reply in one, for surfaces that draw an item once. */
function inquiryNote(item: InquiryItem, t: Texts, me?: Sender): Note {
  const made = madeNote(item, t, me);
  const reply = replyNote(item, t);
  const below = [made.foreign, reply?.line, reply?.foreign].filter((text) => text !== undefined);
  return { tone: "dim", line: made.line, ...(below.length > 0 && { foreign: below.join("\n") }) };
}

function restoredNote({ restored, problems }: FactData["rewind.ended"], t: Texts): Note {
  const left = problems.map(({ path, problem }) => `${oneLine(path)}: ${t.restoreProblem[problem]}`);
  const line = t.restored(restored.length, problems.length);
  return left.length === 0 ? { tone: "dim", line } : { tone: "warn", line, foreign: left.join("\n") };
}

/** The place that a rule was saved in, or why it holds in its session alone. `back`: what takes it back, where this is read. */
export function ruleNote(
  { rule, saved, problem }: Pick<FactData["rule.added"], "rule" | "saved" | "problem">,
  t: Texts,
  back: string | undefined,
): Note {
  const way = back === undefined ? "" : t.takesBack(back);
  return problem === undefined
    ? { tone: "dim", line: `${t.ruleAdded(oneLine(rule), saved && oneLine(saved))}${way}` }
    : { tone: "warn", line: t.ruleNotSaved(oneLine(rule), oneLine(t.because(problem))) };
}

/** How a turn ended. */
export function endNote(end: TurnEnd | (OutcomeStatus & { status: "error" }), t: Texts): Note {
  switch (end.status) {
    case "success": {
      const { usage, stats, cost } = end;
      const tokens = usage.inputTokens + usage.outputTokens;
      return { tone: "dim", line: t.done(stats.toolCalls, tokens, t.duration(stats.durationMs), dollars(cost)) };
    }
    case "cancelled":
      return told("warn", t.turnCancelled, t.because(end.reason));
    case "paused":
      return told("warn", t.turnPaused, t.because(end.reason));
    case "incomplete":
      return { tone: "warn", line: t.turnIncomplete[end.lack] };
    case "max-steps":
      return { tone: "warn", line: t.turnMaxSteps(end.steps) };
    case "needs-input":
      return { tone: "warn", line: t.turnNeedsInput };
    case "error":
      return told("danger", t.turnFailed, errorText(end.error, t));
    default:
      return end satisfies never;
  }
}

/** A sentence with a text whose first line belongs into it; whatever follows is foreign. */
function told(tone: Tone, sentence: (text: string) => string, text: string): Note {
  const [first = "", ...more] = text.split("\n");
  return { tone, line: sentence(oneLine(first)), ...(more.length > 0 && { foreign: more.join("\n") }) };
}
