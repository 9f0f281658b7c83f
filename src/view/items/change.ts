import { splitLines, visible } from "../../base/visible.ts";
import type { Preview, PreviewLine } from "../../protocol/facts/call.ts";
import { differenceOf, type ChangedLine } from "./difference.ts";
import type { CallItem } from "../transcript/item.ts";

/** Lines of a change that belong together. `from` is the number of the first one in the file as it was, where that is known. */
export type Hunk = { from?: number; lines: ChangedLine[] };
/** `number`: where it is in the file, as it was for lines that go or stay. `words`: the parts of it that changed. */
export type DetailedLine = ChangedLine & { number?: number; words?: readonly Range[] };
type Range = readonly [from: number, to: number];

const CONTEXT = 3;
const MAX_WORDS = 400;
/** Two lines are a line before and after a change where this much of the longer one stayed. */
const ALIKE = 0.4;

/** The change a finished call made to its file: the one that was made or shown before it, or what its input says. */
export function changeOf(item: CallItem): Hunk[] {
  const { tool } = item.call;
  if (tool !== "Edit" && tool !== "Write") return [];
  const preview = item.result?.change ?? (item.changed ? undefined : previewOf(item));
  if (preview && preview.lines.length > 0) return hunksOf(preview);
  const { old_string: gone, new_string: come, content } = item.input;
  const given = (value: unknown) => (typeof value === "string" ? value : "");
  return tool === "Edit"
    ? pieceHunks(given(gone), given(come))
    : hunksFrom("", given(content)).map((hunk) => ({ ...hunk, from: 1 }));
}

/** A piece of a file that was replaced: it ends anywhere, so its end says nothing. */
export function pieceHunks(before: string, after: string): Hunk[] {
  return hunksOfLines(differenceOf(splitLines(before).map(plain), splitLines(after).map(plain)));
}

/** A whole file that was replaced. */
export function hunksFrom(before: string, after: string): Hunk[] {
  return hunksOfLines(differenceOf(splitLines(before).map(keyed), splitLines(after).map(keyed)));
}

function hunksOfLines(lines: ChangedLine[]): Hunk[] {
  return lines.length > 0 ? [{ lines: seen(lines) }] : [];
}

/** Hunks of a preview. Lines that it has among both those that went and those that came have stayed. */
export function hunksOf({ lines, firstLine }: Preview): Hunk[] {
  const groups: { from: number; lines: PreviewLine[] }[] = [];
  for (const line of lines) {
    if (groups.length === 0 || line.line !== undefined) groups.push({ from: line.line ?? firstLine, lines: [] });
    groups.at(-1)?.lines.push(line);
  }
  return groups.flatMap(({ from, lines: all }) => cutContext(from, compared(all)));
}

function compared(lines: readonly PreviewLine[]): ChangedLine[] {
  const found: ChangedLine[] = [];
  let [gone, come]: [string[], string[]] = [[], []];
  const flush = () => {
    found.push(...differenceOf(gone, come));
    [gone, come] = [[], []];
  };
  for (const line of lines) {
    if (line.mark === "-") gone.push(keyed(line));
    else if (line.mark === "+") come.push(keyed(line));
    else {
      flush();
      found.push({ mark: " ", text: keyed(line) });
    }
  }
  flush();
  return found;
}

/** Lines that stay are shown as far as they are near a change. */
function cutContext(from: number, lines: readonly ChangedLine[]): Hunk[] {
  const changed = lines.flatMap(({ mark }, n) => (mark === " " ? [] : [n]));
  const hunks: { from: number; lines: ChangedLine[] }[] = [];
  let number = from;
  let last = -Infinity;
  let next = 0;
  let wasShown = false;
  for (const [n, line] of lines.entries()) {
    while ((changed[next] ?? Infinity) < n) last = changed[next++] ?? last;
    const shown = changed.length === 0 || n - last <= CONTEXT || (changed[next] ?? Infinity) - n <= CONTEXT;
    if (shown && !wasShown) hunks.push({ from: number, lines: [] });
    if (shown) hunks.at(-1)?.lines.push(line);
    wasShown = shown;
    if (line.mark !== "+") number++;
  }
  return hunks.map((hunk) => ({ from: hunk.from, lines: seen(hunk.lines) }));
}

