import { splitLines, type Preview, type PreviewLine } from "../protocol/index.ts";
import type { CallItem } from "./item.ts";

/** Lines of a change that belong together. `from` is the number of the first one in the file as it was, where that is known. */
export type Hunk = { from?: number; lines: { mark: PreviewLine["mark"]; text: string }[] };

/** Above this many pairs of lines a change is told as lines that went and lines that came. */
const MOST_PAIRS = 250_000;

/** The change a finished call made to its file: the one that was shown before it, or what its input says. Not yet safe to draw. */
export function changeOf(item: CallItem): Hunk[] {
  const { tool } = item.call;
  if (tool !== "Edit" && tool !== "Write") return [];
  const preview = item.changed ? undefined : previewOf(item);
  if (preview && preview.lines.length > 0) return hunksOf(preview);
  const { old_string: gone, new_string: come, content } = item.input;
  const before = tool === "Edit" && typeof gone === "string" ? linesOf(gone) : [];
  const after = tool === "Edit" ? come : content;
  const lines = differenceOf(before, typeof after === "string" ? linesOf(after) : []);
  return lines.length > 0 ? [{ lines }] : [];
}

/** Lines that stay, go and come, with as many staying as can be. */
export function differenceOf(before: readonly string[], after: readonly string[]): Hunk["lines"] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const marked = (mark: PreviewLine["mark"], lines: readonly string[]) => lines.map((text) => ({ mark, text }));
  return [
    ...marked(" ", before.slice(0, head)),
    ...middleOf(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...marked(" ", before.slice(before.length - tail)),
  ];
}

function middleOf(before: readonly string[], after: readonly string[]): Hunk["lines"] {
  const gone = before.map((text) => ({ mark: "-" as const, text }));
  const come = after.map((text) => ({ mark: "+" as const, text }));
  if (before.length === 0 || after.length === 0 || before.length * after.length > MOST_PAIRS) return [...gone, ...come];
  // kept[i][j]: how many lines of before[i…] and after[j…] can stay.
  const kept = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (i: number, j: number) => kept[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      kept[i]![j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Hunk["lines"] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ mark: " ", text: before[i++] ?? "" });
      j++;
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) lines.push(gone[i++]!);
    else lines.push(come[j++]!);
  }
  return lines;
}

function previewOf({ asked }: CallItem): Preview | undefined {
  const request = asked.findLast(({ request: one }) => one.kind === "permission")?.request;
  return request?.kind === "permission" ? request.preview : undefined;
}

function hunksOf({ lines, firstLine }: Preview): Hunk[] {
  const hunks: Required<Hunk>[] = [];
  for (const { mark, text, line } of lines) {
    if (hunks.length === 0 || line !== undefined) hunks.push({ from: line ?? firstLine, lines: [] });
    hunks.at(-1)?.lines.push({ mark, text });
  }
  return hunks;
}

function linesOf(text: string): string[] {
  return splitLines(text).map((line) => line.text);
}
