import type { Style } from "../../../view/lines/paint.ts";
import { exact, fitted } from "../../../view/lines/safe.ts";

/** A rule or a hook's command under what it is; marked where it is a difference. */
export type RuleEntry = { what: string; text: string; mark?: "+" | "-" };

/** In full, in their order; what several have in common stands above them once. */
export function ruleLines(entries: readonly RuleEntry[], style: Style): string[] {
  const { paint } = style;
  return entries.flatMap(({ what, text, mark }, n) => {
    const rows = exact(text, style).map((row) => (mark ? paint[mark === "+" ? "green" : "red"](`${mark}${row}`) : row));
    return what === entries[n - 1]?.what ? rows : [...fitted([`  ${what}`], style.width), ...rows];
  });
}
