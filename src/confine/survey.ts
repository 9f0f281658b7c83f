import { chmodSync, readdirSync, readlinkSync, realpathSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { randomBytes } from "node:crypto";
import { setImmediate as breathe } from "node:timers/promises";
import type { Blocked } from "../protocol/confine.ts";
import { gitSettings, exists, gitFoldersOf, isInside, isReal, statOf } from "./plan.ts";

/** Knowledge of other rooms about files. */
export type FilePolicy = {
  /** A path relative to its root: other programs obey it, or it holds secrets. */
  isProtected(path: string): boolean;
  /** A filter for one look: rules may change between two. */
  mayRead(): (path: string) => boolean;
  /** A git folder whose settings or hooks run a program. */
  runsProgram(gitFolder: string): boolean;
};

/** Paths below the roots that matter to a sandbox. */
export type Survey = {
  /** Protected names, git folders among them; nothing below one of them is listed. */
  guarded: readonly string[];
  /** Targets of the paths that are links. */
  links: Readonly<Record<string, string>>;
  /** The file at the end of each, and its folder: another link, or a folder on the way, may have been put in its place. */
  ends: Readonly<Record<string, string>>;
  hidden: readonly string[];
  sockets: readonly string[];
  /** Identity of guarded paths and of their folders: a path keeps its name when another folder is put in the place of its own. */
  inodes: Readonly<Record<string, number>>;
};

/** A command that could hide a file behind so many others would be confined in name only: beyond them nothing runs. */
const MAX_ENTRIES = 1_000_000;
const AT_ONCE = 2_000;
/** The clock of a file system lags a little behind. */
const LAG_MS = 20;

/** Looks through the roots. Installed packages are passed over: nobody obeys a file there by its name. Rejects when there is too much. */
export async function surveyOf(
  roots: readonly string[],
  policy: FilePolicy,
  /** Folders that a command may have closed are opened again. */ mayOpen: (path: string) => boolean = () => false,
): Promise<Survey> {
  const guarded: string[] = [];
  const hidden: string[] = [];
  const sockets: string[] = [];
  const links: Record<string, string> = {};
  const ends: Record<string, string> = {};
  let seen = 0;
  const mayRead = policy.mayRead();
  for (const root of roots) {
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of entriesOf(join(root, folder), mayOpen)) {
        const name = folder + entry.name;
        const path = `${root}/${name}`;
        if (++seen % AT_ONCE === 0) await breathe();
        if (seen > MAX_ENTRIES) throw new Error(`there are more than ${MAX_ENTRIES} files to look through`);
        if (policy.isProtected(name)) {
          guarded.push(path);
          if (entry.isSymbolicLink()) [links[path], ends[path]] = [linkAt(path), endOf(path)];
        } else if (entry.name === "HEAD" && isBare(dirname(path)))
          guarded.push(join(dirname(path), "config"), join(dirname(path), "hooks"));
        else if (entry.isDirectory() && entry.name !== "node_modules") folders.push(`${name}/`);
        if (entry.isSocket()) sockets.push(path);
        if (!mayRead(path)) hidden.push(path);
      }
    }
  }
  return { guarded, links, ends, hidden, sockets, inodes: inodesOf(guarded) };
}

function inodesOf(guarded: readonly string[]): Record<string, number> {
  const paths = guarded.flatMap((path) => [path, dirname(path)]);
  return Object.fromEntries(paths.map((path): [string, number] => [path, statOf(path)?.ino ?? 0]));
}

