import { escalates } from "./escalating.ts";
import { linesOf } from "./lines.ts";
import type { Line } from "./lines.ts";
import { matchesGlob, star, unitsOf, wild } from "./wild.ts";
import type { Glob, Star } from "./wild.ts";
import { baseName, keywords, programsOf, wordsOf, wrappers } from "./words.ts";

/** One command line, read once and held against many rules. */
export type ShellReading = {
  /** An allow is a proof: the command is a simple one, and these are its words. */
  covered(specifier: string): boolean;
  /** A deny is a suspicion: some plausible part of the command is what the rule means. */
  suspected(specifier: string): boolean;
};

/** All that the rules know of the shell is behind this function. */
export function readShell(command: string): ShellReading {
  const units = [...command];
  const words = command.length > longestProof ? undefined : wordsOf(units)?.map((word) => word.join(""));
  let suspects: Suspect[][] | undefined;
  return {
    covered: (specifier) => words !== undefined && covers(specifier, words),
    suspected(specifier) {
      suspects ??= readings.map((quotes) => suspectsOf(units, quotes));
      const rule = openEnd(unitsOf(specifier));
      // Each reading of the rule is held against the same reading of the command, so a rule always meets its own text.
      return readings.some((quotes, i) =>
        linesOf(rule, { quotes, joins: "never" }).every((line) => {
          const expected = suspicion(line.words);
          return suspects![i]!.some((suspect) => meets(expected, suspect));
        }),
      );
    },
  };
}

const longestProof = 10_000;
const readings = [true, false];

// After these a name may mean something else, or they run what they are given: only the exact text covers them.
const rebinding =
  "alias . source eval exec export declare typeset local readonly trap set unset shopt hash enable".split(" ");

function covers(specifier: string, words: readonly string[]): boolean {
  const tokens = wordsOf(openEnd(unitsOf(specifier)));
  if (tokens === undefined) return false;
  const name = tokens[0]!;
  if (name.includes(star) && (name.length === 1 || words[0]!.includes("/"))) return false;
  const literal = tokens.filter((token) => !token.includes(star)).map((token) => token.join(""));
  if (literal.length < tokens.length) {
    const programs = programsOf(words);
    if (rebinding.some((program) => programs.has(program)) || escalates(words, new Set(literal))) return false;
  }
  return wild(withStars(tokens), words, matchesGlob);
}

/** `anywhere`: the first word runs what comes after its options, and where that begins only it knows. */
type Suspect = { words: readonly string[]; anywhere: boolean };

function suspectsOf(units: readonly string[], quotes: boolean): Suspect[] {
  const isContinued = units.some((unit, i) => unit === "\\" && units[i + 1] === "\n");
  const joins = isContinued ? (["always", "outside comments", "never"] as const) : (["always"] as const);
  return joins.flatMap((joins) => linesOf(units, { quotes, joins })).flatMap(startsOf);
}

function startsOf(line: Line): Suspect[] {
  const words = line.words.map((word) => word.join(""));
  const command = words.findIndex((word) => !isAssignment(word) && !keywords.has(word) && word !== "!");
  const runs = words.findIndex((word) => /^(-exec|-ok|--exec)/.test(word));
  const starts = [{ words, anywhere: false }];
  if (line.loose) starts.push({ words: words.slice(1), anywhere: false });
  if (command > 0) starts.push({ words: words.slice(command), anywhere: false });
  if (command >= 0 && wrappers.has(baseName(words[command]!)))
    starts.push({ words: words.slice(command), anywhere: true });
  if (runs >= 0) starts.push({ words: words.slice(runs + 1), anywhere: true });
  return starts;
}

function isAssignment(word: string): boolean {
  const equals = word.indexOf("=");
  return equals > 0 && /^[A-Za-z0-9_+[\]]+$/.test(word.slice(0, equals));
}

type Expected = (word: string) => boolean;

/** The first word is compared by its base name, wherever the program may lie. */
function suspicion(tokens: readonly Glob[]): (Expected | Star)[] {
  return withStars(tokens).map((token, i) => {
    if (token === star) return star;
    if (i > 0) return (word) => matchesGlob(token, word);
    const base = token.slice(token.lastIndexOf("/") + 1);
    return (word) => matchesGlob(token, word) || matchesGlob(base, baseName(word));
  });
}

function meets(expected: readonly (Expected | Star)[], { words, anywhere }: Suspect): boolean {
  const same = (fits: Expected, word: string) => fits(word);
  if (wild(anywhere ? [star, ...expected] : expected, words, same)) return true;
  // Options before a subcommand, such as `git -C dir`: which of them takes a value is not known, so it may come anywhere after.
  const [name, ...rest] = expected;
  if (name === undefined || name === star) return false;
  const at = words.findIndex(
    (word, i) => (anywhere || i === 0) && words[i + 1]?.startsWith("-") === true && name(word),
  );
  return at >= 0 && wild([star, ...rest], words.slice(at + 1), same);
}

/** `:*` at the very end is another spelling of ` *`. */
function openEnd(units: Glob): Glob {
  return units.at(-1) === star && units.at(-2) === ":" ? [...units.slice(0, -2), " ", star] : units;
}

/** A star alone is one or more words, or any number at the end; one glued to the last word leaves the end open too. */
function withStars(tokens: readonly Glob[]): (Glob | Star)[] {
  return tokens.flatMap((token, i): (Glob | Star)[] => {
    const last = i === tokens.length - 1;
    if (token.length === 1 && token[0] === star) return last ? [star] : [token, star];
    return last && token.at(-1) === star ? [token, star] : [token];
  });
}
