import { aliasesOf, isA } from "../../programs/table.ts";
import { baseName, keywords } from "../../text/tokens.ts";
import { commonText, matchesGlob, star, type Glob, type Star } from "../../text/wild.ts";
import type { PossibleCommand } from "./possible.ts";

/** Spells words not wholly known: any text, any words or none, files of a pattern. Control characters occur in no command. */
export const anyText = "\0";
export const anyWords = "\u0001";
export const anyFile = "\u0002";

const unknown = /[\0\u0001\u0002]/;

/** A rule against a command, prepared for other spellings of that command. */
export type Resemblance = {
  name: Glob;
  /** Options in the rule: they may come anywhere, in clusters, abbreviated, or under another name. */
  options: readonly string[];
  operands: readonly (Glob | Star)[];
  /** Operands that stand behind an option, as its value: `-X DELETE` may come anywhere. */
  values: readonly { option: string; value: Glob }[];
};

export function resemblanceOf(words: readonly (Glob | Star)[], name: Glob): Resemblance {
  const rest = words.slice(1);
  const texts = rest.map((word) => (word === star || word.includes(star) ? undefined : word.join("")));
  const isOption = (text: string | undefined) => text !== undefined && /^--?[A-Za-z0-9]/.test(text);
  const options = texts.filter(isOption) as string[];
  const operands = rest.filter((_, n) => !isOption(texts[n]));
  // An option that is forbidden is forbidden with any operands.
  const isOpen = operands.at(-1) === star || options.length === 0;
  const values = rest.flatMap((word, n) => {
    const option = texts[n - 1];
    return word !== star && !isOption(texts[n]) && isOption(option) ? [{ option: option!, value: word }] : [];
  });
  return { name, options, operands: isOpen ? operands : [...operands, star], values };
}

/** The program of a way to run a command is not known. */
export function isUnknownProgram({ words, anywhere }: PossibleCommand): boolean {
  if (isUnknownName(words[0])) return true;
  if (!anywhere) return false;
  // After a wrapper comes the program, behind options, of which any may take the word after it.
  let mayBeValue = false;
  for (const word of words.slice(1)) {
    if (isUnknownName(word)) return true;
    if (/^-|^[A-Za-z_]\w*=|^[\d.]+[a-z]?$/.test(word) || isA("wrapper", baseName(word)) || keywords.has(word)) {
      mayBeValue = word.startsWith("-");
      continue;
    }
    if (!mayBeValue) return false;
    mayBeValue = false;
  }
  return false;
}

function isUnknownName(word: string | undefined): boolean {
  return word !== undefined && !/^-[^-]*=/.test(word) && unknown.test(baseName(word)) && !/^[A-Za-z_]\w*=/.test(word);
}

/** A way to run a command, taken apart once and held against many rules. */
type Spelling = { name: string; args: readonly string[]; operands: readonly Operand[] };

export function spellingsOf({ words, anywhere }: PossibleCommand): Spelling[] {
  return (anywhere ? words : [words[0] ?? ""]).map((name, at) => {
    const args = words.slice(at + 1);
    return { name: baseName(name).toLowerCase(), args, operands: operandsOf(args) };
  });
}

/** This command may be what the rule is about, spelled otherwise. */
export function resembles(rule: Resemblance, { name, args, operands }: Spelling): boolean {
  if (!mayBe(rule.name, name)) return false;
  const aliases = aliasesOf(rule.name.join(""), args.find((arg) => !arg.startsWith("-")) ?? "");
  if (!mayFollow(rule.operands, operands) && !hasValues(rule, args, operands, aliases)) return false;
  return rule.options.every((option) => hasOption(option, args, aliases));
}

function mayBe(expected: Glob, text: string): boolean {
  return unknown.test(text) ? commonText(expected, shapeOf(text)) : matchesGlob(expected, text);
}

function shapeOf(text: string): Glob {
  return [...text].map((char) => (unknown.test(char) ? star : char));
}

