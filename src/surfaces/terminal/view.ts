import { endLine } from "../../view/request/delivery.ts";
import { oneLine } from "../../base/visible.ts";
import { agentOf, type Output } from "../../protocol/facts/call.ts";
import type { Call } from "../../protocol/facts/message.ts";
import type { Standing } from "../../protocol/host/receipt.ts";
import type { Sender } from "../../protocol/sender.ts";
import { changeLine } from "../../texts/shared/resolution.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { TerminalTexts } from "../../texts/surfaces/terminal.ts";
import { madeNote, replyNote } from "../../view/inquiry.ts";
import { changeOf } from "../../view/items/change.ts";
import { resultOf } from "../../view/items/result.ts";
import { saidText } from "../../view/items/said.ts";
import { briefOf, isAsking, summaryOf, todosOf, type Todo } from "../../view/items/summary.ts";
import { noteOf, type Note } from "../../view/note.ts";
import type { CallItem, InquiryItem, ThoughtItem } from "../../view/transcript/item.ts";
import { isOpen } from "../../view/transcript/standing.ts";
import { diffRows } from "./draw/diff.ts";
import { marginedMarkdown, markdownRows } from "./draw/markdown.ts";
import { clipped, listed, margined, own, wrap } from "./draw/rows.ts";
import type { Theme } from "./draw/theme.ts";
import { truncateToWidth, visibleWidth } from "./draw/tui.ts";
import type { Board, Entry } from "./screen/scroll.ts";

/** Theme, texts, reader and width that items are drawn with. */
export type View = {
  theme: Theme;
  t: Texts;
  tt: TerminalTexts;
  me: Sender;
  width: number;
  /** Output and thoughts are shown whole. */
  unfolded: boolean;
  now: number;
  /** The folder that paths are told from. */
  cwd?: string | undefined;
  /** Something that was still being loaded is there: draw again. */
  loaded(): void;
};

const FOLDED_ROWS = 6;
const SAID_LINES = 12;
const INNER_ROWS = 3;
/** While it still grows; what is finished is shown whole. */
const LIVE_LINES = 2_000;
const CHANGE_ROWS = 12;
const BOARD_ROWS = 5;

/** The rows of one entry. Column one and two are Sage's own; whatever is foreign stands to the right of them. */
export function rowsOf(entry: Entry, view: View): string[] {
  const rows = bodyOf(entry, view);
  return entry.gap && rows.length > 0 ? ["", ...rows] : rows;
}

function bodyOf({ item, from, upTo }: Entry, view: View): string[] {
  const { theme, t, me, width } = view;
  switch (item.type) {
    case "said": {
      const mine = item.sender.by === me.by && item.sender.surface === me.surface;
      return [
        ...(mine ? [] : [theme.bold(clipped(t.says(item.sender.by), width))]),
        ...saidRows(saidText(item, t), view),
      ];
    }
    case "text": {
      const text = item.text.slice(from, upTo);
      return text.trim() === "" ? [] : markdownRows(text, width, theme, view.loaded);
    }
    case "thought":
      return thoughtRows(item, view);
    case "reads":
      return readsRows(item.items, view);
    case "call":
      return isAsking(item) ? answerRows(item, view) : callRows(item, view);
    case "inquiry":
      return inquiryRows(item, view);
    case "note":
      return item.lines.flatMap((line) => listed(line, width, theme[item.tone]));
    case "box":
      return [
        theme.bold(clipped(item.title, width)),
        ...folded(item.text, view, { from: "end" }),
        ...(item.note === undefined ? [] : own(theme.dim(item.note), width, 2)),
      ];
    default: {
      const note = noteOf(item, t, me);
      return note ? noteRows(note, view) : [];
    }
  }
}

function noteRows({ tone, line, foreign }: Note, { theme, width }: View): string[] {
  const more = foreign === undefined ? [] : margined(foreign.split("\n"), { width, theme });
  return [...own(theme[tone](line), width, 2), ...more];
}

