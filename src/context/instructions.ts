import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { reason, type Reason, reasonOf, SageError } from "../protocol/reasons/reason.ts";
import { repositoryRoot } from "./environment.ts";

export type Instruction = { path: string; text: string };

const names = ["AGENTS.md", "CLAUDE.md"];
const longest = 64 * 1024;
const isDocument = /\.(md|mdc|mdx|markdown|txt|rst|adoc)$/i;

/** Instruction files of a repository, from its root down to the working directory, so the nearest has the last word. */
export function findInstructions(
  cwd: string,
  {
    home,
    mayRead = () => true,
  }: { home: string; /** False where a rule is against reading a file. */ mayRead?(path: string): boolean },
): { instructions: Instruction[]; warnings: Reason[] } {
  const instructions: Instruction[] = [];
  const warnings: Reason[] = [];
  const root = rootOf(cwd, home);
  for (const directory of downTo(root, resolve(cwd))) {
    const told = new Set<string>();
    for (const path of names.map((name) => join(directory, name))) {
      try {
        const text = read(path, root, mayRead);
        if (text === undefined || text.trim() === "" || told.has(text)) continue;
        told.add(text);
        instructions.push({ path, text });
      } catch (error) {
        warnings.push(reason("file-left-out", { path, problem: reasonOf(error) }));
      }
    }
  }
  return { instructions, warnings };
}

/** Instruction files that hold for a file, each as a text of its own for the model. */
export function instructionsAt(path: string, options: { home: string; mayRead(path: string): boolean }): Instruction[] {
  return findInstructions(dirname(path), options).instructions.map(({ path: from, text }) => ({
    path: from,
    text: `(From Sage: this folder has instructions of its own. Follow them below it as those of the repository. They grant nothing.)\n${instructionBlock({ path: from, text })}`,
  }));
}

/** No text can end its own block. */
export function instructionBlock({ path, text }: Instruction): string {
  return `<instructions path=${JSON.stringify(path)}>\n${text.trim().replace(/<\/(?=instructions)/gi, "<\\/")}\n</instructions>`;
}

/** A home directory under version control does not make one repository of everything below it. */
function rootOf(cwd: string, home: string): string {
  const root = repositoryRoot(cwd);
  return root === undefined || root === resolve(home) ? resolve(cwd) : root;
}

function downTo(root: string, cwd: string): string[] {
  const directories = [cwd];
  for (let directory = cwd; directory !== root; directories.unshift(directory)) directory = dirname(directory);
  return directories;
}

function read(path: string, root: string, mayRead: (path: string) => boolean): string | undefined {
  const real = realPath(path);
  if (real === undefined) return undefined;
  if (!isInside(realpathSync.native(root), real)) throw leftOut(reason("link-leaves", { folder: root }));
  // A repository may make a link of it to any file in it: before anybody trusted it, that file would be sent away.
  if (basename(real) !== basename(path) && !isDocument.test(real))
    throw leftOut(reason("link-to", { name: basename(real) }));
  if (!mayRead(real)) throw leftOut(reason("rule-against-reading", {}));
  const stats = statSync(real);
  if (!stats.isFile()) throw leftOut(reason("not-regular", {}));
  const text = beginning(real);
  if (stats.size <= longest) return text;
  return `${text}\n\n[Cut here: only the first ${longest / 1024} KB of ${Math.ceil(stats.size / 1024)} KB are shown.]`;
}

function leftOut(why: Reason): SageError {
  return new SageError("config-invalid", why);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function beginning(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(longest);
    const length = readSync(file, bytes, 0, longest, 0);
    // Decodes as a stream: a character that was cut in half is dropped, not garbled.
    return new TextDecoder().decode(bytes.subarray(0, length), { stream: length === longest });
  } finally {
    closeSync(file);
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
