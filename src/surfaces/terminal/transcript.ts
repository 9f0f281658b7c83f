import {
  callEndOf,
  callsOf,
  oneLine,
  textOf,
  type Call,
  type Delta,
  type Fact,
  type Sender,
  type TurnEnd,
} from "../../protocol/index.ts";
import { headline, whoOf } from "../../texts/resolution.ts";
import type { Texts } from "../../texts/texts.ts";
import { finishedUpTo } from "./chunks.ts";
import { placeOf } from "../../view/progress.ts";

export type Tone = "dim" | "warn" | "danger" | "good";

export type CallState = "new" | "waiting" | "running" | "ok" | "failed" | "refused" | "unknown" | "stopped";

export type CallItem = {
  type: "call";
  at: string;
  call: Call;
  state: CallState;
  /** It runs, or ran. */
  since?: number;
  until?: number;
  /** What it has printed so far, the end of it. */
  output: string;
  attempt: number;
  result?: string;
  /** Who let it run, or did not. */
  answer?: string;
  /** Calls of the subagent that it runs, in order. */
  inner: { at: string; call: Call; failed?: boolean }[];
};

export type TextItem = { type: "text"; key: string; text: string; done: boolean };
export type ThoughtItem = { type: "thought"; key: string; text: string; done: boolean; since: number; until?: number };

/** Foreign text: behind a margin. */
export type BoxItem = { type: "box"; title: string; text: string; note?: string; done: boolean };

/** One thing that happened. `gap`: something else came before it. */
export type Item = { gap: boolean } & (
  | { type: "said"; by: string | undefined; text: string }
  | TextItem
  | ThoughtItem
  | CallItem
  | { type: "note"; tone: Tone; lines: string[] }
  | { type: "end"; end: TurnEnd }
  | BoxItem
);

type NewItem = Item extends infer I ? (I extends Item ? Omit<I, "gap"> : never) : never;

export type Transcript = {
  /** What to show on attaching: the last turn whole, the ones before it as a number. */
  history(facts: readonly Fact[]): void;
  fact(fact: Fact): void;
  delta(delta: Delta): void;
  /** `apart`: it has nothing to do with what stands above it. Gives the item, which may be changed while it is not done. */
  add<I extends NewItem>(item: I, options?: { apart: boolean }): I;
  note(tone: Tone, ...lines: string[]): void;
  /** What may still change. */
  live(): readonly Item[];
  /** Takes what changes no more from the beginning: it is drawn once and forgotten. */
  take(): Item[];
  /** The last calls with a result, for whoever wants to see all of it. */
  recent(): readonly CallItem[];
};

const LONGEST_OUTPUT = 64 * 1024;
const RECENT = 5;