/** A question about a request, and the agent's reply laid out below it. */
function inquiryRows(item: InquiryItem, view: View): string[] {
  const { theme, t, me, width } = view;
  const reply = replyNote(item, t);
  const answer = reply?.foreign === undefined ? [] : marginedMarkdown(reply.foreign, view, "  ");
  return [
    ...noteRows(madeNote(item, t, me), view),
    ...(reply ? own(theme[reply.tone](`  ${reply.line}`), width, 4) : []),
    ...answer,
  ];
}

function thoughtRows(item: ThoughtItem, view: View): string[] {
  const { theme, t, tt, width } = view;
  const text = item.text.trim();
  if (item.done && text === "") return [];
  const time = item.since === undefined ? "" : t.duration((item.until ?? view.now) - item.since);
  const head = theme.dim(theme.italic(`∴ ${item.done ? tt.thought(time) : `${tt.thinking} (${time})`}`));
  if (view.unfolded) return [head, ...margined(text.split("\n"), { width, theme, paint: theme.dim })];
  const last = item.done ? "" : (text.split("\n").at(-1) ?? "");
  return [head, ...(last === "" ? [] : [`  ${theme.dim(clipped(tailOf(last, width - 4), width - 4))}`])];
}

/** The panel has shown the question; its answer stays. */
function answerRows(item: CallItem, { theme, t, me, width }: View): string[] {
  return endsOf(item, t, me).flatMap((end) => own(theme.dim(end), width, 2));
}

/** How its requests ended. Cancelled ones went with their turn, whose end is told. */
function endsOf({ asked }: CallItem, t: Texts, me: Sender): string[] {
  return asked.flatMap((each) => (each.resolution?.outcome === "cancelled" ? [] : (endLine(each, t, me) ?? [])));
}

function saidRows(text: string, { theme, tt, width, unfolded }: View): string[] {
  const lines = text.split("\n");
  const shown = unfolded || lines.length <= SAID_LINES + 1 ? lines : lines.slice(0, SAID_LINES);
  const rows = margined(shown, { width: width + 2, theme, paint: theme.bold }).map((row) => row.replace(/^ {2}/, ""));
  const left = lines.length - shown.length;
  return [
    ...rows.map((row, n) => (n === 0 ? row.replace("│", "❯") : row)),
    ...(left > 0 ? [theme.dim(`  ${tt.hidden(left)}`)] : []),
  ];
}

/** The end of a line that does not fit. */
function tailOf(line: string, room: number): string {
  const all = [...line];
  return all.length <= room ? line : `…${all.slice(-Math.max(4, Math.floor(room / 2))).join("")}`;
}

const marks: Record<Standing, string> = {
  new: "○",
  waiting: "◆",
  running: "●",
  done: "●",
  failed: "✗",
  "refused-by-rule": "✗",
  "refused-by-person": "✗",
  invalid: "✗",
  "not-run": "○",
  stopped: "○",
  unknown: "?",
};

const tones = {
  new: "dim",
  waiting: "warn",
  running: "accent",
  done: "good",
  failed: "danger",
  "refused-by-rule": "danger",
  "refused-by-person": "danger",
  invalid: "danger",
  "not-run": "dim",
  stopped: "dim",
  unknown: "warn",
} as const satisfies Record<Standing, string>;

const obvious: readonly Standing[] = ["new", "running", "done"];

function callRows(item: CallItem, view: View): string[] {
  const { theme, t, width, now, me } = view;
  const { call, standing, changed } = item;
  const tool = toolName(call, width);
  const took = item.since === undefined ? 0 : (item.until ?? now) - item.since;
  const words = [
    ...(obvious.includes(standing) ? [] : [t.standing[standing]]),
    ...(took >= 2_000 ? [t.duration(took)] : []),
  ];
  const tail = words.length > 0 ? t.aside("", words.join(t.comma)) : "";
  const room = width - 4 - visibleWidth(tool) - visibleWidth(tail);
  const brief = todosOf(item) ? view.tt.todosDone(...doneOf(todosOf(item) ?? [])) : briefOf(item, view.cwd);
  const summary = room > 4 ? clipped(brief, room) : "";
  const paint = theme[tones[standing]];
  const answers = endsOf(item, t, me);
  return [
    `${paint(marks[standing])} ${theme.bold(tool)} ${summary}${theme.dim(tail)}`,
    ...(changed ? own(theme.warn(`  ${changeLine(changed, t, me)}`), width, 4) : []),
    ...answers.flatMap((answer) => own(theme.dim(`  ${answer}`), width, 4)),
    ...detailRows(item, view),
  ];
}

