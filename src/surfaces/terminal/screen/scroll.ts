import type { Texts } from "../../../texts/shared/texts.ts";
import { isOver, todosOf, type Todo } from "../../../view/items/summary.ts";
import type { Tone } from "../../../view/note.ts";
import type { CallItem, Item, ThoughtItem } from "../../../view/transcript/item.ts";
import { isOpen } from "../../../view/transcript/standing.ts";

/** Lines of the terminal's own, such as the answer to a command. */
type NoteItem = { type: "note"; tone: Tone; lines: string[] };
/** Foreign text behind a margin. */
export type BoxItem = { type: "box"; title: string; text: string; note?: string; done: boolean };

/** Files that were read one after the other. */
export type ReadsItem = { type: "reads"; items: CallItem[] };

/** An item as drawn on the screen. */
export type Entry = {
  item: Item | NoteItem | BoxItem | ReadsItem;
  /** A blank row comes before it. */
  gap: boolean;
  /** Position in a text: characters before it went to the scrollback as an entry of their own. */
  from: number;
  /** Position in a text at which this entry ends. */
  upTo?: number;
  /** Rows that went to the scrollback while the text was still growing. */
  frozen: number;
  restarts: number;
};

/** The transcript of a session with the terminal's own lines in between, as far as it may still change. */
export type Scroll = {
  /** Items that are new or have changed. */
  show(items: readonly Item[]): void;
  /** `apart`: it does not belong to the entry above it. Returns the item, which can be changed until it is done. */
  add<I extends NoteItem | BoxItem>(item: I, options?: { apart: boolean }): I;
  note(tone: Tone, ...lines: string[]): void;
  live(): readonly Entry[];
  /** Takes the entries at the beginning that change no more: they are drawn once and forgotten. */
  take(): Entry[];
  /** The last call with a result, the files read last, or the thought that came after it. */
  latest(): CallItem | ThoughtItem | ReadsItem | undefined;
  /** The agent's list, and the subagents that run above other rows, while the turn is open. */
  board(): Board;
};

export type Board = { todos: readonly Todo[]; tasks: readonly CallItem[] };

export function createScroll({ t }: { t: Texts }): Scroll {
  let entries: Entry[] = [];
  let before: string | undefined;
  const known = new WeakSet<Item>();
  let latest: CallItem | ThoughtItem | ReadsItem | undefined;
  let todos: readonly Todo[] = [];

  const push = (item: Entry["item"], apart = item.type === "said" || item.type === "text"): Entry => {
    const kind = blockKind(item);
    const together = before === kind || (before === "call" && kind === "note");
    const gap = before !== undefined && (apart || !together);
    const restarts = item.type === "text" ? item.restarts : 0;
    const entry = { item, gap, from: 0, frozen: 0, restarts };
    entries.push(entry);
    before = kind;
    return entry;
  };
  const note = (tone: Tone, ...lines: string[]): void => {
    if (lines.length > 0) push({ type: "note", tone, lines });
  };

  /** Rows in the scrollback cannot be taken back; the rest can. */
  const restarted = (entry: Entry, item: Item & { type: "text" }): void => {
    if (item.restarts === entry.restarts) return;
    if (entry.from === 0 && entry.frozen === 0) return void (entry.restarts = item.restarts);
    entries = entries.filter((each) => each !== entry);
    note("warn", t.startsAgain);
    push(item);
  };

  const groups = () => entries.flatMap(({ item }) => (item.type === "reads" ? [item] : []));
  const show = (item: Item): void => {
    if ((item.type === "call" && item.result) || (item.type === "thought" && item.done && item.text !== ""))
      latest = groups().findLast(({ items }) => items.includes(item as CallItem)) ?? item;
    if (item.type === "call" && item.within.length === 0 && item.standing === "done") todos = todosOf(item) ?? todos;
    if (item.type === "end") todos = [];
    if (!isDrawn(item)) return;
    if (known.has(item)) {
      const entry = item.type === "text" ? entries.find((candidate) => candidate.item === item) : undefined;
      if (entry && item.type === "text") restarted(entry, item);
      return;
    }
    known.add(item);
    if (item.type === "text" && item.restarts > 0) note("warn", t.startsAgain);
    const before = entries.at(-1)?.item;
    if (!isRead(item)) push(item);
    else if (before?.type === "reads") before.items.push(item);
    else push({ type: "reads", items: [item] });
  };

  return {
    note,
    show: (items) => items.forEach(show),
    live: () => entries,
    latest: () => latest,
    board() {
      const tasks = entries.flatMap(({ item }, n) => {
        const below = entries.slice(n + 1).some((later) => !isTask(later.item));
        return isTask(item) && isOpen(item.standing) && below ? [item] : [];
      });
      return { todos: todos.every(({ status }) => status === "completed") ? [] : todos, tasks };
    },
    add(item, options) {
      push(item, options?.apart);
      return item;
    },
    take() {
      // Another file may be read next.
      const mayGrow = (item: Entry["item"], n: number) => item.type === "reads" && n === entries.length - 1;
      const open = entries.findIndex(({ item }, n) => !isFinal(item) || mayGrow(item, n));
      const taken = entries.splice(0, open < 0 ? entries.length : open);
      const [first] = entries;
      if (first?.item.type !== "text") return taken;
      const more = finishedUpTo(first.item.text.slice(first.from));
      if (more === 0) return taken;
      const upTo = first.from + more;
      taken.push({ ...first, upTo });
      entries[0] = { ...first, from: upTo, gap: true, frozen: 0 };
      return taken;
    },
  };
}

function isRead(item: Item): item is CallItem {
  return item.type === "call" && item.call.tool === "Read";
}

function isTask(item: Entry["item"]): item is CallItem {
  return item.type === "call" && item.call.tool === "Task";
}

/** Subagents are drawn with the call that runs them. */
function isDrawn(item: Item): boolean {
  return !("within" in item) || item.within.length === 0;
}

function blockKind(item: Entry["item"]): string {
  switch (item.type) {
    case "said":
    case "text":
    case "thought":
    case "call":
    case "box":
    case "end":
      return item.type;
    case "reads":
      return "call";
    default:
      return "note";
  }
}

function isFinal(item: Entry["item"]): boolean {
  switch (item.type) {
    case "call":
      return isOver(item);
    case "reads":
      return item.items.every(isOver);
    case "asked":
      return item.resolution !== undefined;
    case "inquiry":
      return item.reply !== undefined || item.over === true;
    case "text":
    case "thought":
    case "box":
      return item.done;
    default:
      return true;
  }
}

/** Up to the beginning of the last block: Markdown before it changes no more and may go to the scrollback. */
export function finishedUpTo(markdown: string): number {
  let finished = 0;
  let at = 0;
  let fence: string | undefined;
  let inList = false;
  let blank = false;
  for (const line of markdown.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const whole = at + line.length < markdown.length; // the last line may still grow into anything
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark && whole) {
        fence = undefined;
        if (!inList) finished = at + line.length + 1;
      }
    } else if (line.trim() === "") blank = true;
    else {
      const item = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line);
      const goesOn = /^\s/.test(line) || (inList && (item || !whole));
      if (blank && !goesOn) {
        finished = at;
        inList = false;
      }
      if (item) inList = true;
      if (mark !== undefined) fence = mark;
      blank = false;
    }
    at += line.length + 1;
  }
  return Math.min(finished, markdown.length);
}
