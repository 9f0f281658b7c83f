import { parseArgs, type ParseArgsConfig } from "node:util";
import { closest } from "../../base/name.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { cliTexts, type CliTexts } from "../../texts/commands/cli.ts";
import { languageOf, type Lang } from "../../texts/language.ts";

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
    const flag = /'(-[^']*)'/.exec(thrownText(error))?.[1];
    if (!unknown || flag === undefined) throw usage(misused(thrownText(error), t));
    if (flag === "--engine") throw usage(t.noEngine);
    const names = [...Object.keys(all), "help", "version"].map((name) => `--${name}`);
    throw usage(t.unknownFlag(flag, closest(flag, names)));
  }
}

/** Reads the flags of a command that takes no words: one that it would ignore is a misunderstanding. */
export function readFlagsOnly<T extends Options>(command: string, args: string[], options: T): Flags<T> {
  const flags = readFlags(args, options);
  noWords(command, flags.positionals, flags.t);
  return flags;
}

/** Node says it in English alone: a value is missing, begins with a dash, or is not wanted. */
function misused(problem: string, t: CliTexts): string {
  const flag = /--[\w-]*\w/.exec(problem)?.[0];
  if (flag === undefined) return problem;
  return problem.includes("does not take") ? t.noValue(flag) : t.needsValue(flag);
}

export type Actions = Record<string, () => Promise<(args: string[]) => Promise<number>>>;

/** Runs the action that the first word names. */
export async function runAction(actions: Actions, [name = "", ...rest]: string[], how: () => string): Promise<number> {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw usage(how());
  return (await action())(rest);
}

/** Needed before flags are parsed: errors about them are printed in it. */
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

/** 30s, 5m, 2h, 7d, or milliseconds. */
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
