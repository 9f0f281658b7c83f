import { escaped, star, type Glob, type Star } from "./wild.ts";

export type Token = (string | Star)[];

/** A rule's words with their stars; undefined for more than one simple command. Quotes and `~` are the shell's; no star reaches one. */
export function tokensOf(units: Glob, home: string): Token[] | undefined {
  const tokens: Token[] = [];
  let token: Token | undefined;
  let quote: string | undefined;
  for (let i = 0; i < units.length; i++) {
    const unit = units[i]!;
    const next = units[i + 1];
    const literal = escaped(unit);
    if (unit === star || literal !== undefined) (token ??= []).push(literal ?? star);
    else if (unit === quote) quote = undefined;
    else if (quote !== undefined) {
      if (quote === '"' && "$`\\".includes(unit)) return undefined;
      token!.push(unit);
    } else if (unit === "'" || unit === '"') {
      quote = unit;
      token ??= [];
    } else if (unit === " " || unit === "\t") {
      if (token) tokens.push(token);
      token = undefined;
    } else if (unit === "~" && token === undefined && (next === undefined || next === "/" || next === " "))
      token = [...home];
    else if (unit === "\\" && typeof next === "string" && next !== "\n") {
      (token ??= []).push(...(escaped(next) ?? next));
      i++;
    } else {
      if ("\\$`;&|<>()\n".includes(unit)) return undefined;
      (token ??= []).push(unit);
    }
  }
  if (quote !== undefined) return undefined;
  if (token) tokens.push(token);
  const name = tokens[0];
  const isCommand = name !== undefined && !name.includes("=") && (name.includes(star) || !keywords.has(name.join("")));
  return isCommand ? tokens : undefined;
}

/** Words that may stand before a command without being one. */
export const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi for while until do done case esac in select function coproc".split(" "),
);

export function baseName(word: string): string {
  const base = word.slice(word.lastIndexOf("/") + 1);
  return base.toLowerCase().endsWith(".exe") ? base.slice(0, -4) : base;
}
