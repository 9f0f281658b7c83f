import { parseArgs, type ParseArgsConfig } from "node:util";
import { messageOf, SageError, said } from "../protocol/index.ts";
import { cliTexts, type CliTexts } from "../texts/cli.ts";
import { languageOf, type Lang } from "../texts/language.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

const common = { lang: { type: "string" } } as const satisfies Options;

type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ options: T & typeof common; allowPositionals: true; strict: true }>
>;

export type Flags<T extends Options> = Parsed<T> & { lang: Lang; t: CliTexts };

/** Reads a command's flags; an unknown one is answered with the one that was probably meant. */
export function readFlags<T extends Options>(args: string[], options: T): Flags<T> {
  const lang = langOf(args);
  const t = cliTexts(lang);
  const all = { ...options, ...common };
  try {
    return { ...parseArgs({ args, options: all, allowPositionals: true, strict: true }), lang, t };
  } catch (error) {
    const unknown = (error as { code?: string }).code === "ERR_PARSE_ARGS_UNKNOWN_OPTION";
    const flag = /'(-[^']*)'/.exec(messageOf(error))?.[1];
    if (!unknown || flag === undefined) throw usage(messageOf(error));
    const names = [...Object.keys(all), "help", "version"].map((name) => `--${name}`);
    throw usage(t.unknownFlag(flag, closest(flag, names)));
  }
}

/** Needed before the flags are read: what is wrong with them is said in it. */
export function langOf(args: readonly string[]): Lang {
  const at = args.findIndex((arg) => arg === "--lang" || arg.startsWith("--lang="));
  const named = at < 0 ? undefined : (args[at]?.split("=")[1] ?? args[at + 1]);
  if (named === undefined) return languageOf(process.env);
  if (named !== "en" && named !== "zh") throw usage(cliTexts("en").expected("--lang", "en or zh", named));
  return named;
}

export function usage(message: string): SageError {
  return new SageError("usage", said(message));
}

/** A word that a command would ignore is a misunderstanding. */
export function noWords(command: string, [word]: readonly string[], t: CliTexts): void {
  if (word !== undefined) throw usage(t.noWords(command, word));
}

/** 30s, 5m, 2h, or milliseconds. */
export function duration(flag: string, text: string | undefined, t: CliTexts): number | undefined {
  if (text === undefined) return undefined;
  const [, amount = "", unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim()) ?? [];
  const ms = Math.round(Number(amount) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as "ms"]);
  if (amount === "" || ms < 1) throw usage(t.expected(flag, t.duration, text));
  return ms;
}

export function count(flag: string, text: string | undefined, t: CliTexts): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text.trim())) throw usage(t.expected(flag, t.count, text));
  return Number(text);
}

/** The nearest word, when it is near enough to have been meant. */
export function closest(
  word: string,
  words: readonly string[],
  within = Math.max(2, word.length / 3),
): string | undefined {
  const ranked = words
    .map((one) => ({ one, far: distance(word, one), longer: Math.abs(one.length - word.length) }))
    .sort((a, b) => a.far - b.far || a.longer - b.longer);
  const [best] = ranked;
  return best && best.far <= within ? best.one : undefined;
}

/** Letters added, left out, replaced or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const swapped = a[i] === b[j - 1] && a[i - 1] === b[j] ? (before[j - 1] ?? Infinity) + 1 : Infinity;
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