export function createTranscript({ t, me, now }: { t: Texts; me: Sender; now(): number }): Transcript {
  let items: Item[] = [];
  let before: Item["type"] | undefined;
  const streamed = new Map<string, { attempt: number; text: string; taken: number }>();
  const calls = new Map<string, CallItem>();
  const refused = new Set<string>();
  const recent: CallItem[] = [];
  /** The turn was stopped: that a call did not run for it is no news. */
  let stopped = false;

  const add: Transcript["add"] = (item, { apart } = { apart: item.type === "said" || item.type === "text" }) => {
    const together = before === item.type || (before === "call" && item.type === "note");
    const added = { ...item, gap: before !== undefined && (apart || !together) };
    items.push(added);
    before = item.type;
    return added;
  };
  const note = (tone: Tone, ...lines: string[]): void => {
    if (lines.length > 0) add({ type: "note", tone, lines });
  };
  const rootOf = (at: string) => at.split("/sub/")[0] ?? at;
  const textItem = (key: string): TextItem | undefined =>
    items.findLast((item) => item.type === "text" && item.key === key) as TextItem | undefined;

  const openText = (key: string): TextItem => {
    const found = textItem(key);
    if (found && !found.done) return found;
    return add({ type: "text", key, text: "", done: false });
  };

  const closeThoughts = (): void => {
    for (const item of items)
      if (item.type === "thought" && !item.done) Object.assign(item, { done: true, until: now() });
  };

  const text = ({ key, attempt, text: piece }: Delta): void => {
    const sofar = streamed.get(key) ?? { attempt, text: "", taken: 0 };
    if (attempt < sofar.attempt) return;
    closeThoughts();
    if (attempt > sofar.attempt) restart(key, sofar.taken);
    const whole = attempt > sofar.attempt ? piece : sofar.text + piece;
    streamed.set(key, { attempt, text: whole, taken: attempt > sofar.attempt ? 0 : sofar.taken });
    openText(key).text += piece;
  };

  /** What has gone to the scrollback cannot be taken back; the rest can. */
  const restart = (key: string, taken: number): void => {
    items = items.filter((item) => !((item.type === "text" || item.type === "thought") && item.key === key));
    if (taken > 0) note("warn", t.startsAgain);
  };

  const thought = ({ key, text: piece }: Delta): void => {
    const open = items.findLast((one) => one.type === "thought" && one.key === key && !one.done);
    const item = (open ?? add({ type: "thought", key, text: "", done: false, since: now() })) as ThoughtItem;
    item.text += piece;
  };

  const replied = ({ key, data }: Fact<"model.replied">): void => {
    const step = key.slice(0, -"model".length);
    if (step.includes("/sub/")) {
      const parent = calls.get(rootOf(step));
      for (const [n, call] of callsOf(data).entries()) parent?.inner.push({ at: `${step}${n}`, call });
      return;
    }
    closeThoughts();
    const whole = textOf(data);
    const sofar = streamed.get(key);
    streamed.delete(key);
    if (sofar && !whole.startsWith(sofar.text)) restart(key, sofar.taken);
    const rest = sofar && whole.startsWith(sofar.text) ? whole.slice(sofar.text.length) : whole;
    if (rest !== "") openText(key).text += rest;
    const open = textItem(key);
    if (open) open.done = true;
    for (const [n, call] of callsOf(data).entries()) {
      if (isQuestion(call)) continue; // the question itself is shown
      const place = `${step}${n}`;
      calls.set(
        place,
        add<CallItem>({ type: "call", at: place, call, state: "new", output: "", attempt: 0, inner: [] }),
      );
    }
  };

  const finished = ({ key, data, at }: Fact<"call.finished">): void => {
    const place = placeOf({ key });
    const within = data.ok ? undefined : calls.get(rootOf(place))?.inner.find(({ at: inside }) => inside === place);
    if (within) within.failed = true;
    const item = calls.get(place);
    if (!item) return;
    const silent = stopped && callEndOf(data) === "not-run";
    item.until = at;
    item.result = silent ? "" : data.text;
    item.state = data.ok ? "ok" : silent ? "stopped" : refused.has(item.at) ? "refused" : "failed";
    recent.push(item);
    if (recent.length > RECENT) recent.shift();
  };

  const output = ({ key, attempt, text: piece }: Delta): void => {
    const item = calls.get(placeOf({ key }));
    if (!item || attempt < item.attempt) return;
    if (attempt > item.attempt) item.output = "";
    item.attempt = attempt;
    item.output = (item.output + piece).slice(-LONGEST_OUTPUT);
  };

  const judged = ({ key, data }: Fact<"calls.judged">): void => {
    const step = key.replace(/judged$/, "");
    if (step !== key)
      for (const [n, one] of data.verdicts.entries()) if (one.behavior === "deny") refused.add(`${step}${n}`);
  };

  const resolved = ({ key, data }: Fact<"input.resolved">): void => {
    const at = placeOf({ key });
    if (data.outcome === "cancelled") stopped = true;
    if (data.outcome === "answered" && data.response.type === "denied") refused.add(at);
    const item = calls.get(at);
    if (item?.state === "waiting") item.state = "new";
    if (item) item.answer = headline(data, t, me);
    else note("dim", headline(data, t, me));
  };

  const end = (data: TurnEnd): void => {
    for (const item of items) {
      if (item.type === "call" && isOpen(item.state)) item.state = "stopped";
      if (item.type === "text" || item.type === "thought") item.done = true;
    }
    streamed.clear();
    calls.clear();
    refused.clear();
    add({ type: "end", end: data });
  };

  const happened = (fact: Fact): void => {
    switch (fact.type) {
      case "user.said": {
        const mine = fact.data.by === me.by && fact.data.surface === me.surface;
        add({ type: "said", by: mine ? undefined : fact.data.by, text: fact.data.text });
        stopped = false;
        return;
      }
      case "model.replied":
        return replied(fact);
      case "calls.judged":
        return judged(fact);
      case "call.started": {
        const item = calls.get(placeOf(fact));
        if (item) Object.assign(item, { state: "running", since: fact.at });
        return;
      }
      case "call.finished":
        return finished(fact);
      case "call.unknown": {
        const item = calls.get(placeOf(fact));
        if (item) item.state = "unknown";
        return note("warn", t.unknownEnd(oneLine(fact.data.reason)));
      }
      case "input.requested": {
        const item = calls.get(placeOf(fact));
        if (item) item.state = "waiting";
        return;
      }
      case "input.resolved":
        return resolved(fact);
      case "rule.added": {
        const { rule, saved, problem } = fact.data;
        return problem === undefined
          ? note("dim", t.ruleAdded(oneLine(rule), saved && oneLine(saved)))
          : note("warn", t.ruleNotSaved(oneLine(rule), oneLine(problem)));
      }
      case "context.compacted":
        return fact.key.includes("/sub/")
          ? undefined
          : note("dim", t.compacted(fact.data.tokens.before, fact.data.tokens.after));
      case "turn.interrupted":
        stopped = true;
        for (const item of items) if (item.type === "text" || item.type === "thought") item.done = true;
        return note("warn", (fact.data.to === "pause" ? t.interrupted : t.stopping)(whoOf(fact.data, t, me)));
      case "turn.begun":
        stopped = false;
        return;
      case "turn.ended":
        return end(fact.data);
      case "model.chosen":
        return note("dim", t.modelChosen(oneLine(fact.data.model), whoOf(fact.data, t, me)));
      case "session.opened":
      case "session.titled":
      case "session.removed":
      case "state.changed":
      case "draft.saved":
        return;
      default:
        return fact satisfies never;
    }
  };

  return {
    add,
    note,
    fact: happened,
    live: () => items,
    recent: () => recent,
    history(facts) {
      const start = lastTurn(facts);
      const earlier = facts.slice(0, start).filter(({ type }) => type === "turn.ended").length;
      if (earlier > 0) note("dim", t.earlier(earlier));
      facts.slice(start).forEach(happened);
    },
    delta(delta) {
      if (delta.kind === "notice") note("warn", oneLine(delta.text));
      else if (delta.kind === "output") output(delta);
      else if (delta.key.includes("/sub/")) return;
      else if (delta.kind === "text") text(delta);
      else thought(delta);
    },
    take() {
      const open = items.findIndex((item) => !isFinal(item));
      const taken = items.splice(0, open < 0 ? items.length : open);
      const [first] = items;
      if (first?.type !== "text" || first.done) return taken;
      const upTo = finishedUpTo(first.text);
      if (upTo === 0) return taken;
      taken.push({ ...first, text: first.text.slice(0, upTo), done: true });
      const sofar = streamed.get(first.key);
      if (sofar) sofar.taken += upTo;
      items[0] = { ...first, text: first.text.slice(upTo), gap: true };
      return taken;
    },
  };
}

function isOpen(state: CallState): boolean {
  return state === "new" || state === "waiting" || state === "running";
}

function isFinal(item: Item): boolean {
  if (item.type === "call") return !isOpen(item.state);
  return item.type === "text" || item.type === "thought" || item.type === "box" ? item.done : true;
}

function isQuestion({ input }: Call): boolean {
  return Array.isArray(input["questions"]);
}

/** Where the open turn begins, or the last one if none is open. */
function lastTurn(facts: readonly Fact[]): number {
  const ends = facts.flatMap(({ type }, n) => (type === "turn.ended" ? [n + 1] : []));
  const open = ends.at(-1) ?? 0;
  return facts.slice(open).some(({ type }) => type === "user.said" || type === "turn.begun")
    ? open
    : (ends.at(-2) ?? 0);
}
