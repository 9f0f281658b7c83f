import { cpSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Store } from "../journal/store/store.ts";
import { git, isCloneOf } from "./clones.ts";

type Options = { folder: string; env: NodeJS.ProcessEnv; signal: AbortSignal; dryRun?: boolean };

/** Removes clones of deleted sessions. A clone with work that exists nowhere else is kept and reported. */
export async function collectClones(
  store: Pick<Store, "housekeeping">,
  { folder, dryRun = false, ...options }: Options,
): Promise<{ removed: string[]; kept: string[] }> {
  const [removed, kept]: [string[], string[]] = [[], []];
  for (const { data } of await store.housekeeping.removed()) {
    const { session, cwd } = data;
    // A worker wrote the path: only a folder of that session is accepted.
    const name = basename(cwd);
    if (!isCloneOf(session, name) || cwd !== join(folder, name) || !isKind("isDirectory", cwd)) continue;
    const goes = await isPushed(cwd, options);
    (goes ? removed : kept).push(cwd);
    if (goes && !dryRun) rmSync(cwd, { recursive: true, force: true });
  }
  return { removed, kept };
}

/** Nothing changed and all pushed? Asked from a repository of ours with its objects: settings in a used clone could name programs. */
async function isPushed(cwd: string, { env, signal }: Pick<Options, "env" | "signal">): Promise<boolean> {
  const own = mkdtempSync(join(tmpdir(), "sage-clone-"));
  const theirs = join(cwd, ".git");
  const ask = async (...args: string[]) => {
    const settings = [
      "core.bare=false",
      "core.hooksPath=/dev/null",
      "core.fsmonitor=false",
      "core.attributesFile=/dev/null",
    ];
    const where = [...settings.flatMap((setting) => ["-c", setting]), `--git-dir=${own}`, `--work-tree=${cwd}`];
    const { code, text } = await git([...where, ...args], { cwd: own, env, signal });
    return code === 0 && text === "";
  };
  try {
    if (!isKind("isDirectory", theirs) || isKind("isDirectory", join(theirs, "modules"))) return false;
    const { code } = await git(["init", "--quiet", "--bare", "--template=", own], { cwd: own, env, signal });
    if (code !== 0) return false;
    mkdirSync(join(own, "objects", "info"), { recursive: true });
    writeFileSync(join(own, "objects", "info", "alternates"), `${join(theirs, "objects")}\n`);
    const filter = (path: string) => isKind("isFile", path) || isKind("isDirectory", path);
    for (const name of ["refs", "packed-refs", "HEAD", "index"])
      if (filter(join(theirs, name)))
        cpSync(join(theirs, name), join(own, name), { recursive: true, force: true, filter });
    const commits = ["rev-list", "--max-count=1", "HEAD", "--branches", "--glob=refs/stash", "--not", "--remotes"];
    // Git would enter a nested repository with that one's settings: it is not inspected, and the clone is kept.
    const status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
    return (await ask(...status)) && (await ask(...commits)) && !(await holdsAnother(cwd));
  } catch {
    return false; // in doubt it stays
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** True when there is another repository below the folder. */
async function holdsAnother(folder: string, isTop = true): Promise<boolean> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === ".git") {
      if (!isTop) return true;
    } else if (entry.isDirectory() && (await holdsAnother(join(folder, entry.name), false))) return true;
  }
  return false;
}

function isKind(kind: "isFile" | "isDirectory", path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.[kind]() === true;
}
