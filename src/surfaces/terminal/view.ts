import { oneLine, type Call, type Cost, type ToolInput, type TurnEnd } from "../../protocol/index.ts";
import { stopReason } from "../../texts/resolution.ts";
import type { TerminalTexts } from "../../texts/terminal.ts";
import type { Texts } from "../../texts/texts.ts";
import { markdownRows } from "./draw/markdown.ts";
import { clipped, margined, own } from "./draw/rows.ts";
import type { Theme } from "./draw/theme.ts";
import type { CallItem, Item } from "./transcript.ts";
import { truncateToWidth, visibleWidth } from "./draw/tui.ts";

/** What a thing is drawn with. */
export type View = {
  theme: Theme;
  t: Texts;
  tt: TerminalTexts;
  width: number;
  /** Output and thoughts are shown whole. */
  unfolded: boolean;
  now: number;
  /** Something that was still being loaded is there: draw again. */
  loaded(): void;
};

const FOLDED_ROWS = 6;
const SAID_LINES = 12;
const INNER_ROWS = 3;
const UNFOLDED_LINES = 2_000;

/** The rows of one thing that happened. Column one and two are Sage's own; whatever is foreign stands to the right of them. */
export function rowsOf(item: Item, view: View): string[] {
  const rows = bodyOf(item, view);
  return item.gap && rows.length > 0 ? ["", ...rows] : rows;
}

function bodyOf(item: Item, view: View): string[] {
  const { theme, t, tt, width } = view;
  switch (item.type) {
    case "said":
      return [
        ...(item.by === undefined ? [] : [theme.bold(clipped(t.says(item.by), width))]),
        ...saidRows(item.text, view),
      ];
    case "text":
      return item.text.trim() === "" ? [] : markdownRows(item.text, width, theme, view.loaded);
    case "thought": {
      const time = t.duration((item.until ?? view.now) - item.since);
      const head = theme.dim(theme.italic(`∴ ${item.done ? tt.thought(time) : `${tt.thinking} (${time})`}`));
      if (view.unfolded) return [head, ...margined(item.text.trim().split("\n"), { width, theme, paint: theme.dim })];
      const last = item.done ? "" : (item.text.trim().split("\n").at(-1) ?? "");
      return [head, ...(last === "" ? [] : [`  ${theme.dim(clipped(tailOf(last, width - 4), width - 4))}`])];
    }
    case "call":
      return callRows(item, view);
    case "note":
      return item.lines.flatMap((line) => own(theme[item.tone](line), width, 2));
    case "end":
      return endRows(item.end, view);
    case "box":
      return [
        theme.bold(clipped(item.title, width)),
        ...folded(item.text, view, { from: "end" }),
        ...(item.note === undefined ? [] : own(theme.dim(item.note), width, 2)),
      ];
    default:
      return item satisfies never;
  }
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

const marks = {
  new: "○",
  waiting: "◆",
  running: "●",
  ok: "●",
  failed: "✗",
  refused: "✗",
  unknown: "?",
  stopped: "○",
} as const;

const tones = {
  new: "dim",
  waiting: "warn",
  running: "accent",
  ok: "good",
  failed: "danger",
  refused: "danger",
  unknown: "warn",
  stopped: "dim",
} as const;

function callRows(item: CallItem, view: View): string[] {
  const { theme, t, tt, width, now } = view;
  const { call, state } = item;
  const tool = toolName(call, width);
  const took = item.since === undefined ? 0 : (item.until ?? now) - item.since;
  const words = [
    ...(state === "failed" ? [t.failed] : []),
    ...(state === "refused" ? [t.refused] : []),
    ...(state === "waiting" ? [tt.waits] : []),
    ...(state === "stopped" ? [tt.stopped] : []),
    ...(took >= 2_000 ? [t.duration(took)] : []),
  ];
  const tail = words.length > 0 ? ` (${words.join(", ")})` : "";
  const room = width - 4 - visibleWidth(tool) - visibleWidth(tail);
  const summary = room > 4 ? clipped(call.malformed ?? summaryOf(call.input), room) : "";
  const paint = theme[tones[state]];
  return [
    `${paint(marks[state])} ${theme.bold(tool)} ${summary}${theme.dim(tail)}`,
    ...(item.answer === undefined ? [] : own(theme.dim(`  ${item.answer}`), width, 4)),
    ...detailRows(item, view),
  ];
}

function detailRows(item: CallItem, view: View): string[] {
  const { theme, width } = view;
  const { call, state } = item;
  const todos = todosOf(call);
  if (todos && state !== "failed" && state !== "refused")
    return todos.map(({ content, status }) => {
      const line = clipped(content, width - 6);
      if (status === "completed") return `  ${theme.good("✓")} ${theme.dim(theme.strike(line))}`;
      return status === "in_progress" ? `  ${theme.accent("▸")} ${theme.bold(line)}` : `  ${theme.dim("☐")} ${line}`;
    });
  const inner = innerRows(item, view);
  const change = state === "ok" ? changeRows(call, view) : [];
  if (change.length > 0) return change;
  if (item.result !== undefined)
    return [...inner, ...folded(item.result, view, { from: state === "failed" ? "end" : "start" })];
  return [...inner, ...folded(item.output, view, { from: "end" })];
}

/** A tool's name comes from the model, and from servers. */
function toolName({ tool }: Call, width: number): string {
  return clipped(tool, Math.min(32, Math.max(6, width - 12)));
}

/** What a subagent did last. */
function innerRows({ inner }: CallItem, view: View): string[] {
  const { theme, tt, width, unfolded } = view;
  const shown = unfolded ? inner : inner.slice(-INNER_ROWS);
  return [
    ...(shown.length < inner.length ? [theme.dim(`  ⎿ ${tt.inside(inner.length - shown.length)}`)] : []),
    ...shown.map(({ call, failed }) => {
      const tool = `${failed ? "✗ " : ""}${toolName(call, width)}`;
      const summary = clipped(call.malformed ?? summaryOf(call.input), width - 6 - visibleWidth(tool));
      return theme.dim(truncateToWidth(`  ⎿ ${tool} ${summary}`, width, ""));
    }),
  ];
}

/** A change that was made: its lines, as the call has them. */
function changeRows({ tool, input }: Call, view: View): string[] {
  const { old_string: gone, new_string: come, content } = input;
  const lines = (text: unknown, mark: string) =>
    typeof text === "string" && text !== ""
      ? text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => `${mark} ${line}`)
      : [];
  const all =
    tool === "Edit" ? [...lines(gone, "-"), ...lines(come, "+")] : tool === "Write" ? lines(content, "+") : [];
  const { theme, width, tt } = view;
  const shown = view.unfolded ? all.slice(0, UNFOLDED_LINES) : all.slice(0, FOLDED_ROWS);
  return [
    ...shown.flatMap((line) => {
      const paint = line.startsWith("+") ? theme.added : theme.removed;
      return margined([line], { width, theme, paint, clip: !view.unfolded });
    }),
    ...(shown.length < all.length ? [theme.dim(`  ${tt.hidden(all.length - shown.length)}`)] : []),
  ];
}

