import {
  callEndOf,
  callsOf,
  oneLine,
  prose,
  textOf,
  type Call,
  type Cost,
  type Delta,
  type Fact,
  type FactData,
  type OutcomeStatus,
  type Resolution,
  type Sender,
  type ToolInput,
  type TurnEnd,
} from "../../protocol/index.ts";
import type { Style } from "./paint.ts";
import { createLive } from "./live.ts";
import { ending, headline, stopReason, whoOf } from "../../texts/resolution.ts";
import { clipped, folded, framed } from "./safe.ts";

/** What to write: text that goes on where the last one stopped, or lines of their own. */
export type Piece = { stream: string } | { lines: string[] };

export type View = {
  /** What to show on attaching: the last turn whole, the ones before it as a number. */
  history(facts: readonly Fact[]): Piece[];
  fact(fact: Fact): Piece[];
  delta(delta: Delta): Piece[];
};

const RESULT_ROWS = 6;

/** Turns what happens into text. `isEchoed` knows the messages that stand on the screen already, as they were typed there. */
export function createView(style: Style, isEchoed: (key: string) => boolean, me?: Sender): View {
  const { t, paint } = style;
  const streamed = new Map<string, { attempt: number; text: string }>();
  const calls = new Map<string, Call>();
  const asked = new Set<string>();
  const answered = new Set<string>();
  const unfinished = new Set<string>();
  const refused = new Set<string>();
  const live = createLive(style, RESULT_ROWS);
  /** The turn was stopped: that a call did not run for it is no news. */
  let stopped = false;
  let early: Delta[] = [];
  let shownCall = "";

  const stream = ({ key, attempt, text }: Delta): Piece[] => {
    const sofar = streamed.get(key) ?? { attempt, text: "" };
    if (attempt < sofar.attempt) return [];
    const restarted = attempt > sofar.attempt;
    streamed.set(key, { attempt, text: restarted ? text : sofar.text + text });
    const note = restarted && sofar.text !== "" ? [{ lines: [paint.yellow(t.startsAgain)] }] : [];
    return [...note, { stream: prose(text) }];
  };

  const callLine = (key: string, { tool, input, malformed }: Call): string => {
    shownCall = key;
    const indent = key.includes("/sub/") ? "  " : "";
    const summary = clipped(
      malformed ?? summaryOf(input),
      style.width && style.width - tool.length - 4 - indent.length,
    );
    return `${indent}${paint.cyan("●")} ${paint.bold(oneLine(tool))} ${summary}`;
  };

  const replied = ({ key, data }: Fact<"model.replied">): Piece[] => {
    const whole = textOf(data);
    const sofar = streamed.get(key)?.text ?? "";
    streamed.delete(key);
    const pieces: Piece[] = [];
    if (whole.startsWith(sofar)) pieces.push({ stream: prose(whole.slice(sofar.length)) });
    else pieces.push({ lines: [t.startsAgain] }, { stream: prose(whole) });
    const step = key.slice(0, -"model".length);
    const lines = callsOf(data).flatMap((call, n) => {
      calls.set(`${step}${n}`, call);
      if (!step.includes("/sub/")) unfinished.add(`${step}${n}`);
      return isQuestion(call) ? [] : [callLine(`${step}${n}`, call)]; // the question itself is shown
    });
    return key.includes("/sub/") ? [{ lines }] : [...pieces, { lines }];
  };

  const finished = ({ key, data }: Fact<"call.finished">): Piece[] => {
    const at = key.replace(/\/[^/]*$/, "");
    const call = calls.get(at);
    unfinished.delete(at);
    // What a person answered was shown as their answer.
    if (!call || asked.has(at)) return [];
    const head = shownCall === at ? [] : [callLine(at, call)];
    if (at.includes("/sub/")) return [{ lines: head }];
    if (stopped && callEndOf(data) === "not-run") return [];
    const no = paint.red(`  ✗ ${refused.has(at) ? t.refused : t.standing.failed}`);
    // Who said no, and why, was shown with the answer.
    if (refused.has(at) && answered.has(at)) return head.length > 0 ? [{ lines: [...head, no] }] : [];
    const whole = data.text.trim() === "" ? [] : folded(data.text, RESULT_ROWS, style);
    const result = live.rest(at, whole).map(paint.dim);
    return [{ lines: [...head, ...(data.ok ? [] : [no]), ...result] }];
  };

  const output = (delta: Delta): Piece[] => {
    const at = delta.key.replace(/\/[^/]*$/, "");
    const call = calls.get(at);
    if (!call || !unfinished.has(at)) return [];
    const rows = live.more(at, delta).map(paint.dim);
    return rows.length === 0 ? [] : [{ lines: [...(shownCall === at ? [] : [callLine(at, call)]), ...rows] }];
  };

  const judged = ({ key, data }: Fact<"calls.judged">): void => {
    const step = key.replace(/judged$/, "");
    if (step !== key)
      for (const [n, one] of data.verdicts.entries()) if (one.behavior === "deny") refused.add(`${step}${n}`);
  };

  const resolved = ({ key, data }: Fact<"input.resolved">): void => {
    const at = key.replace(/\/[^/]*$/, "");
    if (data.outcome === "cancelled") stopped = true;
    if (data.outcome !== "answered" || data.response.type !== "denied") return;
    refused.add(at);
    answered.add(at);
  };

  const isMe = ({ by, surface }: Sender) => by === me?.by && surface === me.surface;

  const show = (fact: Fact): Piece[] => {
    const line = (...lines: string[]): Piece[] => [{ lines }];
    switch (fact.type) {
      case "user.said":
        if (isEchoed(fact.key)) return [];
        return line(
          "",
          paint.bold(isMe(fact.data) ? t.youSaid : t.says(oneLine(fact.data.by))),
          ...framed(fact.data.text, style),
          "",
        );
      case "model.replied":
        return replied(fact);
      case "call.finished":
        return finished(fact);
      case "call.unknown":
        return line(paint.yellow(`  ${t.unknownEnd(oneLine(fact.data.reason))}`));
      case "input.requested":
        if (fact.data.kind !== "permission") asked.add(fact.key.replace(/\/[^/]*$/, ""));
        return [];
      case "input.resolved":
        resolved(fact);
        return line(paint.dim(headline(fact.data, t, me)));
      case "rule.added":
        return line(ruleLine(fact.data, style));
      case "context.compacted":
        return fact.key.includes("/sub/")
          ? []
          : line(paint.dim(t.compacted(fact.data.tokens.before, fact.data.tokens.after)));
      case "turn.interrupted":
        stopped = true;
        return line(paint.yellow((fact.data.to === "pause" ? t.interrupted : t.stopping)(whoOf(fact.data, t, me))));
      case "turn.ended":
        return line(...outcomeLines(fact.data, style));
      case "calls.judged":
        judged(fact);
        return [];
      case "turn.begun":
        stopped = false;
        return [];
      case "model.chosen":
        return line(paint.dim(t.modelChosen(oneLine(fact.data.model), whoOf(fact.data, t, me))));
      case "session.opened":
      case "session.titled":
      case "session.removed":
      case "state.changed":
      case "call.started":
      case "draft.saved":
        return [];
      default:
        return fact satisfies never;
    }
  };

  return {
    history(facts) {
      const start = lastTurn(facts);
      const before = facts.slice(0, start).filter(({ type }) => type === "turn.ended").length;
      return [...(before > 0 ? [{ lines: [paint.dim(t.earlier(before))] }] : []), ...facts.slice(start).flatMap(show)];
    },
    fact(fact) {
      const pieces = show(fact);
      if (fact.type === "turn.ended") unfinished.clear();
      if (fact.type === "turn.ended" || fact.type === "user.said") stopped = false;
      if (early.length === 0 || unfinished.size > 0) return pieces;
      const waiting = early;
      early = [];
      return [...pieces, ...waiting.flatMap(stream)];
    },
    delta(delta) {
      if (delta.kind === "notice") return [{ lines: [paint.yellow(oneLine(delta.text))] }];
      if (delta.kind === "output") return output(delta);
      if (delta.kind !== "text" || delta.key.includes("/sub/")) return [];
      // Text is told as it comes, results once they are on disk: a quick reply may overtake what it replies to.
      if (unfinished.size === 0) return stream(delta);
      early.push(delta);
      return [];
    },
  };
}