/** Files to bind over themselves: of links the file in a root to which they lead. */
export function fixedPaths({ guarded, links }: Survey, roots: readonly string[]): string[] {
  return guarded.flatMap((path) => {
    if (links[path] === undefined) return isGitFolder(path, roots) || !isReal(path) ? [] : [path];
    try {
      const real = realpathSync(path);
      return roots.some((root) => root !== real && isInside(root, real)) ? [real] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Looks for names that appeared while a command ran and that other programs would obey, and moves them aside. A file that was there
 * before keeps its place: only one that is new, or came to its name, since the command began was its doing.
 */
export async function clearAway(
  before: Survey,
  since: number,
  roots: readonly string[],
  policy: FilePolicy,
): Promise<{ survey: Survey; aside: Blocked[] }> {
  const known = new Set(before.guarded);
  const isNew = (path: string) => (statOf(path)?.ctimeMs ?? 0) >= since - LAG_MS;
  // A file keeps its age when a folder above it is moved, or opened to be looked into.
  const isNewHere = (path: string): boolean =>
    !roots.includes(path) && path !== dirname(path) && (isNew(path) || isNewHere(dirname(path)));
  const survey = await surveyOf(roots, policy, (folder) => roots.includes(folder) || isNewHere(folder));
  const isSwapped = (path: string) => {
    const folder = before.inodes[dirname(path)];
    return folder !== undefined && folder !== survey.inodes[dirname(path)];
  };
  const leadsElsewhere = (path: string) =>
    before.links[path] !== survey.links[path] || before.ends?.[path] !== survey.ends[path];
  // Moved with its folder, and as it was: nobody could write it.
  const moved = new Set(before.guarded.map((path) => before.inodes[path]).filter((inode) => inode !== undefined));
  const found = survey.guarded.filter((path) => {
    if (known.has(path)) return leadsElsewhere(path) || (isSwapped(path) && exists(path));
    if (!exists(path) || !isNewHere(path) || moved.has(survey.inodes[path] ?? 0)) return false;
    if (before.guarded.some((guarded) => isInside(path, guarded))) return false;
    return isRepository(path) ? policy.runsProgram(path) : true;
  });
  const inGit = roots.flatMap((root) => settingsIn(root)).filter((path) => !known.has(path) && isNew(path));
  const aside = [...found, ...inGit].flatMap((path) => moveAside(path, before.links[path]));
  const gone = new Set(aside.map(({ path }) => path));
  return {
    survey: { ...survey, guarded: [...survey.guarded.filter((path) => !gone.has(path)), ...gitSettingsOf(roots)] },
    aside,
  };
}

/** Settings of the roots' own repositories, as far as they are there: git's folder itself may be writable. */
export function gitSettingsOf(roots: readonly string[]): string[] {
  return roots.flatMap((root) => settingsIn(root));
}

function settingsIn(root: string): string[] {
  const common = gitFoldersOf(root)?.common;
  return common === undefined ? [] : gitSettings.map((name) => join(common, name)).filter(exists);
}

function moveAside(path: string, link: string | undefined): (Blocked & { kind: "aside" })[] {
  const name = `aside-${randomBytes(3).toString("hex")}-${basename(path).replace(/^\.+/, "").slice(0, 60)}`;
  const to = join(dirname(path), name);
  try {
    renameSync(path, to);
  } catch {
    if (!exists(path)) return []; // moved for another command that ended at the same time
    open(dirname(path)); // locked by the command
    renameSync(path, to);
  }
  if (link !== undefined) symlinkSync(link, path);
  return [{ kind: "aside", path, to }];
}

function endOf(path: string): string {
  try {
    const real = realpathSync(path);
    return `${real} ${statOf(dirname(real))?.ino}`;
  } catch {
    return ""; // it leads nowhere
  }
}

/** Nothing when it is gone meanwhile. */
function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function isRepository(path: string): boolean {
  return basename(path) === ".git";
}

/** The roots' own are mounted by the plan. */
function isGitFolder(path: string, roots: readonly string[]): boolean {
  return isRepository(path) && roots.includes(dirname(path));
}

function isBare(folder: string): boolean {
  return exists(join(folder, "objects")) && exists(join(folder, "refs"));
}

function entriesOf(folder: string, mayOpen: (path: string) => boolean): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch {
    if (!mayOpen(folder)) return []; // gone meanwhile, or not to be looked into
  }
  try {
    open(folder);
    return readEntries(folder);
  } catch {
    return [];
  }
}

function open(folder: string): void {
  chmodSync(folder, ((statOf(folder)?.mode ?? 0) & 0o777) | 0o700);
}

function readEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}