function hasOption(option: string, args: readonly string[], aliases: readonly (readonly string[])[]): boolean {
  const letters = /^-([A-Za-z0-9]{1,4})$/.exec(option)?.[1];
  if (letters !== undefined)
    return [...letters].every((letter) =>
      named(`-${letter}`, aliases).some((option) => args.some((arg) => gives(arg, option))),
    );
  const [name = ""] = option.split("=", 1);
  return named(name, aliases).some((option) => args.some((arg) => gives(arg, option)));
}

/** Each value stands behind its option, or glued to it, wherever that is; the other operands come as they do in the rule. */
function hasValues(
  { operands: expected, values }: Resemblance,
  args: readonly string[],
  operands: readonly Operand[],
  aliases: readonly (readonly string[])[],
): boolean {
  if (values.length === 0) return false;
  const others = expected.filter((word) => !values.some(({ value }) => value === word));
  const isGiven = ({ option, value }: Resemblance["values"][number]) =>
    named(option, aliases).some((name) =>
      args.some((arg, n) => {
        if (!gives(arg, name)) return false;
        const glued = /^-[A-Za-z0-9]$/.test(name)
          ? arg.slice(arg.indexOf(name[1]!, 1) + 1).replace(/^=/, "")
          : (/=([^]*)$/.exec(arg)?.[1] ?? "");
        return mayBe(value, glued === "" ? (args[n + 1] ?? "") : glued);
      }),
    );
  return values.every(isGiven) && mayFollow(others.at(-1) === star ? others : [...others, star], operands);
}

function named(option: string, aliases: readonly (readonly string[])[]): readonly string[] {
  return [option, ...aliases.filter((group) => group.includes(option)).flat()];
}

/** An argument is this option, or may be; `+` and `:` stand for an operand that begins so. */
function gives(arg: string, option: string): boolean {
  if (option === "+" || option === ":") return arg.startsWith(option) || /^[\0\u0001]/.test(arg);
  if (/^[\0\u0001]/.test(arg)) return true;
  if (!arg.startsWith("-") || arg === "-" || arg === "--") return false;
  const [given = ""] = arg.split("=", 1);
  if (unknown.test(given)) return !given.startsWith("--") || commonText([...option, star], shapeOf(given));
  if (/^-[A-Za-z0-9]$/.test(option)) return !given.startsWith("--") && given.includes(option[1]!, 1);
  const [long, written] = [option.replace(/^--?/, ""), given.replace(/^--?/, "")];
  return written === long || (given.startsWith("--") && written.length > 1 && long.startsWith(written));
}

/** `optional`: it may be the value of the option before it. */
type Operand = { text: string; optional: boolean };

function operandsOf(args: readonly string[]): Operand[] {
  return args.flatMap((arg, n): Operand[] => {
    const value = /^-[A-Za-z](.+)$|^--[^=]+=(.+)$/.exec(arg);
    if (arg.startsWith("-") && arg !== "-") {
      const text = value?.[1] ?? value?.[2];
      return text === undefined ? [] : [{ text, optional: true }];
    }
    return [{ text: arg, optional: args[n - 1]?.startsWith("-") === true && !args[n - 1]!.includes("=") }];
  });
}

/** The operands may be those of the rule. */
function mayFollow(rule: readonly (Glob | Star)[], operands: readonly Operand[]): boolean {
  let reached = new Set([0]);
  const closed = (at: ReadonlySet<number>) => {
    const all = new Set(at);
    for (const n of all) if (rule[n] === star) all.add(n + 1);
    return all;
  };
  reached = closed(reached);
  for (const { text, optional } of operands) {
    const next = new Set<number>();
    for (const n of reached) {
      const expected = rule[n];
      if (optional) next.add(n);
      if (text.includes(anyWords)) for (let to = n; to <= rule.length; to++) next.add(to);
      if (expected === star) next.add(n);
      else if (expected !== undefined && mayBe(expected, text)) next.add(n + 1);
    }
    reached = closed(next);
  }
  return reached.has(rule.length);
}
