import type { Texts } from "../../texts/shared/texts.ts";

/** `token` marks placeholders for hidden characters: no foreign text can look like that. */
type Paint = Record<("bold" | "dim" | "red" | "green" | "yellow" | "cyan") | "token", (text: string) => string>;

export type Style = { t: Texts; paint: Paint; width: number | undefined };

export function createPaint(color: boolean): Paint {
  const style = (on: number, off: number) => (text: string) => (color ? `\x1b[${on}m${text}\x1b[${off}m` : text);
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    cyan: style(36, 39),
    token: style(7, 27),
  };
}