/** Files that were read without a word share a line; each other read has its own. */
function readsRows(items: readonly CallItem[], view: View): string[] {
  const { theme, tt, width, cwd, unfolded } = view;
  const silent = items.filter(({ standing, asked, changed }) => standing === "done" && asked.length === 0 && !changed);
  const others = items.filter((item) => !silent.includes(item)).flatMap((item) => callRows(item, view));
  if (unfolded) return items.flatMap((item) => callRows(item, view));
  const files = [...new Set(silent.map((item) => briefOf(item, cwd)))];
  const [only] = files;
  if (only === undefined) return others;
  const head = files.length === 1 ? theme.bold("Read") : theme.bold(tt.reads(files.length));
  const names = clipped(files.join(", "), Math.max(4, width - 3 - visibleWidth(head)));
  return [`${theme.good(marks.done)} ${head} ${theme.dim(names)}`, ...others];
}

/** The agent's list, and subagents that run: they stand above the editor as long as they last. */
export function boardRows(
  { todos, tasks }: Board,
  { theme, tt, width, t, now, cwd }: Omit<View, "me" | "unfolded" | "loaded">,
): string[] {
  const rows = todoRows(todos, { theme, width });
  const begun = todos.findIndex(({ status }) => status !== "completed");
  const from = Math.max(0, Math.min(begun - 1, rows.length - BOARD_ROWS));
  const shown = rows.slice(from, from + BOARD_ROWS);
  return [
    ...shown,
    ...(shown.length < rows.length ? [theme.dim(`  ${tt.todosLeft(rows.length - shown.length)}`)] : []),
    ...tasks.slice(-BOARD_ROWS).map((item) => {
      const last = item.inner.at(-1);
      const time = t.duration(now - (item.since ?? now));
      const doing = last ? ` · ${oneLine(last.call.tool)} ${briefOf(last, cwd)}` : "";
      return `${theme.accent("●")} ${theme.dim(clipped(`${oneLine(String(agentOf(item.input)))} ${briefOf(item)} · ${time}${doing}`, width - 2))}`;
    }),
  ];
}

function todoRows(todos: readonly Todo[], { theme, width }: Pick<View, "theme" | "width">): string[] {
  return todos.map(({ content, status }) => {
    const line = clipped(content, width - 6);
    if (status === "completed") return `  ${theme.good("✓")} ${theme.dim(theme.strike(line))}`;
    return status === "in_progress" ? `  ${theme.accent("▸")} ${theme.bold(line)}` : `  ${theme.dim("☐")} ${line}`;
  });
}

function detailRows(item: CallItem, view: View): string[] {
  const { standing } = item;
  const todos = todosOf(item);
  if (todos && (isOpen(standing) || standing === "done")) return view.unfolded ? todoRows(todos, view) : [];
  const inner = innerRows(item, view);
  const change = standing === "done" ? changeRows(item, view) : [];
  if (change.length > 0) return change;
  if (item.result !== undefined) return [...inner, ...resultRows(item, view)];
  return [...inner, ...folded(item.output, view, { from: "end", live: true, before: item.outputBefore })];
}

/** The last lines of a command tell how it ended; other tools say first what they found. */
function resultRows(item: CallItem, view: View): string[] {
  const { theme, t, width } = view;
  const { text, notes, output } = resultOf(item, t);
  const from = item.standing === "failed" || item.call.tool === "Bash" ? "end" : "start";
  const told = notes.flatMap((note) => own(theme.dim(`  ${oneLine(note)}`), width, 4));
  return [...folded(text, view, { from, output }), ...told];
}

