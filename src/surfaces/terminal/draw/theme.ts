export type ColorDepth = "none" | "16" | "256" | "true";

type Background = "dark" | "light";

/** The person's choice; `auto` asks the terminal. */
export type ThemeSetting = "auto" | Background;

type Paint = (text: string) => string;

const attributes = { bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], strike: [9, 29] } as const;

/** Meanings of colours, never the colours themselves: 16 colours on dark and light, 256 on dark and light, then exact ones. */
const meanings = {
  /** The row that is chosen, and rows that can be. */
  accent: { "16": [36, 34], "256": [80, 25], true: [0x5fd7d7, 0x005faf] },
  good: { "16": [32, 32], "256": [114, 22], true: [0x87d787, 0x1a7f37] },
  warn: { "16": [33, 35], "256": [221, 94], true: [0xffd75f, 0x8a5c00] },
  danger: { "16": [91, 31], "256": [210, 160], true: [0xff8787, 0xcf222e] },
  added: { "16": [32, 32], "256": [114, 22], true: [0x87d787, 0x116329] },
  removed: { "16": [91, 31], "256": [210, 160], true: [0xff8787, 0xa40e26] },
  code: { "16": [36, 34], "256": [152, 24], true: [0xafd7d7, 0x0550ae] },
  heading: { "16": [35, 35], "256": [183, 90], true: [0xd7afff, 0x6639ba] },
  link: { "16": [34, 34], "256": [111, 26], true: [0x87afff, 0x0969da] },
  quote: { "16": [90, 90], "256": [246, 242], true: [0x949494, 0x57606a] },
  border: { "16": [90, 90], "256": [243, 244], true: [0x767676, 0x808080] },
} as const satisfies Record<string, Record<Exclude<ColorDepth, "none">, readonly [number, number]>>;

/** `token` marks placeholders for hidden characters: no foreign text can look like that. */
export type Theme = Record<keyof typeof attributes | keyof typeof meanings | "token", Paint> & {
  readonly color: ColorDepth;
  readonly background: Background;
};

/** Without colour, bold, dim and reverse stay: nothing is told by a colour alone. */
export function createTheme({ color, background }: { color: ColorDepth; background: Background }): Theme {
  const style = (on: string | number, off: number) => (text: string) =>
    text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;
  const painted = Object.entries(meanings).map(([name, codes]) => {
    if (color === "none") return [name, (text: string) => text];
    const code = codes[color][background === "dark" ? 0 : 1];
    return [name, style(foreground(color, code), 39)];
  });
  return {
    ...(Object.fromEntries(Object.entries(attributes).map(([name, [on, off]]) => [name, style(on, off)])) as Record<
      keyof typeof attributes,
      Paint
    >),
    ...(Object.fromEntries(painted) as Record<keyof typeof meanings, Paint>),
    token: style(7, 27),
    color,
    background,
  };
}

function foreground(color: Exclude<ColorDepth, "none">, code: number): string {
  if (color === "16") return `${code}`;
  return color === "256" ? `38;5;${code}` : `38;2;${code >> 16};${(code >> 8) & 0xff};${code & 0xff}`;
}

type Env = Readonly<Record<string, string | undefined>>;

/** NO_COLOR and a dumb terminal have none; else what the terminal says of itself. */
export function colorOf(env: Env): ColorDepth {
  const term = env["TERM"] ?? "";
  if (env["NO_COLOR"] || term === "dumb") return "none";
  if (/^(truecolor|24bit)$/i.test(env["COLORTERM"] ?? "") || term.endsWith("-direct")) return "true";
  return /256/.test(term) ? "256" : "16";
}

/** COLORFGBG ends in the background's number among the 16; most terminals are dark and say nothing. */
export function backgroundOf(env: Env): Background {
  const number = /;(\d+)$/.exec(env["COLORFGBG"] ?? "")?.[1];
  return number !== undefined && (Number(number) === 7 || Number(number) >= 9) ? "light" : "dark";
}

/** The theme at start: as the person wants it, else as the environment says. */
export function themeFor(env: Env, wanted: ThemeSetting = "auto"): Theme {
  return createTheme({ color: colorOf(env), background: wanted === "auto" ? backgroundOf(env) : wanted });
}

/** The terminal itself is asked whether it is light or dark; many answer. Whoever answers late or not at all is left alone. */
export async function learnBackground(
  theme: Theme,
  wanted: ThemeSetting | undefined,
  ask: () => Promise<Colour | undefined>,
): Promise<void> {
  if (theme.color === "none" || (wanted ?? "auto") !== "auto") return;
  const colour = await ask();
  if (!colour) return;
  const background = isLight(colour) ? "light" : "dark";
  if (background !== theme.background) Object.assign(theme, createTheme({ color: theme.color, background }));
}

type Colour = { r: number; g: number; b: number };

/** Judges by how bright a colour looks, of 255. */
function isLight({ r, g, b }: Colour): boolean {
  return 0.299 * r + 0.587 * g + 0.114 * b > 140;
}
