import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const lines = [
  "# Written by Sage: these files are for this machine alone.",
  "settings.local.json",
  "exports/",
  ".gitignore",
];

/** Keeps Sage's personal files out of `git status`. An existing file belongs to somebody and is not changed. */
export function keepFromGit(root: string): void {
  try {
    writeFileSync(join(root, ".sage", ".gitignore"), `${lines.join("\n")}\n`, { flag: "wx" });
  } catch {
    // Somebody's own, or a folder that may not be written: git then shows the file, which is no harm.
  }
}

/** Folder for exports that nobody named. */
export function exportsIn(root: string): string {
  const folder = join(root, ".sage", "exports");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  keepFromGit(root);
  return folder;
}
