import type { Compose } from "./screen.ts";
import type { Item, Transcript } from "./transcript.ts";

export type Parts = {
  transcript: Transcript;
  rowsOf(item: Item, width: number): string[];
  /** What stands below the transcript: status, panel or editor, and the last line. */
  bottom(width: number, rows: number): string[];
  above(rows: number): string;
};

export type Stage = { compose: Compose };

const KEPT_ROWS = 300;
const LEAST_ROWS = 3;

/**
 * Puts a screen together from what happened. Whatever changes no more goes to the scrollback; a reply that is longer than
 * the screen goes there row by row. What changes is never taller than the screen, for rows that have left it cannot be changed.
 */
export function createStage({ transcript, rowsOf, bottom, above: hint }: Parts): Stage {
  /** The last of what went to the scrollback: a screen of another size is filled with it again. */
  let kept: { item: Item; rows: number }[] = [];
  /** Rows of the reply at the beginning of the live part that went there already. */
  let frozen: { key: string; rows: number } | undefined;
  /** How many rows the last frame had that were not for good. */
  let before = 0;

  const keep = (item: Item, rows: string[]): string[] => {
    kept.push({ item, rows: rows.length });
    let sum = 0;
    const from = kept.findLastIndex((one) => (sum += one.rows) > KEPT_ROWS);
    if (from > 0) kept = kept.slice(from);
    return rows;
  };
  const isFrozen = (item: Item | undefined) =>
    item?.type === "text" && frozen !== undefined && frozen.key === item.key ? frozen.rows : 0;

  const settled = (width: number): string[] =>
    transcript.take().flatMap((item) => {
      const rows = rowsOf(item, width);
      const gone = isFrozen(item);
      // A block may turn out to have ended earlier than was thought.
      if (gone > 0 && item.type === "text")
        frozen = gone > rows.length ? { key: item.key, rows: gone - rows.length } : undefined;
      return keep(item, rows).slice(gone);
    });

  return {
    compose(width, rows, fresh) {
      const above = settled(width);
      const below = bottom(width, rows);
      const room = Math.max(LEAST_ROWS, rows - below.length);
      const [first, ...others] = transcript.live();
      const later = others.flatMap((item) => rowsOf(item, width));
      const whole = first ? rowsOf(first, width) : [];
      const text = first?.type === "text" ? first : undefined;
      const gone = fresh === undefined ? isFrozen(first) : 0;
      const over = text ? whole.length - gone + later.length - room : 0;
      const more = Math.max(0, Math.min(over, whole.length - gone - LEAST_ROWS));
      const live = fit([...whole.slice(gone + more), ...later], room, hint);
      // What no frame has shown yet. Rather too much: what is drawn twice is better than what is lost.
      const now = whole.length - isFrozen(first) + later.length;
      const unseen = above.length + Math.max(0, now - before);
      before = live.length;
      frozen = text && gone + more > 0 ? { key: text.key, rows: gone + more } : undefined;
      const all = [...live, ...below];
      if (fresh === undefined) return { above: [...above, ...whole.slice(gone, gone + more)], live: all };
      const drawn = [...kept.flatMap(({ item }) => rowsOf(item, width)), ...whole.slice(0, more)];
      const count = Math.min(drawn.length, Math.max(0, fresh - all.length) + unseen);
      return { above: drawn.slice(drawn.length - count), live: all };
    },
  };
}

function fit(rows: string[], room: number, hint: (rows: number) => string): string[] {
  if (rows.length <= room) return rows;
  const left = rows.length - room + 1;
  return [hint(left), ...rows.slice(left)];
}
