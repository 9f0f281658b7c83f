import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import * as z from "../base/z.ts";
import { gitBranch, repositoryRoot } from "./environment.ts";

/** Its name, in the folder of the session. */
export const START_FILE = "start.json";
const MAX_ENTRIES = 40;
const MAX_NAME_LENGTH = 60;

const schema = z.object({ gitBranch: z.string().optional(), entries: z.array(z.string()), more: z.number() });

/** Branch and top of the tree as they were when the session began. */
export type Start = { gitBranch?: string; entries: string[]; more: number };

/**
 * Looked up once and kept in the session's own folder: a prompt that changed with every new file would be cached anew with each turn.
 * Only names are read, and HEAD: no git runs, so nothing that a repository configures does either.
 */
export function sessionStart(
  cwd: string,
  { keptIn, home, mayRead }: { keptIn: string; home: string; mayRead(path: string): boolean },
): Start {
  const file = join(keptIn, START_FILE);
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8"))) as Start;
  } catch {
    const start = lookAround(cwd, home, mayRead);
    keepStart(file, start);
    return start;
  }
}

/** Outside of a repository, and at home, the names are nobody's business. */
function lookAround(cwd: string, home: string, mayRead: (path: string) => boolean): Start {
  const root = repositoryRoot(cwd);
  const branch = gitBranch(cwd);
  const named = branch === undefined ? {} : { gitBranch: branch };
  if (root === undefined || root === resolve(home)) return { ...named, entries: [], more: 0 };
  try {
    const names = readdirSync(cwd, { withFileTypes: true })
      .filter(({ name }) => name !== ".git" && mayRead(join(cwd, name)))
      .map((entry) => `${entry.name.slice(0, MAX_NAME_LENGTH).toWellFormed()}${entry.isDirectory() ? "/" : ""}`)
      .toSorted();
    return { ...named, entries: names.slice(0, MAX_ENTRIES), more: Math.max(0, names.length - MAX_ENTRIES) };
  } catch {
    return { ...named, entries: [], more: 0 };
  }
}

function keepStart(file: string, start: Start): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(start), { flag: "wx", mode: 0o600 });
  } catch {
    // A full disk must not keep anybody from working; the next prompt may say something else.
  }
}
