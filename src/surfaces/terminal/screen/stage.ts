import type { Compose } from "./screen.ts";
import type { Entry, Scroll } from "./scroll.ts";

type Parts = {
  scroll: Scroll;
  rowsOf(entry: Entry, width: number): string[];
  /** Rows below the transcript: status, panel or editor, and the last line. */
  bottom(width: number, rows: number): string[];
  above(rows: number): string;
};

export type Stage = { compose: Compose };

const KEPT_ROWS = 300;
const LEAST_ROWS = 3;

/** Unchanging rows go to the scrollback, a long reply row by row. Changing ones never exceed the screen: rows that left it stay. */
export function createStage({ scroll, rowsOf, bottom, above: hint }: Parts): Stage {
  /** The last of what went to the scrollback: a screen of another size is filled with it again. */
  let kept: { entry: Entry; rows: number }[] = [];
  /** Rows of the last frame that were not final. */
  let before = 0;

  const keep = (entry: Entry, rows: string[]): string[] => {
    kept.push({ entry, rows: rows.length });
    let sum = 0;
    const from = kept.findLastIndex((entry) => (sum += entry.rows) > KEPT_ROWS);
    if (from > 0) kept = kept.slice(from);
    return rows;
  };

  const settled = (width: number): string[] =>
    scroll.take().flatMap((entry) => {
      const rows = rowsOf(entry, width);
      const [rest] = scroll.live();
      // A block may turn out to have ended earlier than was thought: the rest of its frozen rows are of the next one.
      if (rest?.item === entry.item) rest.frozen = Math.max(0, entry.frozen - rows.length);
      return keep({ ...entry, frozen: 0 }, rows).slice(entry.frozen);
    });

  return {
    compose(width, rows, fresh) {
      const above = settled(width);
      const below = bottom(width, rows);
      const room = Math.max(LEAST_ROWS, rows - below.length);
      const [first, ...others] = scroll.live();
      const later = others.flatMap((entry) => rowsOf(entry, width));
      const whole = first ? rowsOf(first, width) : [];
      const frozen = first?.frozen ?? 0;
      const gone = fresh === undefined ? frozen : 0;
      const over = first?.item.type === "text" ? whole.length - gone + later.length - room : 0;
      const more = Math.max(0, Math.min(over, whole.length - gone - LEAST_ROWS));
      const live = fit([...whole.slice(gone + more), ...later], room, hint);
      // Rows that no frame has shown yet. Rather too many: a row drawn twice is better than a lost one.
      const unseen = above.length + Math.max(0, whole.length - frozen + later.length - before);
      before = live.length;
      if (first) first.frozen = gone + more;
      const all = [...live, ...below];
      if (fresh === undefined) return { above: [...above, ...whole.slice(gone, gone + more)], live: all };
      const drawn = [...kept.flatMap(({ entry }) => rowsOf(entry, width)), ...whole.slice(0, more)];
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
