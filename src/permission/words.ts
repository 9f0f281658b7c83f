import { escaped, star } from "./wild.ts";
import type { Glob, Star } from "./wild.ts";

export type Word = (string | Star)[];

/**
 * The words of a simple command, or undefined when it is not provably one. Whatever could mean more than itself to
 * the shell is outside the closed set below; a star or an escaped character of a rule never reaches a shell.
 */
export function wordsOf(units: Glob): Word[] | undefined {
  const words: Word[] = [];
  let word: Word | undefined;
  let quote: string | undefined;
  for (const unit of units) {
    const literal = escaped(unit);
    if (unit === star || literal !== undefined) (word ??= []).push(literal ?? star);
    else if (unit === quote) quote = undefined;
    else if (quote !== undefined) {
      if (!isPrintable(unit) || "$`\\".includes(unit)) return undefined;
      word!.push(unit);
    } else if (unit === "'" || unit === '"') {
      quote = unit;
      word ??= [];
    } else if (unit === " " || unit === "\t") {
      if (word) words.push(word);
      word = undefined;
    } else {
      if (!isBare(unit)) return undefined;
      (word ??= []).push(unit);
    }
  }
  if (quote !== undefined) return undefined;
  if (word) words.push(word);
  const name = words[0];
  const isCommand = name !== undefined && !name.includes("=") && (name.includes(star) || !keywords.has(name.join("")));
  return isCommand ? words : undefined;
}

/** What may stand before a command without being one. */
export const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi for while until do done case esac in select function coproc".split(" "),
);

/** Programs whose arguments are themselves a command. */
export const wrappers: ReadonlySet<string> = new Set(
  (
    "sudo doas su env timeout time nice nohup stdbuf command builtin exec eval trap xargs parallel watch setsid ionice chrt taskset " +
    "flock chroot unshare strace ltrace busybox toybox caffeinate sh bash zsh dash ksh fish"
  ).split(" "),
);

export function baseName(word: string): string {
  const base = word.slice(word.lastIndexOf("/") + 1);
  return base.toLowerCase().endsWith(".exe") ? base.slice(0, -4) : base;
}

/** The programs that may run here, and after which word their arguments begin at the earliest. */
export function programsOf(words: readonly string[]): Map<string, number> {
  const programs = new Map<string, number>();
  const reach = wrappers.has(baseName(words[0] ?? "")) ? words.length : 1;
  for (const [i, word] of words.slice(0, reach).entries()) {
    const name = baseName(word);
    if (!programs.has(name)) programs.set(name, i);
  }
  return programs;
}

function isPrintable(char: string): boolean {
  return char.length === 1 && char < "\x7f" ? char >= " " : /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char);
}

function isBare(char: string): boolean {
  return char < "\x7f" ? /^[A-Za-z0-9_./,:@%+=^-]$/.test(char) : isPrintable(char);
}
