import { globSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { expandHome, isInside } from "../../paths/canonical.ts";
import { isA } from "../../programs/table.ts";
import { baseName } from "../../text/tokens.ts";
import type { PossibleCommands } from "./possible.ts";

const mostFolders = 20;
const mostWords = 300;
const mostScripts = 50;

/**
 * Files of the workspace that a command runs because it names them: a program by its path, whatever stands before it, and every file
 * that is named on a line with an interpreter, be it the operand, the value of an option, or what is piped into it. By a generous
 * reading, since one file too many costs nothing but a look.
 */
export function namedScripts({ readings, names }: PossibleCommands, cwd: string, roots: readonly string[]): string[] {
  const words = [...new Set([...names].slice(0, mostWords).filter(mayBePath))];
  const folders = namedFolders(names, cwd);
  const programs = new Set(
    readings[0].flatMap(({ words: [program = ""] }) => (program.includes("/") ? [program] : [])),
  );
  const isInterpreted = words.some(isInterpreter) || (names.has("git") && names.has("apply"));
  const found = new Set<string>();
  for (const word of words.flatMap((text) => within(text, isInterpreted)))
    for (const folder of folders)
      for (const path of filesOf(word, folder, isInterpreted)) {
        const kind = fileKind(path);
        // A file that may be run counts also behind a word that nobody knows: `timeout 5 ./x`.
        if (kind !== "program" && !(kind === "file" && (isInterpreted || programs.has(word)))) continue;
        const real = realpathSync(path);
        if (roots.some((root) => isInside(root, real))) found.add(real);
        if (found.size === mostScripts) return [...found].sort();
      }
  return [...found].sort();
}

/** The folder that a command begins in, and those it names: it may go there. */
export function namedFolders(names: ReadonlySet<string>, cwd: string): string[] {
  const words = [...names].slice(0, mostWords).filter(mayBePath);
  return [...new Set([cwd, ...words.map((word) => resolve(cwd, word))])]
    .filter((place) => fileKind(place) === "folder")
    .slice(0, mostFolders);
}

/** A word and the files that may be in it: values of options and of variables, modules of Python. */
function within(word: string, isInterpreted: boolean): string[] {
  const glued = /^-[A-Za-z](.+)$/.exec(word)?.[1];
  const pieces = [word, ...word.split("=").slice(1), ...(glued === undefined ? [] : [glued])];
  const paths = pieces.filter((piece) => piece !== "" && !piece.startsWith("-"));
  if (!isInterpreted) return paths;
  const modules = paths.filter((piece) => /^\w+(\.\w+)*$/.test(piece)).map((name) => name.replaceAll(".", "/"));
  return [...paths, ...modules.flatMap((name) => [`${name}.py`, `${name}/__main__.py`])];
}

function filesOf(word: string, folder: string, isInterpreted: boolean): string[] {
  const path = expandHome(word, "/").replace(/^~\+\//, "");
  if (!isInterpreted || !/[*?[]/.test(path) || path.includes("**")) return [resolve(folder, path)];
  return globSync(path, { cwd: folder })
    .slice(0, mostScripts)
    .map((path) => resolve(folder, path));
}

function isInterpreter(word: string): boolean {
  return isA("obedient", baseName(word));
}

function mayBePath(name: string): boolean {
  return name !== "" && name.length < 4_096 && !name.includes("\0");
}

export function fileKind(path: string): "file" | "program" | "folder" | undefined {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return "folder";
    return stat.isFile() ? ((stat.mode & 0o111) === 0 ? "file" : "program") : undefined;
  } catch {
    return undefined;
  }
}
