import { isAbsolute, resolve } from "node:path";
import type { Rule } from "../../../protocol/index.ts";
import type { Reach } from "../../rules/access.ts";
import type { CanonicalPath, Disk } from "../../paths/canonical.ts";
import { expandHome, isInside, longestPath, statOf } from "../../paths/canonical.ts";
import type { Suspects } from "../suspect/suspects.ts";
import { baseName } from "../../text/tokens.ts";
import { isWriter } from "../../programs/writers.ts";

type Doubts = { cwd: string; home: string; disk: Disk; reach: Reach; suspects: Suspects };

/** Rules against a path that one of these words may name, of commands whose words are not understood. */
export function suspiciousPaths(words: readonly string[], doubts: Doubts): { deny?: Rule; ask?: Rule } {
  const found: { deny?: Rule; ask?: Rule } = {};
  if (!doubts.reach.watchful) return found;
  for (const path of pathsAmong(words, doubts)) {
    for (const { deny, ask } of [doubts.reach.read(path), doubts.reach.write(path)]) {
      if (deny) found.deny ??= deny;
      if (ask) found.ask ??= ask;
    }
  }
  return found;
}

/** A write to a protected place inside of something that is not taken apart, or that another program carries out. */
export function suspiciousWrite(text: string, doubts: Doubts): string | undefined {
  if (!mayWrite(text, doubts.suspects)) return undefined;
  for (const path of pathsAmong([...doubts.suspects.words], doubts)) {
    const hard = doubts.reach.guarded(path);
    if (hard !== undefined) return hard;
  }
  return undefined;
}

/** Whether anything in it looks as if it wrote a file. */
function mayWrite(text: string, { words }: Suspects): boolean {
  const free = /\d*>&\d+|(\d*|&)>>?\s*\/dev\/(null|stdout|stderr)(?![\w/.-])/g;
  return text.replace(free, " ").includes(">") || [...words].some(isWriter);
}

/** Removing a root: `/`, a folder right below it, home, the workspace or what is above it. Asked about whoever allows it. */
export function suspiciousRemoval(doubts: Doubts): string | undefined {
  const { suspects, cwd, home, disk } = doubts;
  if (!["rm", "rmdir", "-delete"].some((word) => suspects.words.has(word))) return undefined;
  const roots = [cwd, home].flatMap((path) => [path, safely(() => disk.follow(path)) ?? path]);
  const bases = basesOf(doubts);
  for (const { words, anywhere } of suspects.readings.flat()) {
    const at = words.findIndex((word, i) => (i === 0 || anywhere) && /^rm(dir)?$/.test(baseName(word)));
    const operands = at < 0 ? foundIn(words) : words.slice(at + 1);
    if (at > 0 && baseName(words[0]!) === "xargs" && isBlind(operands)) return "what would be removed may be anything";
    for (const operand of operands) {
      if (operand.startsWith("-") && operand !== "-") continue;
      if (/^\$[A-Za-z0-9_]*\/+(\*|\.\*|\*\*)?\/*$/.test(operand)) return `${operand} may be anything, / included`;
      // All that a folder holds is the folder.
      const named = operand.replace(/(^|\/)(\*|\.\*|\*\*|\{\*,\.\*\}|\.\[!\.\]\*)\/*$/, "$1");
      const path = expandHome(named === "" ? "." : named, home);
      const root = path === undefined ? undefined : bases.map((base) => rootIn(path, base, roots, disk)).find(Boolean);
      if (root !== undefined) return `${root} would be removed`;
    }
  }
  return undefined;
}

/** Whole folders, and nothing says which. */
function isBlind(operands: readonly string[]): boolean {
  return operands.every((word) => word.startsWith("-")) && operands.some((word) => /^-[A-Za-z]*[rR]|^--rec/.test(word));
}

/** `find . -delete`, where nothing chooses among what is found. */
function foundIn([name = "", ...args]: readonly string[]): string[] {
  if (baseName(name) !== "find" || !args.includes("-delete")) return [];
  const first = args.findIndex((arg) => /^[-(!]/.test(arg));
  const chooses = args.slice(first).some((arg) => arg.startsWith("-") && !/^-(delete|depth|xdev|mount)$/.test(arg));
  return chooses ? [] : first === 0 ? ["."] : args.slice(0, first);
}

function rootIn(path: string, base: string, roots: readonly string[], disk: Disk): string | undefined {
  const lexical = resolve(base, path);
  const real = safely(() => disk.follow(isAbsolute(path) ? path : `${base}/${path}`)) ?? lexical;
  return [lexical, real].find((one) => one.split("/").length <= 2 || roots.some((root) => isInside(one, root)));
}

/** Where a line may have gone by then, wherever in it the `cd` stands. */
function basesOf({ suspects, cwd, home }: Doubts): string[] {
  const moves = suspects.readings.flat().flatMap(({ words: [name, to] }) => {
    const path = name === "cd" || name === "pushd" ? expandHome(to ?? "~", home) : undefined;
    return path === undefined ? [] : [resolve(cwd, path)];
  });
  return [...new Set([cwd, ...moves])].slice(0, 50);
}

function pathsAmong(words: readonly string[], doubts: Doubts): CanonicalPath[] {
  const bases = basesOf(doubts);
  const texts = new Set(
    words.flatMap((word) => (word.length > longestPath || word.includes("\0") ? [] : within(word))),
  );
  return [...texts].flatMap((text) => {
    const path = expandHome(text, doubts.home);
    if (path === undefined) return [];
    return bases.flatMap((base): CanonicalPath[] => {
      const lexical = resolve(base, path);
      // A word without a dot or a slash is more often a word than a file.
      if (!/[./]/.test(path) && !exists(lexical)) return [];
      const real = safely(() => doubts.disk.follow(isAbsolute(path) ? path : `${base}/${path}`)) ?? lexical;
      return [{ lexical, real }];
    });
  });
}

/** A file may be the value of an option, or follow a sign: `--env-file=.env`, `@.env`, `HEAD:.env`, `-I../x`. */
function within(word: string): string[] {
  const pieces = [word, ...word.split(/[=@:,<>]/).slice(1)];
  if (/^-[A-Za-z]./.test(word)) pieces.push(word.slice(2));
  return pieces.filter((piece) => piece !== "" && !piece.startsWith("-"));
}

function exists(path: string): boolean {
  return safely(() => statOf(path)) !== undefined;
}

/** What cannot be looked up is judged by its name. */
function safely<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
