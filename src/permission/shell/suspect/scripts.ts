import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isInside } from "../../paths/canonical.ts";
import { baseName } from "../../text/tokens.ts";
import type { PossibleCommands } from "./possible.ts";

/** Programs that run the files they are given. Version numbers behind the name do not count. */
const interpreters: ReadonlySet<string> = new Set(
  (
    "sh bash dash zsh ksh fish . source python pypy node nodejs deno bun tsx ts-node ruby perl php lua luajit rscript julia pwsh " +
    "osascript tclsh expect awk gawk groovy scala java make gmake just"
  ).split(" "),
);

const mostFolders = 20;
const mostScripts = 50;

/**
 * Files of the workspace that a command runs because it names them: a program by its path, or the operand of an interpreter. By
 * a generous reading, since one file too many costs nothing but a look.
 */
export function namedScripts({ readings, names }: PossibleCommands, cwd: string, roots: readonly string[]): string[] {
  const places = [cwd, ...[...names].filter((name) => mayBeFolder(name)).map((name) => resolve(cwd, name))];
  const folders = [...new Set(places)].filter((place) => kindOf(place) === "folder").slice(0, mostFolders);
  const words = new Set(readings[0].flatMap((command) => runBy(command.words)));
  const found = new Set<string>();
  for (const word of words)
    for (const folder of folders) {
      const path = resolve(folder, word);
      if (kindOf(path) !== "file") continue;
      const real = realpathSync(path);
      if (roots.some((root) => isInside(root, real))) found.add(real);
      if (found.size === mostScripts) return [...found].sort();
    }
  return [...found].sort();
}

/** Words of a command that may be files that it runs. */
function runBy(words: readonly string[]): string[] {
  const [program = ""] = words;
  const by = words.findIndex((word) => interpreters.has(familyOf(word)));
  const given = by < 0 ? [] : words.slice(by + 1).filter((word) => !word.startsWith("-"));
  return program.includes("/") ? [program, ...given] : given;
}

/** `python3.12` is a `python`. */
function familyOf(word: string): string {
  return baseName(word)
    .toLowerCase()
    .replace(/[\d.]+$/, (digits) => (digits === "." ? "." : ""));
}

function mayBeFolder(name: string): boolean {
  return name !== "" && name.length < 4_096 && !name.startsWith("-") && !name.includes("\0");
}

function kindOf(path: string): "file" | "folder" | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() ? "file" : stat.isDirectory() ? "folder" : undefined;
  } catch {
    return undefined;
  }
}