/** A tool's name comes from the model, and from servers. */
function toolName({ tool }: Call, width: number): string {
  return clipped(tool, Math.min(32, Math.max(6, width - 12)));
}

/** Last action of a subagent. */
function innerRows({ inner }: CallItem, view: View): string[] {
  const { theme, tt, width, unfolded } = view;
  const shown = unfolded ? inner : inner.slice(-INNER_ROWS);
  return [
    ...(shown.length < inner.length ? [theme.dim(`  ⎿ ${tt.inside(inner.length - shown.length)}`)] : []),
    ...shown.map((row) => {
      const plain = isOpen(row.standing) || row.standing === "done";
      const tool = `${plain ? "" : `${marks[row.standing]} `}${toolName(row.call, width)}`;
      const summary = clipped(briefOf(row, view.cwd), width - 6 - visibleWidth(tool));
      return theme.dim(truncateToWidth(`  ⎿ ${tool} ${summary}`, width, ""));
    }),
  ];
}

/** The change that was made, drawn as it was before it was. */
function changeRows(item: CallItem, view: View): string[] {
  const { theme, width, tt, unfolded, loaded } = view;
  const path = summaryOf(item.input);
  const all = diffRows(changeOf(item), { theme, width, indent: 2, path, clip: !unfolded, loaded });
  const shown = unfolded || all.length <= CHANGE_ROWS + 1 ? all : all.slice(0, CHANGE_ROWS);
  const left = all.length - shown.length;
  return [...shown.flat(), ...(left > 0 ? [theme.dim(`  ${tt.hidden(left)}`)] : [])];
}

type Folding = {
  from: "start" | "end";
  /** It still grows. */
  live?: boolean;
  /** Lines that came before the text. */
  before?: number | undefined;
  /** The whole of it, where the text is a part. */
  output?: Output | undefined;
};

/** The first or the last lines of foreign text, each on one row; unfolded, all of it. */
function folded(given: string, view: View, { from, live = false, before = 0, output }: Folding): string[] {
  const { theme, tt, width, unfolded } = view;
  const text = given.replace(colourCodes, "");
  const whole = text.trimEnd();
  if (whole === "") return [];
  const lines = whole.split("\n");
  if (unfolded) {
    const last = live ? lines.slice(-LIVE_LINES) : lines;
    const above = before + lines.length - last.length;
    return [
      ...outputRows(output, view),
      ...(above > 0 ? [theme.dim(`  ${tt.above(above)}`)] : []),
      ...margined(last, { width, theme, paint: theme.dim }),
    ];
  }
  const count = lines.length <= FOLDED_ROWS + 1 ? lines.length : FOLDED_ROWS;
  const shown = from === "start" ? lines.slice(0, count) : lines.slice(-count);
  const rows = margined(shown, { width, theme, paint: theme.dim, clip: true });
  const left = before + lines.length - count;
  if (output) return [...outputRows(output, view), ...rows];
  if (left === 0) return rows;
  return from === "start"
    ? [...rows, theme.dim(`  ${tt.hidden(left)}`)]
    : [theme.dim(`  ${tt.hiddenAbove(left)}`), ...rows];
}

/** Colours of a command's output. They steer nothing, and Sage has its own. */
const colourCodes = /\x1b\[[\d;:]*m/g;

/** How long the whole output is, and the file that keeps it. */
function outputRows(output: Output | undefined, { theme, t, tt, width }: View): string[] {
  if (!output) return [];
  const where = output.file === undefined ? [] : wrap(t.keptIn(oneLine(output.file)), width - 4);
  return [tt.openWith(t.keptOutput(output.lines)), ...where.map((row) => `  ${row}`)].map((row) =>
    theme.dim(`  ${row}`),
  );
}

/** How many are done, and of how many. */
function doneOf(todos: readonly Todo[]): [done: number, all: number] {
  return [todos.filter(({ status }) => status === "completed").length, todos.length];
}
