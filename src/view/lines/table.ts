import { oneLine } from "../../base/visible.ts";
import { columns } from "./safe.ts";

/** Rows of cells as lines, each column as wide as its widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = (cells[0] ?? []).map((_, n) => Math.max(...cells.map((row) => columns(row[n] ?? ""))));
  return cells.map((row) =>
    row
      .map((cell, n) => cell + " ".repeat(Math.max(0, (widths[n] ?? 0) - columns(cell))))
      .join("  ")
      .trimEnd(),
  );
}