/** A line of text has no line break in it: one at its end says that the file ends there without one. */
function keyed({ text, open }: { text: string; open?: true }): string {
  return open ? `${text}\n` : text;
}

function plain({ text }: { text: string }): string {
  return text;
}

/** Lines of one kind are made visible together, so that a long gap among them is counted. */
function seen(lines: readonly ChangedLine[]): ChangedLine[] {
  const groups: { mark: PreviewLine["mark"]; texts: string[]; open: boolean }[] = [];
  for (const { mark, text } of lines) {
    const open = text.endsWith("\n");
    const last = groups.at(-1);
    const group = last?.mark === mark ? last : { mark, texts: [], open: false };
    if (group !== last) groups.push(group);
    group.texts.push(open ? text.slice(0, -1) : text);
    group.open ||= open;
  }
  return groups.flatMap(({ mark, texts, open }) => {
    // With a last line break, or the last line would not count as one of a gap.
    const shown = visible(`${texts.join("\n")}\n`)
      .slice(0, -1)
      .split("\n");
    return shown.map((text, n) => ({ mark, text: open && n === shown.length - 1 ? `${text}‹EOF›` : text }));
  });
}

/** The lines of a hunk with their numbers, and with the words that changed. */
export function detailed({ from, lines }: Hunk): DetailedLine[] {
  let [was, is] = [from ?? 0, from ?? 0];
  const words = changedWords(lines);
  return lines.map((line, n) => {
    const number = line.mark === "+" ? is : was;
    const count = Number(/^‹U\+000A×(\d+)›/.exec(line.text)?.[1] ?? 1); // blank lines that are counted
    if (line.mark !== "+") was += count;
    if (line.mark !== "-") is += count;
    const changed = words.get(n);
    return { ...line, ...(from !== undefined && { number }), ...(changed && { words: changed }) };
  });
}

/** Changed words by the index of their line. Lines that went and lines that came in their place belong together in their order. */
function changedWords(lines: readonly ChangedLine[]): Map<number, Range[]> {
  const found = new Map<number, Range[]>();
  for (let n = 0; n < lines.length;) {
    const marked = (mark: string, from: number) => {
      let to = from;
      while (lines[to]?.mark === mark) to++;
      return to;
    };
    const come = marked("-", n);
    const end = marked("+", come);
    for (let pair = 0; pair < Math.min(come - n, end - come); pair++) {
      const ranges = wordsBetween(lines[n + pair]?.text ?? "", lines[come + pair]?.text ?? "");
      if (!ranges) continue;
      found.set(n + pair, ranges.gone);
      found.set(come + pair, ranges.come);
    }
    n = Math.max(end, n + 1);
  }
  return found;
}

/** Undefined for lines that have little in common: no part of them is the change. */
function wordsBetween(before: string, after: string): { gone: Range[]; come: Range[] } | undefined {
  const words = (text: string) => text.match(/‹[^›]*›|[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];
  const [old, fresh] = [words(before), words(after)];
  if (old.length > MAX_WORDS || fresh.length > MAX_WORDS) return undefined;
  const ranges: Record<PreviewLine["mark"], Range[]> = { " ": [], "-": [], "+": [] };
  let [was, is, stayed] = [0, 0, 0];
  for (const { mark, text } of differenceOf(old, fresh)) {
    const at = mark === "+" ? is : was;
    const last = ranges[mark].at(-1);
    if (last?.[1] === at) ranges[mark].splice(-1, 1, [last[0], at + text.length]);
    else ranges[mark].push([at, at + text.length]);
    if (mark === " ") stayed += text.trim().length;
    if (mark !== "+") was += text.length;
    if (mark !== "-") is += text.length;
  }
  if (stayed < ALIKE * Math.max(before.trim().length, after.trim().length)) return undefined;
  return { gone: ranges["-"], come: ranges["+"] };
}

function previewOf({ asked }: CallItem): Preview | undefined {
  const request = asked.findLast(({ request: each }) => each.kind === "permission")?.request;
  return request?.kind === "permission" ? request.preview : undefined;
}
