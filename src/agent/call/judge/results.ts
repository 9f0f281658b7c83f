import type { Stopped } from "../../../journal/session/session.ts";
import { canonicalJson } from "../../../base/canonical-json.ts";
import type { CallEnd, ToolInput } from "../../../protocol/facts/call.ts";
import type { Call, ToolResult } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import type { Resolution } from "../../../protocol/facts/request.ts";
import { type Reason, reasonOf } from "../../../protocol/reasons/reason.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import type { Tools } from "../../state/context.ts";
import { checkedInput } from "./decision-input.ts";
import { commentIn, type CallOver, type CallState } from "./call-state.ts";

/** The result of a call that is over without having run. */
export function resultWithoutRun(context: Tools, call: Call, end: Exclude<CallOver, { how: "ran" }>): ToolResult {
  switch (end.how) {
    case "refused":
      return withContext(withChange(refused(end.verdict), call, end.verdict), end.verdict);
    case "not-approved":
      return notApproved(end.resolution);
    case "answered": {
      const tool = context.config.tools.get(call.tool);
      if (!tool?.answered) return notApproved(end.resolution);
      return withEnd(tool.answered(checkedInput(context, tool, call, end.verdict), end.resolution), "not-run");
    }
    default:
      return end satisfies never;
  }
}

export function redacted(result: ToolResult, redact: (text: string) => string): ToolResult {
  const { change, shown } = result;
  const lines = change?.lines.map((line) => ({ ...line, text: redact(line.text) }));
  const forPeople = redact(result.text.slice(0, shown?.characters));
  const rest = shown ? redact(result.text.slice(shown.characters)) : "";
  const notes = shown?.notes?.map((note) => redactedReason(note, redact));
  return {
    ...result,
    text: forPeople + rest,
    ...(shown && { shown: { characters: forPeople.length, ...(notes && { notes }) } }),
    ...(change && lines && { change: { ...change, lines } }),
  };
}

function redactedReason(note: Reason, redact: (text: string) => string): Reason {
  const args = Object.entries(note.args).map(([name, value]) => [
    name,
    typeof value === "string" ? redact(value) : value,
  ]);
  return { ...note, args: Object.fromEntries(args) };
}

export function failureText(tool: string, error: unknown): string {
  return `${tool} failed: ${sentence(reasonOf(error), "en")}`;
}

/** Adds words that are for the model alone. */
export function advised(result: ToolResult, advice: string): ToolResult {
  return { ...result, text: `${result.text}\n${advice}`, shown: { characters: result.text.length, ...result.shown } };
}

/** Plain about what happened, so that nothing can be taken for consent. */
export function refused(verdict: Verdict): ToolResult {
  if (verdict.failure !== undefined) return { ok: false, text: verdict.failure, end: "failed" };
  const rule = verdict.rule ? " Leave this undone or ask; do not reach the same end another way." : "";
  return didNotRun(`${sentence(verdict.reason, "en").replace(/\.$/, "")}.${rule}`, refusedEnd(verdict));
}

function refusedEnd({ repeated, digest, reason }: Verdict): CallEnd {
  if (repeated) return "refused-by-person";
  // Without a digest it was no call at all: there is no such tool, or its input does not fit.
  // The mode holds it back for now, and no rule does.
  return digest === "" || reason.code === "plan-mode" ? "not-run" : "refused-by-rule";
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
      return didNotRun(
        `${sentence(resolution.reason, "en")}. Silence is not consent.${quote("Default reason", resolution.response?.type === "denied" ? resolution.response.reason : undefined)}`,
      );
    case "cancelled": {
      const why = sentence(resolution.reason, "en");
      return didNotRun(resolution.reason.code === "read-now" ? `${why}.` : `the turn was cancelled (${why}).`);
    }
    case "no_surface":
      return didNotRun(`it needs a person's approval, and ${sentence(resolution.reason, "en")}.`);
    case "superseded":
      if (resolution.reason.code === "withdrawn-by-agent")
        return didNotRun("you took this request back after a person had asked about it. Go on as you said you would.");
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
  if (stopped?.reason.code === "read-now") return didNotRun(`${sentence(stopped.reason, "en")}.`);
  return didNotRun(`${because[stopped?.why ?? "interrupted"]} before it started.`);
}

/** The person's word on a call that never came to run is told all the same. */
export function stoppedBefore(error: Stopped, call: Call, state: CallState): ToolResult {
  const result = withTalk(withComment(notRun(error), commentIn(state)), state.talk);
  return "verdict" in state ? withChange(result, call, state.verdict) : result;
}

export function withEnd(result: ToolResult, otherwise: CallEnd): ToolResult {
  const failure = result.end === "unknown" ? result.end : otherwise;
  return { ...result, end: result.ok ? "done" : failure };
}

export function withContext(result: ToolResult, { context }: Verdict): ToolResult {
  return context ? advised(result, context.join("\n")) : result;
}

/** Tells the model what ran in the place of what it sent. */
export function withChange(result: ToolResult, call: Call, { input, changed }: Verdict): ToolResult {
  if (input === undefined || changed === undefined || canonicalJson(input) === canonicalJson(call.input)) return result;
  const who = changed.by === "hook" ? "A hook of the person" : "The person";
  const advice = `(${who} changed this call. In the place of what you sent: ${describeDifference(input, call.input)})`;
  return { ...advised(result, advice), ran: { input, changed } };
}

const MAX_FIELD_LENGTH = 4_000;

/** The fields that are not as they were sent, each as JSON. */
function describeDifference(ran: ToolInput, sent: ToolInput): string {
  const fields = [...new Set([...Object.keys(ran), ...Object.keys(sent)])];
  const changes = fields.flatMap((field) => {
    const value = canonicalJson(ran[field]);
    if (value === canonicalJson(sent[field])) return [];
    if (ran[field] === undefined) return [`${field} left out`];
    const more = value.length - MAX_FIELD_LENGTH;
    return [`${field} = ${more > 0 ? `${value.slice(0, MAX_FIELD_LENGTH)} … and ${more} more characters` : value}`];
  });
  return changes.join(", ");
}

/** The person's own words, marked as theirs, in the result of the same call. */
export function withComment(result: ToolResult, comment: string | undefined): ToolResult {
  return comment?.trim() ? advised(result, `The person approved this and said: "${comment}"`) : result;
}

/** Questions that people asked about the call before it was decided, with the replies. */
export function withTalk(result: ToolResult, talk: string | undefined): ToolResult {
  return talk === undefined ? result : { ...result, text: `${result.text}\n${talk}` };
}

function quote(lead: string, words: string | undefined): string {
  return words?.trim() ? ` ${lead}: "${words}"` : "";
}

function didNotRun(why: string, end: CallEnd = "not-run"): ToolResult {
  return { ok: false, text: `Not run: ${why}`, end };
}
