import { decodeAnsi } from "../../text/ansi.ts";
import { withoutBraces } from "../../text/braces.ts";
import { fed, handedOn } from "./carriers.ts";
import { linesOf, type Line } from "./lines.ts";
import { resemblanceOf, type Resemblance } from "./resemblance.ts";
import { matchesGlob, openEnd, star, unitsOf, wild, withStars, type Glob, type Star } from "../../text/wild.ts";
import { plainWords } from "../../programs/plain-words.ts";
import { isA } from "../../programs/table.ts";
import { baseName, keywords } from "../../text/tokens.ts";

/** Words that may run. `anywhere`: the first word runs what follows its options. `reworded`: the line says it in other words. */
export type PossibleCommand = { words: readonly string[]; anywhere: boolean; reworded?: true };

/** All commands that a text may run, in two readings: with the quotes as they stand, and as if there were none. */
export type PossibleCommands = {
  readings: readonly [readonly PossibleCommand[], readonly PossibleCommand[]];
  /** Every word of them, also as a base name. */ names: ReadonlySet<string>;
};

/** Commands that the text may run, by the most generous reading: a deny needs no proof. */
export function possibleCommands(command: string, found: readonly PossibleCommand[] = []): PossibleCommands {
  const spellings = [
    command,
    unescaped(command),
    withoutBraces(command),
    withPlainNames(command),
    withoutTicks(command),
  ];
  const texts = [...new Set(spellings)].map((text) => [...text]);
  const isContinued = command.includes("\\\n");
  const joins = isContinued ? (["always", "outside comments", "never"] as const) : (["always"] as const);
  const read = (quotes: boolean) =>
    texts
      .flatMap((text) => joins.flatMap((joins) => linesOf(text, { quotes, joins })))
      .flatMap((line) => startsOf(line, command));
  return gather([...found, ...read(true)], read(false));
}

/** With every `$'…'` decoded, also where it is part of a text that another shell will read. */
function unescaped(command: string): string {
  let plain = "";
  let from = 0;
  for (let at = command.indexOf("$'"); at >= 0; at = command.indexOf("$'", from)) {
    const { text, end } = decodeAnsi(command, at + 2) ?? {};
    plain += command.slice(from, at) + (text ?? command.slice(at, at + 2));
    from = text === undefined ? at + 2 : end!;
  }
  return plain + command.slice(from);
}

/** Backticks as `$(…)`: in them a backslash before a backtick belongs to the next level. */
export function withoutTicks(text: string): string {
  let plain = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    const end = char === "`" ? tickAfter(text, at + 1) : -1;
    if (char === "\\") plain += char + (text[++at] ?? "");
    else if (end < 0) plain += char;
    else {
      plain += `$(${withoutTicks(text.slice(at + 1, end).replace(/\\([`\\$])/g, "$1"))})`;
      at = end;
    }
  }
  return plain;
}

function tickAfter(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "`") return at;
    if (text[at] === "\\") at++;
  }
  return -1;
}

/** Other ways to write `$PWD` and its like. */
function withPlainNames(command: string): string {
  return command.replace(/\$\{(HOME|PWD|OLDPWD)\}/g, "$$$1").replace(/\$\(\s*pwd\s*\)|`\s*pwd\s*`/g, "$$PWD");
}

/** The ways in which one known command may be meant. */
export function waysToRun(words: readonly string[]): PossibleCommand[] {
  return starts(words, false);
}

export function gather(
  quoted: readonly PossibleCommand[],
  bare: readonly PossibleCommand[] = quoted,
): PossibleCommands {
  const names = new Set<string>();
  for (const { words } of [...quoted, ...bare])
    for (const word of words) {
      names.add(word);
      names.add(programName(word));
    }
  return { readings: [quoted, bare], names };
}

function startsOf({ words, loose }: Line, command: string): PossibleCommand[] {
  const texts = words.map((word) => word.join(""));
  return [...starts(texts, loose), ...fed(command, texts).map(plainly)];
}

function plainly(words: readonly string[]): PossibleCommand {
  return { words, anywhere: false };
}

/** Not every disk tells upper case from lower. */
function programName(word: string): string {
  return baseName(word).toLowerCase();
}

function starts(words: readonly string[], loose: boolean): PossibleCommand[] {
  const command = words.findIndex((word) => !isAssignment(word) && !keywords.has(word) && word !== "!");
  const runs = words.findIndex((word) => /^(-exec|-ok|--exec)/.test(word));
  const found = [plainly(words)];
  if (loose) found.push({ words: words.slice(1), anywhere: false });
  if (command > 0) found.push({ words: words.slice(command), anywhere: false });
  if (command >= 0 && isA("wrapper", baseName(words[command]!)))
    found.push({ words: words.slice(command), anywhere: true });
  if (runs >= 0) {
    const run = words.slice(runs + 1);
    const end = run.findIndex((word) => word === ";" || word === "+");
    found.push({ words: run, anywhere: true }, plainly(run.slice(0, end < 0 ? run.length : end)));
  }
  found.push(...handedOn(words).map(plainly));
  return [...found, ...found.flatMap(inPlainWords)];
}

