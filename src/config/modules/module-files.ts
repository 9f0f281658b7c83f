import { realpathSync } from "node:fs";
import { isBuiltin } from "node:module";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../../base/attempt.ts";
import type { ContentFile } from "../../context/content.ts";
import { isFolder, isInside } from "../../permission/paths/canonical.ts";
import { reason, type Reason, reasonOf } from "../../protocol/reasons/reason.ts";
import { contentOf } from "../files/hook-files.ts";
import { readSmallFile } from "../files/small-file.ts";

const MAX_FILES = 200;

/** A module that settings name, with the files it is made of as they were when the settings were read. */
export type NamedModule = {
  /** Path as the settings name it, made absolute. */
  named: string;
  /** The same by its real path, where there is a file. */
  path: string;
  /** Files by their real paths: the module itself, and every file that a string in it names relatively, and so on. */
  files: ContentFile[];
  /** A project's module: files of its own beyond `files` are not imported. */
  within?: string;
  problem?: Reason;
};

/** Modules named in a settings file, relative to its folder; those of a project lie `within` its root. */
export function readModules(names: readonly string[] | undefined, folder: string, within?: string): NamedModule[] {
  return (names ?? []).map((name) => {
    const named = name.startsWith("~/") ? join(homedir(), name.slice(2)) : resolve(folder, name);
    const closed = within !== undefined && { within };
    try {
      const path = realIfThere(named);
      const unfit = (problem: Reason) => ({ named, path: path ?? named, files: [], ...closed, problem });
      if (path === undefined) return unfit(reason("module-missing", {}));
      if (within !== undefined && !isInside(within, path)) return unfit(reason("module-outside", { folder: within }));
      if (!isCode(path) || isFolder(path)) return unfit(reason("module-kind", {}));
      return { named, path, files: filesFrom(path, within), ...closed };
    } catch (error) {
      return { named, path: named, files: [], ...closed, problem: reasonOf(error) };
    }
  });
}

export function moduleTexts(modules: readonly NamedModule[]): ContentFile[] {
  return [...new Map(modules.flatMap(({ files }) => files).map((file) => [file.path, file])).values()];
}

/** Packages that a file seems to import. Trust does not cover their content, so the person is warned. */
export function packagesIn(text: string): string[] {
  const found = text.matchAll(/\b(?:from|import|require)\s*\(?\s*["'`]([^"'`.\s/][^"'`\s]*)["'`]/g);
  return [...new Set([...found].map(([, name = ""]) => name))].filter((name) => !isBuiltin(name));
}

/** Files that Node runs as an ES module here. */
export function isCode(path: string): boolean {
  return /\.m?js$/.test(path);
}

/** Any string with ./ or ../ that names a file: one too many costs a line in the prompt; one missed is refused at import. */
function filesFrom(entry: string, within: string | undefined): ContentFile[] {
  const texts = new Map<string, string>();
  const queue = [entry];
  for (const path of queue) {
    if (texts.has(path) || texts.size >= MAX_FILES) continue;
    // Code is kept whole, for it is run from here; of other files a hash may do.
    const text = isCode(path) || path.endsWith(".json") ? readSmallFile(path) : contentOf(path, within);
    if (text === undefined) continue;
    texts.set(path, text);
    if (!isCode(path)) continue;
    for (const [, , name = ""] of text.matchAll(/(["'`])(\.{1,2}\/[^"'`\n]*)\1/g)) {
      const real = realIfThere(resolve(dirname(path), name));
      if (real !== undefined && !isFolder(real) && (within === undefined || isInside(within, real))) queue.push(real);
    }
  }
  return [...texts].map(([path, text]) => ({ path, text }));
}

function realIfThere(path: string): string | undefined {
  return attempt(() => realpathSync(path));
}
