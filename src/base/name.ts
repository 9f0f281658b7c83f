import { lazy } from "./lazy.ts";

const source = String.raw`^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$`;
const whole = lazy(() => new RegExp(source, "u"));
const ascii = /^[A-Za-z0-9][\w-]{0,63}$/;

/** Pattern of names of skills, commands and subagents. Most are ASCII: a pattern over all letters takes half a millisecond to be made. */
export const namePattern = {
  source,
  flags: "u",
  test: (name: string): boolean => ascii.test(name) || whole().test(name),
};

/** The same name in other bytes is the same person. */
export function personName(by: string): string {
  return by.normalize("NFC").trim();
}

/** A message that begins with a command; undefined for anything else, such as the path /etc/hosts. */
export function readSlash(text: string): { name: string; args: string } | undefined {
  if (!text.trimStart().startsWith("/")) return undefined; // most texts, without the pattern, which takes half a millisecond to be made
  const [, name, args = ""] = /^\/([\p{L}\p{N}_-]+(?::[\p{L}\p{N}_-]+)*)(?:\s+([^]*))?$/u.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

/** The closest word, if it is close enough to be a typo of it. */
export function closest(
  word: string,
  words: readonly string[],
  within = Math.max(2, word.length / 3),
): string | undefined {
  const ranked = words
    .map((candidate) => ({
      candidate,
      far: distance(word, candidate),
      longer: Math.abs(candidate.length - word.length),
    }))
    .sort((a, b) => a.far - b.far || a.longer - b.longer);
  const [best] = ranked;
  return best && best.far <= within ? best.candidate : undefined;
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