/** The first or the last lines of foreign text, each on one row; unfolded, all of it. */
function folded(text: string, view: View, { from }: { from: "start" | "end" }): string[] {
  const { theme, tt, width, unfolded } = view;
  const whole = text.trimEnd();
  if (whole === "") return [];
  const lines = whole.split("\n");
  if (unfolded) return margined(lines.slice(0, UNFOLDED_LINES), { width, theme, paint: theme.dim });
  const count = lines.length <= FOLDED_ROWS + 1 ? lines.length : FOLDED_ROWS;
  const shown = from === "start" ? lines.slice(0, count) : lines.slice(-count);
  const rows = margined(shown, { width, theme, paint: theme.dim, clip: true });
  const left = lines.length - count;
  if (left === 0) return rows;
  return from === "start"
    ? [...rows, theme.dim(`  ${tt.hidden(left)}`)]
    : [theme.dim(`  ${tt.hiddenAbove(left)}`), ...rows];
}

function endRows(end: TurnEnd, { theme, t, width }: View): string[] {
  switch (end.status) {
    case "success": {
      const tokens = end.usage.inputTokens + end.usage.outputTokens;
      const line = t.done(end.stats.toolCalls, tokens, t.duration(end.stats.durationMs), dollars(end.cost));
      return own(theme.dim(line), width, 2);
    }
    case "cancelled":
      return own(theme.warn(t.turnCancelled(stopReason(end.reason, t))), width, 2);
    case "paused":
      return own(theme.warn(t.turnPaused(stopReason(end.reason, t))), width, 2);
    case "max-steps":
      return own(theme.warn(t.turnMaxSteps(end.steps)), width, 2);
    case "needs-input":
      return own(theme.warn(t.turnNeedsInput), width, 2);
    case "error": {
      const [first = "", ...more] = end.error.message.split("\n");
      return [...own(theme.danger(t.turnFailed(oneLine(first))), width, 2), ...margined(more, { width, theme })];
    }
    default:
      return end satisfies never;
  }
}

type Todo = { content: string; status: string };

function todosOf({ tool, input }: Call): Todo[] | undefined {
  if (tool !== "TodoWrite" || !Array.isArray(input["todos"])) return undefined;
  const all = input["todos"] as Partial<Todo>[];
  return all.flatMap(({ content, status }) =>
    typeof content === "string" && typeof status === "string" ? [{ content, status }] : [],
  );
}

/** What a call is about, in the words a rule would use. */
export function summaryOf(input: ToolInput): string {
  for (const field of ["command", "file_path", "path", "pattern", "url", "query", "description", "prompt", "skill"]) {
    const value = input[field];
    if (typeof value === "string") return value;
  }
  if (Array.isArray(input["todos"])) return "";
  return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
}

/** Cents matter on a small turn, and nothing below them on a large one. */
export function dollars(cost: Cost | undefined): string {
  return cost ? `$${cost.usd.toFixed(cost.usd < 1 ? 4 : 2)}` : "";
}