/** The same act in other words: `npm pub` is `npm publish`. */
function inPlainWords({ words, anywhere }: PossibleCommand): PossibleCommand[] {
  const tails = anywhere ? words.map((_, at) => words.slice(at)) : [words];
  return tails
    .flatMap((tail) => plainWords(tail).flatMap((plain) => [plain, ...plainWords(plain)]))
    .map((plain) => ({ words: plain, anywhere: false, reworded: true }));
}

function isAssignment(word: string): boolean {
  const equals = word.indexOf("=");
  return equals > 0 && /^[A-Za-z0-9_+[\]]+$/.test(word.slice(0, equals));
}

/** Command of a deny or ask rule, compiled once and held against many texts. */
export type CommandPattern = {
  readings: readonly [Expected[], Expected[]];
  head: string | undefined;
  /** For commands that may be the same in another spelling; undefined for a rule of several commands. */
  resemblance: Resemblance | undefined;
  /** The same rule in other words. */
  also?: CommandPattern;
};
/** The words of one line. The first is compared by its base name too, wherever the program may lie. */
type Expected = {
  words: (Glob | Star)[];
  base: Glob | undefined;
  /** Words that must be there just so: where one is not, there is nothing to compare. */
  literal: readonly string[];
};

export function commandPatternOf(specifier: string): CommandPattern {
  const rule = openEnd(unitsOf(specifier));
  const plain = plainRule(specifier);
  // Each reading of the rule is held against the same reading of the command, so a rule always meets its own text.
  const read = (quotes: boolean) =>
    linesOf(rule, { quotes, joins: "never" }).map(({ words }): Expected => {
      const [name] = words;
      const base = name?.slice(name.lastIndexOf("/") + 1);
      const literal = words.slice(1).filter((word) => !word.includes(star)) as string[][];
      return {
        words: withStars(words),
        base: base?.map((char) => (char === star ? char : char.toLowerCase())),
        literal: literal.map((word) => word.join("")),
      };
    });
  const readings = [read(true), read(false)] as const;
  const names = readings.map(([first]) => first?.base);
  const isPlain = names.every(
    (name) => name !== undefined && !name.includes(star) && name.join("") === names[0]?.join(""),
  );
  const [first, ...more] = readings[0];
  const resemblance = first?.base && more.length === 0 ? resemblanceOf(first.words, first.base) : undefined;
  const also = plain === undefined ? undefined : commandPatternOf(plain);
  const head = isPlain && (also === undefined || also.head === names[0]!.join("")) ? names[0]!.join("") : undefined;
  return { readings, head, resemblance: also?.resemblance ?? resemblance, ...(also && { also }) };
}

/** The rule in the words that commands are read in too. */
function plainRule(specifier: string): string | undefined {
  const [, text = "", end = ""] = /^([^'"\\;|&<>()$`]*?)((?::\*| \*|\*)?)$/.exec(specifier) ?? [];
  const words = plainWords(text.split(" ").filter((word) => word !== ""))[0];
  return words && words.join(" ") !== text ? words.join(" ") + end : undefined;
}

/** Every line of the rule is met by something in the command. */
export function mayRun({ readings, head, also }: CommandPattern, possible: PossibleCommands): boolean {
  if (also && mayRun(also, possible)) return true;
  if (head !== undefined && !possible.names.has(head)) return false;
  return readings.some((lines, i) =>
    lines.every(
      (line) =>
        line.literal.every((word) => possible.names.has(word)) &&
        possible.readings[i]!.some((command) => meets(line, command)),
    ),
  );
}

function meets({ words: expected, base }: Expected, { words, anywhere }: PossibleCommand): boolean {
  const named = (glob: Glob, word: string) => matchesGlob(glob, word) || matchesGlob(base!, programName(word));
  const same = (glob: Glob, word: string) => (glob === expected[0] ? named(glob, word) : matchesGlob(glob, word));
  if (wild(anywhere ? [star, ...expected] : expected, words, same)) return true;
  // Options before a subcommand, such as `git -C dir`: which of them takes a value is not known, so it may come anywhere after.
  const [name, ...rest] = expected;
  if (name === undefined || name === star) return false;
  const at = words.findIndex(
    (word, i) => (anywhere || i === 0) && words[i + 1]?.startsWith("-") === true && named(name, word),
  );
  return at >= 0 && wild([star, ...rest], words.slice(at + 1), same);
}
