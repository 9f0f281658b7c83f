import { detailed, type Hunk } from "../items/change.ts";
import type { Style } from "./paint.ts";
import { rows } from "./safe.ts";

const colours = { " ": "dim", "+": "green", "-": "red" } as const;

/** A change, numbered where its place in the file is known. */
export function changeLines(hunks: readonly Hunk[], style: Style): string[] {
  const lines = hunks.map(detailed);
  const digits = Math.max(0, ...lines.flat().map(({ number }) => `${number ?? ""}`.length));
  return lines.flatMap((hunk, n) => [
    ...(n === 0 ? [] : rows(["⋮"], style).map(style.paint.dim)),
    ...hunk.flatMap(({ mark, text, number }) => {
      const place = digits === 0 ? "" : `${`${number ?? ""}`.padStart(digits)} `;
      return rows([text], style, `${place}${mark} `).map(style.paint[colours[mark]]);
    }),
  ]);
}
