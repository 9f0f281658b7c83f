import { existsSync, readFileSync, statSync } from "node:fs";
import { arch, hostname, release, type } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { RequestOrigin } from "../protocol/facts/request.ts";

export type Environment = { platform: string; cwd: string; date: string; gitBranch?: string };

/** Describes the place for the prompt. The date is the session's, so that the prompt stays the same throughout. */
export function environment({ cwd, date }: { cwd: string; date: Date }): Environment {
  const branch = gitBranch(cwd);
  return {
    platform: `${type()} ${release()} (${arch()})`,
    cwd,
    date: [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join("-"),
    ...(branch !== undefined && { gitBranch: branch }),
  };
}

const FRESH_MS = 1_000;

/** Where a request is opened. The branch is read for each one, because the agent itself may have switched it. */
export function whereabouts(cwd: string, home: string): Pick<RequestOrigin, "folder" | "branch" | "machine"> {
  const branch = branchNow(cwd);
  const inside = relative(home, cwd);
  const isHome = cwd === home || (cwd.startsWith(home) && !inside.startsWith(".."));
  const folder = isHome ? ["~", ...(inside === "" ? [] : [inside])].join(sep) : cwd;
  return { folder, ...(branch !== undefined && { branch }), machine: hostname() };
}

type Head = { path: string; changed: string; branch: string | undefined; at: number };
/** Of folders in which requests were opened: a look at one file instead of one at each folder above. */
const heads = new Map<string, Head>();

function branchNow(cwd: string): string | undefined {
  const known = heads.get(cwd);
  try {
    if (known && performance.now() - known.at < FRESH_MS && headStamp(known.path) === known.changed)
      return known.branch;
    const root = repositoryRoot(cwd);
    if (root === undefined) return undefined;
    const path = join(gitDirectory(root), "HEAD");
    const head = {
      path,
      changed: headStamp(path),
      branch: gitBranch(cwd)?.replace("detached at ", ""),
      at: performance.now(),
    };
    heads.delete(cwd);
    heads.set(cwd, head);
    if (heads.size > MAX_HEADS) heads.delete(heads.keys().next().value!);
    return head.branch;
  } catch {
    return undefined;
  }
}

const MAX_HEADS = 100;

/** Git writes the file anew and puts it in the place of the other. */
function headStamp(path: string): string {
  const { ino, mtimeMs, size } = statSync(path);
  return `${ino}:${mtimeMs}:${size}`;
}

/** Read from the files: a git process costs more than all the rest of the prompt, and may run what a repository configures. */
export function gitBranch(cwd: string): string | undefined {
  const root = repositoryRoot(cwd);
  if (root === undefined) return undefined;
  try {
    const head = firstLine(join(gitDirectory(root), "HEAD"));
    if (/^[0-9a-f]{40,64}$/.test(head)) return `detached at ${head.slice(0, 7)}`;
    const branch = head.startsWith("ref: refs/heads/") ? head.slice("ref: refs/heads/".length) : "";
    // A repository with reftables has a placeholder here.
    return /^[^\s\p{Cc}]{1,255}$/u.test(branch) && branch !== ".invalid" ? branch : undefined;
  } catch {
    return undefined;
  }
}

function gitDirectory(root: string): string {
  const git = join(root, ".git");
  if (statSync(git).isDirectory()) return git;
  const line = firstLine(git);
  if (!line.startsWith("gitdir: ")) throw new Error(`${git} names no directory`);
  return resolve(root, line.slice("gitdir: ".length));
}

// Opening a pipe would wait for ever, and these files are never large.
function firstLine(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() || stats.size > 4_096) throw new Error(`${path} is not what git writes`);
  return readFileSync(path, "utf8").split("\n", 1)[0]!.trimEnd();
}

function pad(part: number): string {
  return String(part).padStart(2, "0");
}

/** The nearest directory with a `.git`, this one included. A worktree has a file there. */
export function repositoryRoot(cwd: string): string | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return directory;
    if (directory === dirname(directory)) return undefined;
  }
}
