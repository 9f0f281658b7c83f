import type { Delta } from "../../protocol/index.ts";
import type { Style } from "./paint.ts";
import { framed } from "./safe.ts";

/** The first rows of what a command prints, as they come. A pipe gets the result alone. */
export type Live = {
  /** Rows that are whole now. */
  more(at: string, delta: Delta): string[];
  /** Of the result's rows those that do not stand on the screen already. */
  rest(at: string, rows: string[]): string[];
};

export function createLive(style: Style, count: number): Live {
  const running = new Map<string, { attempt: number; open: string; shown: string[] }>();
  return {
    more(at, { attempt, text }) {
      if (style.width === undefined) return [];
      let one = running.get(at);
      if (!one || attempt > one.attempt) running.set(at, (one = { attempt, open: "", shown: [] }));
      if (attempt < one.attempt || one.shown.length >= count) return [];
      const lines = (one.open + text).split("\n");
      one.open = lines.pop() ?? "";
      const rows = lines.flatMap((line) => framed(line, style)).slice(0, count - one.shown.length);
      one.shown.push(...rows);
      return rows;
    },
    rest(at, rows) {
      const shown = running.get(at)?.shown ?? [];
      running.delete(at);
      // A tool may tidy its output up: then it is shown again rather than in part.
      return shown.every((row, n) => row === rows[n]) ? rows.slice(shown.length) : rows;
    },
  };
}
