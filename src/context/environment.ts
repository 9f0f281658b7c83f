import { existsSync, readFileSync, statSync } from "node:fs";
import { arch, hostname, release, type } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { lazy } from "../base/lazy.ts";
import type { RequestOrigin } from "../protocol/facts/request.ts";

export type Environment = { platform: string; cwd: string; date: string };

/** Describes the place for the prompt. The date is the session's, so that the prompt stays the same throughout. */
export function environment({ cwd, date }: { cwd: string; date: Date }): Environment {
  return {
    platform: `${type()} ${release()} (${arch()})`,
    cwd,
    date: [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join("-"),
  };
}

type Place = Pick<RequestOrigin, "folder" | "branch" | "machine">;

/** No git process can start, switch the branch and end within this time. */
const BRANCH_FRESH_MS = 1;
/** For so long the repository of a folder is found by one look at its HEAD, instead of one at each folder above. */
const HEAD_FRESH_MS = 1_000;

/** Where requests are opened. The branch is read again for each one, because the agent itself may have switched it. */
export function whereabouts(cwd: string, home: string): () => Place {
  const folder = shortFolder(cwd, home);
  const machine = machineName();
  let head: Head | undefined;
  let place: Place | undefined;
  let readAt = 0;
  return () => {
    const now = performance.now();
    if (place && now - readAt < BRANCH_FRESH_MS) return place;
    readAt = now;
    head = lookAtHead(cwd, head, now);
    const branch = head?.branch;
    if (place === undefined || place.branch !== branch) {
      place = { folder, ...(branch !== undefined && { branch }), machine };
    }
    return place;
  };
}

const machineName = lazy(hostname);

function shortFolder(cwd: string, home: string): string {
  const inside = relative(home, cwd);
  const isHome = cwd === home || (cwd.startsWith(home) && !inside.startsWith(".."));
  return isHome ? ["~", ...(inside === "" ? [] : [inside])].join(sep) : cwd;
}

/** `path`: HEAD of the repository; `.git` of the folder itself where there is no repository. */
type Head = { path: string; changed: string; branch: string | undefined; at: number };

function lookAtHead(cwd: string, known: Head | undefined, at: number): Head | undefined {
  try {
    if (known && at - known.at < HEAD_FRESH_MS && headStamp(known.path) === known.changed) return known;
    const root = repositoryRoot(cwd);
    const path = root === undefined ? join(cwd, ".git") : join(gitDirectory(root), "HEAD");
    return { path, changed: headStamp(path), branch: root && gitBranch(root)?.replace("detached at ", ""), at };
  } catch {
    return undefined;
  }
}

/** Git writes the file anew and puts it in the place of the other. */
function headStamp(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino}:${stats.mtimeMs}:${stats.size}`;
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
