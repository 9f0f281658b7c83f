import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The nearest directory with a `.git`, this one included. A worktree has a file there. */
export function repositoryRoot(cwd: string): string | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return directory;
    if (directory === dirname(directory)) return undefined;
  }
}
