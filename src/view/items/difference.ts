import type { PreviewLine } from "../../protocol/facts/call.ts";

/** A line of a change. */
export type ChangedLine = { mark: PreviewLine["mark"]; text: string };

/** Above this many pairs only those are compared that stand between lines that occur once. */
const MAX_PAIRS = 250_000;

/** Lines that stay, go and come, with as many staying as can be. */
export function differenceOf(before: readonly string[], after: readonly string[]): ChangedLine[] {
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

function middleOf(before: readonly string[], after: readonly string[]): ChangedLine[] {
  const gone = before.map((text) => ({ mark: "-" as const, text }));
  const come = after.map((text) => ({ mark: "+" as const, text }));
  if (before.length === 0 || after.length === 0) return [...gone, ...come];
  if (before.length * after.length > MAX_PAIRS) return betweenAnchors(before, after) ?? [...gone, ...come];
  // kept[i][j]: how many lines of before[i…] and after[j…] can stay.
  const kept = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (i: number, j: number) => kept[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      kept[i]![j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: ChangedLine[] = [];
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

/** Splits a long change at the lines that occur once on both sides, in the same order. */
function betweenAnchors(before: readonly string[], after: readonly string[]): ChangedLine[] | undefined {
  const anchors = inOrder(pairsOfUnique(before, after));
  if (anchors.length === 0) return undefined;
  let [was, is] = [0, 0];
  const lines: ChangedLine[] = [];
  for (const { old, fresh } of anchors) {
    lines.push(...differenceOf(before.slice(was, old), after.slice(is, fresh)));
    lines.push({ mark: " ", text: before[old] ?? "" });
    [was, is] = [old + 1, fresh + 1];
  }
  return [...lines, ...differenceOf(before.slice(was), after.slice(is))];
}

type Pair = { old: number; fresh: number };

function pairsOfUnique(before: readonly string[], after: readonly string[]): Pair[] {
  const places = (lines: readonly string[]) => {
    const found = new Map<string, number>();
    for (const [n, line] of lines.entries()) found.set(line, found.has(line) ? -1 : n);
    return found;
  };
  const there = places(after);
  return [...places(before)].flatMap(([line, old]) => {
    const fresh = there.get(line) ?? -1;
    return old < 0 || fresh < 0 ? [] : [{ old, fresh }];
  });
}

/** The longest run of pairs whose lines come in the same order on both sides. */
function inOrder(pairs: readonly Pair[]): Pair[] {
  type Link = Pair & { before?: Link | undefined };
  const piles: Link[] = [];
  for (const pair of pairs.toSorted((a, b) => a.old - b.old)) {
    let [low, high] = [0, piles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((piles[middle]?.fresh ?? 0) < pair.fresh) low = middle + 1;
      else high = middle;
    }
    piles[low] = { ...pair, before: piles[low - 1] };
  }
  const found: Pair[] = [];
  for (let link = piles.at(-1); link; link = link.before) found.push(link);
  return found.toReversed();
}
