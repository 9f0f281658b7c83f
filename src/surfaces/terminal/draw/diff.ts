import { basename, extname } from "node:path";
import { tokens } from "../../../base/visible.ts";
import { detailed, type DetailedLine, type Hunk } from "../../../view/items/change.ts";
import { runsIn, type Colour, type Run } from "./highlight.ts";
import { wrap } from "./rows.ts";
import type { Theme } from "./theme.ts";
import { truncateToWidth } from "./tui.ts";

type Diff = {
  theme: Theme;
  /** Columns for all of a row, its margin too. */
  width: number;
  /** Blank columns before the margin. */
  indent: number;
  /** The file's name says which language it is in. */
  path: string;
  /** Each line gets a single row, cut at the edge. */
  clip?: boolean;
  loaded(): void;
};

/** Rows of each line of a change, before it is made and after: numbered, in colours, with the words that changed. */
export function diffRows(hunks: readonly Hunk[], diff: Diff): string[][] {
  const { theme, width, indent } = diff;
  const lines = hunks.map(detailed);
  const digits = Math.max(0, ...lines.flat().map(({ number }) => `${number ?? ""}`.length));
  const gutter = digits === 0 ? 2 : digits + 3;
  const room = Math.max(4, width - indent - 2 - gutter);
  const margin = (first: boolean) => `${" ".repeat(indent)}${theme.border(first ? "│" : "┊")} `;
  return lines.flatMap((hunk, n) => {
    const colours = runsFor(hunk, diff);
    const rows = hunk.map((line, at) => {
      const place = digits === 0 ? "" : `${`${line.number ?? ""}`.padStart(digits)} `;
      const pieces = diff.clip
        ? [truncateToWidth(line.text, room, "…").replaceAll("\x1b[0m", "")]
        : wrap(line.text, room);
      let from = 0;
      return pieces.map((piece, row) => {
        const start = from;
        from += piece.length;
        const head = row === 0 ? paintOf(line, theme)(`${place}${line.mark} `) : " ".repeat(gutter);
        return `${margin(row === 0)}${head}${styled(piece, start, { line, runs: colours?.[at], theme })}`;
      });
    });
    return n === 0 ? rows : [[`${margin(true)}${theme.dim("⋮")}`], ...rows];
  });
}

const paints = { " ": "dim", "+": "added", "-": "removed" } as const;

function paintOf({ mark }: DetailedLine, theme: Theme): (text: string) => string {
  return theme[paints[mark]];
}

/** Lines that stay are dim and lines that go have their one colour: only what comes is read as code. */
function runsFor(hunk: readonly DetailedLine[], { path, theme, loaded }: Diff): (Run[] | undefined)[] | undefined {
  const after = hunk.filter(({ mark }) => mark !== "-");
  const runs = runsIn(
    after.map(({ text }) => text).join("\n"),
    extname(path).slice(1) || basename(path).toLowerCase(),
    theme,
    loaded,
  );
  if (!runs) return undefined;
  const all = runs.values();
  return hunk.map(({ mark }) => {
    if (mark === "-") return undefined;
    const { value } = all.next();
    return mark === "+" ? value : undefined;
  });
}

/** A part of a line that begins at `start`: each character in the colour it has, changed words bold and underlined. */
function styled(
  piece: string,
  start: number,
  { line, runs = [], theme }: { line: DetailedLine; runs: readonly Run[] | undefined; theme: Theme },
): string {
  const end = start + piece.length;
  const spans: { from: number; to: number; colour: Colour | undefined }[] = [];
  let at = 0;
  for (const { text, colour } of runs) spans.push({ from: at, to: (at += text.length), colour });
  const marks = [...piece.matchAll(tokens)].map(({ index, 0: token }) => [start + index, start + index + token.length]);
  const cuts = [...spans.flatMap(({ from, to }) => [from, to]), ...(line.words ?? []).flat(), ...marks.flat()];
  const edges = [...new Set([start, ...cuts.filter((cut) => cut > start && cut < end), end])].sort((a, b) => a - b);
  const within = (ranges: readonly (readonly number[])[], place: number) =>
    ranges.some(([from = 0, to = 0]) => place >= from && place < to);
  return edges
    .slice(0, -1)
    .map((from, n) => {
      const text = piece.slice(from - start, (edges[n + 1] ?? end) - start);
      if (within(marks, from)) return theme.token(text);
      const colour = spans.find((span) => from >= span.from && from < span.to)?.colour;
      const painted = colour ? theme[colour](text) : paintOf(line, theme)(text);
      return within(line.words ?? [], from) ? theme.bold(theme.underline(painted)) : painted;
    })
    .join("");
}
