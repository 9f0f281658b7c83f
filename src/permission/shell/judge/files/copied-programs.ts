import { readFileSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { reason, type Reason } from "../../../../protocol/reasons/reason.ts";
import { isA } from "../../../programs/table.ts";
import type { RuleBook } from "../../../rules/book.ts";
import { baseName } from "../../../text/tokens.ts";
import type { PossibleCommand } from "../../suspect/possible.ts";

/** Folders in which a program may lie; `searched` are those that the line puts on the search path. */
export type Places = { bases: readonly string[]; searched: readonly string[] };

/** Programs that rules are against, of which this file is a link or a copy. */
export function trueNames(program: string, { bases, searched }: Places, named: readonly string[]): string[] {
  if (named.length === 0 || program === "") return [];
  const folders = program.includes("/") ? [""] : searched;
  const paths = bases.flatMap((base) => folders.map((folder) => resolve(base, folder, program)));
  const found = paths.flatMap((path) => {
    const real = followedLinks(path);
    if (real === undefined) return [];
    const name = baseName(real).toLowerCase();
    return named.filter((rule) => rule === name || (rule !== baseName(path).toLowerCase() && isCopy(real, rule)));
  });
  return [...new Set(found)];
}

/** A program that a rule is against is put under another name, where no rule sees it any more. */
export function copiedProgram(
  ways: readonly PossibleCommand[],
  bases: readonly string[],
  { namedAgainst }: RuleBook,
): Reason | undefined {
  if (namedAgainst.length === 0) return undefined;
  const lists = ways.flatMap(({ words, anywhere }) => (anywhere ? words.map((_, at) => words.slice(at)) : [words]));
  for (const words of lists) {
    const [name = "", ...args] = words.slice(words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word)));
    if (!isA("copier", baseName(name))) continue;
    const program = args.map((arg) => arg.replace(/^if=/, "")).find((arg) => isRuledProgram(arg, bases, namedAgainst));
    if (program !== undefined) return reason("copies-program", { program });
    // `cp $(which rm) z`
    const isSought = args.some((arg) => /^[$`]/.test(arg));
    const sought = isSought ? lists.flatMap(soughtIn) : [];
    const found = sought.find((arg) => namedAgainst.includes(arg.toLowerCase()));
    if (found !== undefined) return reason("copies-program", { program: found });
  }
  return undefined;
}

/** Names that `which` and its like look up. */
function soughtIn([name = "", ...args]: readonly string[]): string[] {
  return /^(which|command|type|whereis|hash)$/.test(baseName(name)) ? args.map(baseName) : [];
}

function isRuledProgram(arg: string, bases: readonly string[], named: readonly string[]): boolean {
  return bases.some((base) => {
    const path = resolve(base, arg);
    const paths = [path, followedLinks(path) ?? path].filter((file) => places.test(file));
    return paths.some((file) => named.includes(baseName(file).toLowerCase()));
  });
}

/** Folders that programs lie in. */
const places = /^(\/usr(\/local)?|\/opt\/[^/]+|\/snap)?\/(s?bin|games)\/[^/]+$/;

/** The bytes of the system's program of that name. */
function isCopy(path: string, name: string): boolean {
  return ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"].some((folder) => {
    try {
      const [left, right] = [statSync(path), statSync(`${folder}/${name}`)];
      if (left.ino === right.ino && left.dev === right.dev) return true;
      if (left.size !== right.size || left.size > MAX_BYTES) return false;
      return readFileSync(path).equals(readFileSync(`${folder}/${name}`));
    } catch {
      return false;
    }
  });
}

const MAX_BYTES = 64 * 1024 * 1024;

function followedLinks(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
