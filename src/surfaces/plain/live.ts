import type { CallItem } from "../../view/transcript/item.ts";
import type { Style } from "../../view/lines/paint.ts";
import { framed } from "../../view/lines/safe.ts";

/** The first rows of what a command prints, as they come. A pipe gets the result alone. */
type Live = {
  /** Rows that are whole now and were not shown yet. */
  more(item: CallItem): string[];
  /** Rows of the result that do not stand on the screen already. */
  rest(item: CallItem, rows: string[]): string[];
};

export function createLive(style: Style, count: number): Live {
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
