import { hash } from "node:crypto";
import { readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ContentFile } from "../../context/content.ts";
import { isFolder, isInside } from "../../permission/paths/canonical.ts";
import type { RuleDestination } from "../../protocol/decision.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import { readSmallFile } from "./small-file.ts";

const MAX_SHOWN_BYTES = 64 * 1024;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_PATH_LENGTH = 900;
const MAX_FILES = 500;

/** Files that a hook's command may name, each word counts: inside the folder also ones yet to be made, elsewhere the person's own. */
export function filesIn(command: string, folder: string): string[] {
  const words = command.split(/[\s"'`;|&()<>{}$=,:]+/).filter((word) => word !== "" && !word.startsWith("-"));
  const paths = words.flatMap((word) => {
    const path = word.startsWith("~/") ? join(homedir(), word.slice(2)) : resolve(folder, word);
    const later = word.includes("/") && isInside(folder, path);
    const theirs = isInside(folder, path) || isInside(homedir(), path);
    if (isFolder(path)) return [];
    return later || (theirs && contentOf(path) !== undefined) ? [path] : [];
  });
  const all = [...paths, ...foldersRun(command, folder)];
  return [...new Set(all)].filter((path) => path !== folder && path.length <= MAX_PATH_LENGTH);
}

/** Folders whose files a command runs: an interpreter's first operand, or a pattern. Were others bound, each edit in `src` would ask. */
function foldersRun(command: string, folder: string): string[] {
  const words = command.split(/[\s"'`;|&()<>{}$]+/).filter((word) => word !== "");
  const runs = (word: string) =>
    /^(?:.*\/)?(run-parts|sh|bash|zsh|dash|source|\.|node|deno|bun|tsx|python[\d.]*|ruby|perl|php)$/.test(word);
  const isAnyRun = words.some((word) => runs(word));
  const named = words.flatMap((word, n) => {
    if (word.startsWith("-")) return [];
    if (word.includes("*")) return isAnyRun ? [dirname(word.slice(0, word.indexOf("*") + 1))] : [];
    const before = words.slice(0, n).findLast((word) => !word.startsWith("-") && word !== "run");
    return before !== undefined && runs(before) ? [word] : [];
  });
  return named
    .map((name) => resolve(folder, name))
    .filter((path) => path !== folder && isInside(folder, path) && isFolder(path));
}

/** The same with what they say now; those that lie elsewhere, or are not there, are left out. */
export function scriptsIn(commands: readonly string[], folder: string): ContentFile[] {
  const paths = [...new Set(commands.flatMap((command) => filesIn(command, folder)))].filter((path) =>
    isInside(folder, path),
  );
  return paths.flatMap((path) => {
    const text = contentOf(path, folder);
    return text === undefined ? [] : [{ path, text }];
  });
}

/** The first of these files that has changed: a hook that runs it is no longer the one the person trusted. */
export function changedScript(scripts: readonly ContentFile[], folder: string): string | undefined {
  return scripts.find(({ path, text }) => contentOf(path, folder) !== text)?.path;
}

/** An agent's edit of a hook is asked about, whatever rule allows it. */
export function rulesFor(paths: readonly string[], source: RuleDestination): Rule[] {
  return paths.map((path) => ({ behavior: "ask", text: `Edit(${path.replaceAll(/[()*\\]/g, "\\$&")})`, source }));
}

/** Names of the files in a folder and a hash of their content, which tell them from others. */
function contentBelow(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const said = names.slice(0, MAX_FILES).map((name) => [name, contentOf(join(folder, name), folder) ?? ""]);
  const shown = names.slice(0, 20).join(", ");
  return `(${names.length} files: ${shown}; sha256 ${hash("sha256", JSON.stringify([said, names]))})`;
}

/** Text of a script; of a large one or a binary, a hash that tells it from others. Undefined where there is no file. */
export function contentOf(path: string, folder?: string): string | undefined {
  try {
    if (folder !== undefined && !isInside(realpathSync(folder), realpathSync(path)))
      return "(it leads out of the folder)";
    if (isFolder(path)) return contentBelow(path);
    const text = readSmallFile(path, MAX_FILE_BYTES);
    if (text === undefined || (text.length <= MAX_SHOWN_BYTES && !/[\0\ufffd]/.test(text))) return text;
    return `(${text.length} characters, sha256 ${hash("sha256", text)})`;
  } catch {
    return undefined; // a folder, a pipe, or nothing
  }
}
