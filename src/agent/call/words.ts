import type { StepScope } from "../../journal/durable.ts";
import type { Stopped } from "../../journal/session.ts";
import type { CallEnd, Reason, Resolution, ToolResult, Verdict } from "../../protocol/index.ts";
import { sentence } from "../../texts/reasons.ts";

/** What the model reads when a call did not run. Plain about what happened, so that nothing can be taken for consent. */
export function refused(verdict: Verdict): ToolResult {
  const rule = verdict.rule ? " Do not try to get round the rule; choose another way or ask." : "";
  return didNotRun(`${sentence(verdict.reason, "en")}.${rule}`, refusalOf(verdict));
}

function refusalOf({ repeated, digest }: Verdict): CallEnd {
  if (repeated) return "refused-by-person";
  // Without a digest it was no call at all: there is no such tool, or its input does not fit.
  return digest === "" ? "not-run" : "refused-by-rule";
}

export function notApproved(resolution: Resolution): ToolResult {
  switch (resolution.outcome) {
    case "answered":
    case "partial":
      if (resolution.by === "auto") return didNotRun(automatic(resolution), "refused-by-rule");
      return didNotRun(
        `the person refused it.${quote("Their reason", resolution.response.type === "denied" ? resolution.response.reason : undefined)}`,
        "refused-by-person",
      );
    case "declined":
      return didNotRun(
        `the person chose not to decide.${quote("Their words", resolution.reason && sentence(resolution.reason, "en"))}`,
      );
    case "timed_out":
      return didNotRun(`${sentence(resolution.reason, "en")}. Silence is not consent.`);
    case "cancelled":
      return didNotRun(`the turn was cancelled (${sentence(resolution.reason, "en")}).`);
    case "no_surface":
      return didNotRun(`it needs a person's approval, and ${sentence(resolution.reason, "en")}.`);
    case "superseded":
      return didNotRun(`${sentence(resolution.reason, "en")}.`);
    default:
      return resolution satisfies never;
  }
}

/** A responder's own words, or why this run answers as it does. */
function automatic({ reason, response }: Resolution & { outcome: "answered" | "partial" }): string {
  const own = response.type === "denied" ? response.reason : undefined;
  return `${reason ? sentence(reason, "en") : (own ?? "refused")}.`;
}

export function notRun(stopped: Stopped | undefined): ToolResult {
  const because = {
    interrupted: "the person interrupted",
    cancelled: "the turn was cancelled",
    timeout: "the turn's time was up",
    leaving: "Sage was closed",
  };
  return didNotRun(`${because[stopped?.why ?? "interrupted"]} before it started.`);
}

export function changedSince(): ToolResult {
  return didNotRun("what would run is not what was approved. Make the call again.");
}

export function withEnd(result: ToolResult, otherwise: CallEnd): ToolResult {
  return { ...result, end: result.ok ? "done" : otherwise };
}

export function withContext(result: ToolResult, { context }: Verdict): ToolResult {
  return context ? { ...result, text: [result.text, ...context].join("\n") } : result;
}

/** The person's own words, marked as theirs, in the result of the same call. */
export function withComment(result: ToolResult, comment: string | undefined): ToolResult {
  return comment
    ? { ...result, text: `${result.text}${quote("\nThe person approved this and said", comment)}` }
    : result;
}

function quote(lead: string, words: string | undefined): string {
  return words?.trim() ? ` ${lead}: "${words}"` : "";
}

function didNotRun(why: string, end: CallEnd = "not-run"): ToolResult {
  return { ok: false, text: `Not run: ${why}`, end };
}

/** A word to whoever watches; each reads it in their own language. */
export function notify(scope: StepScope, why: Reason): void {
  scope.delta("notice", sentence(why, "en"), why);
}
