import { oneLine, prose } from "../../base/visible.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import type { Sender } from "../../protocol/sender.ts";
import { changeLine, ending, headline } from "../../texts/shared/resolution.ts";
import { madeNote, replyNote } from "../../view/inquiry.ts";
import { changeOf } from "../../view/items/change.ts";
import { resultOf, type ShownResult } from "../../view/items/result.ts";
import { saidText } from "../../view/items/said.ts";
import { briefOf, isAsking, isOver } from "../../view/items/summary.ts";
import { changeLines } from "../../view/lines/change.ts";
import { noteLines } from "../../view/lines/note.ts";
import type { Style } from "../../view/lines/paint.ts";
import { atMost, clipped, folded, framed } from "../../view/lines/safe.ts";
import { noteOf, type Note } from "../../view/note.ts";
import type { CallItem, InquiryItem, Item, SaidItem, TextItem } from "../../view/transcript/item.ts";

/** Output to write: text that continues where the last one stopped, or whole lines. */
export type Piece = { stream: string } | { lines: string[] };

export type View = {
  /** Items that are new or have changed. */
  draw(items: readonly Item[]): Piece[];
};

/** Facts that the person has seen already, or caused. */
type Known = {
  /** The message is already on the screen as typed. */
  isEchoed(key: string): boolean;
  /** The person answered it here and has seen the confirmation. */
  isAnswered(requestId: string): boolean;
  /** The person stops the turn from here: its consequences are shown once. */
  isCancelling(): boolean;
};

const RESULT_ROWS = 6;
const CHANGE_ROWS = 12;
const nothing: Known = { isEchoed: () => false, isAnswered: () => false, isCancelling: () => false };

/** Turns items into append-only text: an item is shown when it begins and when it ends. */
export function createView(style: Style, me?: Sender, known: Known = nothing): View {
  const { t, paint } = style;
  const heard = new WeakSet<SaidItem>();
  /** How much of a text was written. */
  const written = new WeakMap<TextItem, { restarts: number; length: number }>();
  const answered = new WeakSet<Resolution>();
  const inquiries = new WeakSet<InquiryItem>();
  /** Texts that came before the results they reply to. */
  const early = new Set<TextItem>();

  const draw = (item: Item): Piece[] => {
    switch (item.type) {
      case "said":
        return heard.has(item) ? [] : said(item);
      case "text":
        return item.within.length > 0 ? [] : text(item);
      case "thought":
        return [];
      case "call":
        return call(item);
      case "asked":
        return item.resolution ? answer(item.resolution, item.request) : [];
      case "inquiry":
        return inquiry(item);
      case "interrupted":
        return item.to === "cancel" && known.isCancelling() ? [] : note(noteOf(item, t, me));
      case "end":
        open.clear();
        return item.end.status === "cancelled" && known.isCancelling()
          ? note({ tone: "warn", line: t.youCancelled })
          : note(noteOf(item, t, me));
      default:
        return note(noteOf(item, t, me));
    }
  };

  const inquiry = (item: InquiryItem): Piece[] => {
    const isNew = !inquiries.has(item);
    inquiries.add(item);
    return [...(isNew ? note(madeNote(item, t, me)) : []), ...note(replyNote(item, t))];
  };

  const said = (item: SaidItem): Piece[] => {
    heard.add(item);
    if (known.isEchoed(item.key))
      return item.images.length > 0 ? [{ lines: framed(saidText({ ...item, text: "" }, t), style) }] : [];
    const mine = item.sender.by === me?.by && item.sender.surface === me.surface;
    const who = mine ? t.youSaid : t.says(oneLine(item.sender.by));
    return [{ lines: ["", paint.bold(who), ...framed(saidText(item, t), style), ""] }];
  };

  const text = (item: TextItem): Piece[] => {
    if (open.size > 0) {
      early.add(item);
      return [];
    }
    const sofar = written.get(item) ?? { restarts: 0, length: 0 };
    const again = item.restarts > sofar.restarts;
    const from = again ? 0 : sofar.length;
    written.set(item, { restarts: item.restarts, length: item.text.length });
    const rest = prose(item.text.slice(from));
    return [...(again ? [{ lines: [paint.yellow(t.startsAgain)] }] : []), ...(rest === "" ? [] : [{ stream: rest }])];
  };

  const answer = (resolution: Resolution, request: InputRequest): Piece[] => {
    if (answered.has(resolution)) return [];
    answered.add(resolution);
    if (known.isAnswered(resolution.requestId)) return [];
    if (resolution.outcome === "cancelled" && known.isCancelling()) return [];
    return [{ lines: [paint.dim(headline(resolution, t, me, request))] }];
  };

  const { open, call } = createCallView(style, me, answer);
  const note = (shown: Note | undefined): Piece[] => (shown ? [{ lines: noteLines(shown, style) }] : []);

  return {
    draw(items) {
      const pieces = items.flatMap(draw);
      if (open.size > 0 || early.size === 0) return pieces;
      const waiting = [...early];
      early.clear();
      return [...pieces, ...waiting.flatMap(text)];
    },
  };
}