/** Where the open turn begins, or the last one if none is open. */
function lastTurn(facts: readonly Fact[]): number {
  const ends = facts.flatMap(({ type }, n) => (type === "turn.ended" ? [n + 1] : []));
  const open = ends.at(-1) ?? 0;
  return facts.slice(open).some(({ type }) => type === "user.said" || type === "turn.begun")
    ? open
    : (ends.at(-2) ?? 0);
}

function isQuestion({ input }: Call): boolean {
  return Array.isArray(input["questions"]);
}

/** What a call is about, in the words a rule would use. */
export function summaryOf(input: ToolInput): string {
  for (const field of ["command", "file_path", "path", "pattern", "url", "query", "prompt"]) {
    const value = input[field];
    if (typeof value === "string") return value;
  }
  return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
}

export function outcomeLines(end: TurnEnd | (OutcomeStatus & { status: "error" }), style: Style): string[] {
  const { t, paint } = style;
  switch (end.status) {
    case "success": {
      const tokens = end.usage.inputTokens + end.usage.outputTokens;
      return [paint.dim(t.done(end.stats.toolCalls, tokens, t.duration(end.stats.durationMs), dollars(end.cost)))];
    }
    case "cancelled":
      return [paint.yellow(t.turnCancelled(stopReason(end.reason, t)))];
    case "paused":
      return [paint.yellow(t.turnPaused(stopReason(end.reason, t)))];
    case "max-steps":
      return [paint.yellow(t.turnMaxSteps(end.steps))];
    case "needs-input":
      return [paint.yellow(t.turnNeedsInput)];
    case "error": {
      const [first = "", ...more] = end.error.message.split("\n");
      return [paint.red(t.turnFailed(oneLine(first))), ...(more.length > 0 ? framed(more.join("\n"), style) : [])];
    }
    default:
      return end satisfies never;
  }
}

/** Cents matter on a small turn, and nothing below them on a large one. */
function dollars(cost: Cost | undefined): string {
  return cost ? `$${cost.usd.toFixed(cost.usd < 1 ? 4 : 2)}` : "";
}

/** Where a rule went, or why it is kept nowhere. */
export function ruleLine({ rule, saved, problem }: FactData["rule.added"], { t, paint }: Style): string {
  if (problem !== undefined) return paint.yellow(t.ruleNotSaved(oneLine(rule), oneLine(problem)));
  return paint.dim(t.ruleAdded(oneLine(rule), saved && oneLine(saved)));
}

/** For the person who answered just now. */
export function recorded(resolution: Resolution, { t, paint }: Style): string {
  return paint.green(`✓ ${t.recorded}: ${oneLine(ending(resolution, t))}`);
}