type CallView = {
  /** Calls of the root agent without a result. */
  open: Set<CallItem>;
  call(item: CallItem): Piece[];
};

/** A call: its head when it begins, output as it comes, then its result. The head is repeated after another call's. */
function createCallView(
  style: Style,
  me: Sender | undefined,
  answer: (resolution: Resolution, request: InputRequest) => Piece[],
): CallView {
  const { t, paint } = style;
  const live = createLive(style, RESULT_ROWS);
  const calls = new WeakMap<CallItem, "begun" | "ended">();
  const open = new Set<CallItem>();
  let shownCall: CallItem | undefined;

  const call = (item: CallItem): Piece[] => {
    const answers = item.asked.flatMap(({ request, resolution }) => (resolution ? answer(resolution, request) : []));
    const before = calls.get(item);
    const over = isOver(item);
    calls.set(item, over ? "ended" : "begun");
    if (item.within.length === 0 && !over) open.add(item);
    else open.delete(item);
    if (isAsking(item)) return answers;
    if (over) return [...answers, ...(before === "ended" ? [] : result(item))];
    return [...(before === undefined ? head(item) : []), ...answers, ...output(item)];
  };

  const head = (item: CallItem): Piece[] => {
    shownCall = item;
    const indent = item.within.length > 0 ? "  " : "";
    const { tool } = item.call;
    const room = style.width && style.width - tool.length - 4 - indent.length;
    const summary = clipped(briefOf(item), room);
    const changed = item.changed ? [paint.yellow(`${indent}  ${changeLine(item.changed, t, me)}`)] : [];
    return [{ lines: [`${indent}${paint.cyan("●")} ${paint.bold(oneLine(tool))} ${summary}`, ...changed] }];
  };

  const output = (item: CallItem): Piece[] => {
    const rows = item.within.length > 0 ? [] : live.more(item).map(paint.dim);
    return rows.length === 0 ? [] : [...(shownCall === item ? [] : head(item)), { lines: rows }];
  };

  const result = (item: CallItem): Piece[] => {
    const { standing, within } = item;
    // That nothing runs once the turn is stopped is no news.
    if (standing === "not-run" && (item.turnStopped || item.turnEnded)) return [];
    const good = standing === "done";
    const word = good ? [] : [paint.red(`${within.length > 0 ? "  " : ""}  ✗ ${t.standing[standing]}`)];
    if (within.length > 0) return good ? [] : [...head(item), { lines: word }];
    const change = good ? changeLines(changeOf(item), style) : [];
    const told = resultOf(item, t);
    const whole = told.text.trim() === "" ? [] : resultLines(told, style);
    const notes = told.notes.map((note) => `  ${oneLine(note)}`);
    const shown =
      change.length > 0 ? atMost(CHANGE_ROWS, change, style) : [...live.rest(item, whole), ...notes].map(paint.dim);
    const lines = [...word, ...shown];
    const again = shownCall !== item || item.changed !== undefined;
    return [...(again ? head(item) : []), { lines }];
  };

  return { open, call };
}

/** For the person who answered just now. */
export function recorded(resolution: Resolution, { t, paint }: Style): string {
  return paint.green(`✓ ${t.recorded}${t.colon}${oneLine(ending(resolution, t))}`);
}

/** The first rows; of an output that is kept elsewhere the last ones, how long it is, and where. */
function resultLines({ text, output }: ShownResult, style: Style): string[] {
  if (!output) return folded(text, RESULT_ROWS, style);
  const { t } = style;
  const where = output.file === undefined ? [] : [`  ${t.keptIn(oneLine(output.file))}`];
  return [
    `  ${t.keptOutput(output.lines)}`,
    ...where,
    ...framed(text.trimEnd().split("\n").slice(-RESULT_ROWS).join("\n"), style),
  ];
}

/** The first rows of what a command prints, as they come. A pipe gets the result alone. */
type Live = {
  /** Rows that are whole now and were not shown yet. */
  more(item: CallItem): string[];
  /** Rows of the result that are not on the screen yet. */
  rest(item: CallItem, rows: string[]): string[];
};

function createLive(style: Style, count: number): Live {
  const shown = new WeakMap<CallItem, { attempt: number; rows: string[] }>();
  return {
    more(item) {
      if (style.width === undefined) return [];
      const before = shown.get(item)?.attempt === item.attempt ? (shown.get(item)?.rows ?? []) : [];
      if (before.length >= count) return [];
      const whole = item.output.split("\n").slice(0, -1);
      const rows = whole.flatMap((line) => framed(line, style)).slice(before.length, count);
      shown.set(item, { attempt: item.attempt, rows: [...before, ...rows] });
      return rows;
    },
    rest(item, rows) {
      const before = shown.get(item)?.rows ?? [];
      // A tool may tidy its output up: then it is shown again rather than in part.
      return before.every((row, n) => row === rows[n]) ? rows.slice(before.length) : rows;
    },
  };
}
