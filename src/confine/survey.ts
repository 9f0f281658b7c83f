import {
  chmodSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { randomBytes } from "node:crypto";
import { setImmediate as breathe } from "node:timers/promises";
import type { Blocked } from "../protocol/confine.ts";
import { diskTree, entryAt, gitSettings, isGitFolder, mayNotAppear, namesBehind } from "../permission/appear/appear.ts";
import { protectedKind } from "../permission/paths/protected.ts";
import { exists, gitFoldersOf, isFolder, isInside, realOf, statOf } from "./plan.ts";

/** A filter of files that rules hide, for one look: rules may change between two. */
export type Hiding = () => (path: string) => boolean;

/** Paths below the roots that matter to a sandbox. */
export type Survey = {
  /** Names that other programs obey, git folders among them; nothing below one of them is listed. */
  guarded: readonly string[];
  /** Targets of the paths that are links. */
  links: Readonly<Record<string, string>>;
  /** The file at the end of each, and its folder: another link, or a folder on the way, may have been put in its place. */
  ends: Readonly<Record<string, string>>;
  hidden: readonly string[];
  sockets: readonly string[];
  /** Folders with entries whose names are no text: those are looked through by themselves. */
  unnamed?: readonly string[];
  /** Identity of what was at guarded paths, and of their folders. Nothing was at a path without one. Notes of 0.2.0 have none. */
  ids?: Readonly<Record<string, string>>;
};

/** The workspace before a command. Its note is on disk while the command runs, for whoever comes after a kill. */
export type Noted = {
  since: number;
  before: Survey;
  /** Notes of 0.2.0 say neither. */
  roots?: readonly string[];
  repository?: "read" | "write";
  /** Files that Sage wrote meanwhile with a person's permission, each with its state then; "" while it is being written. */
  others?: Readonly<Record<string, string>>;
};

/** A command that could hide a file behind so many others would be confined in name only: beyond them nothing runs. */
const MAX_ENTRIES = 1_000_000;
const AT_ONCE = 2_000;
/** The clock of a file system lags a little behind. */
const LAG_MS = 20;

/** Looks through the roots. Installed packages are passed over: nobody obeys a file there by its name. Rejects when there is too much. */
export async function surveyOf(
  roots: readonly string[],
  hiding: Hiding,
  /** Folders that a command may have closed are opened again. */ mayOpen: (path: string) => boolean = () => false,
): Promise<Survey> {
  const guarded: string[] = [];
  const hidden: string[] = [];
  const sockets: string[] = [];
  const unnamed = new Set<string>();
  let seen = 0;
  const mayRead = hiding();
  for (const root of roots) {
    const tree = diskTree(root);
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of entriesOf(join(root, folder), mayOpen)) {
        const name = folder + entry.name;
        const path = `${root}/${name}`;
        if (++seen % AT_ONCE === 0) await breathe();
        if (seen > MAX_ENTRIES) throw new Error(`there are more than ${MAX_ENTRIES} files to look through`);
        if (entry.name.includes("\ufffd") && !exists(path)) unnamed.add(join(root, folder));
        else if (protectedKind(name) !== undefined) guarded.push(path);
        else if (entry.name === "HEAD" && isGitFolder(dirname(path), tree))
          guarded.push(...gitSettings.map((setting) => join(dirname(path), setting)).filter(exists));
        else if (entry.isDirectory() && entry.name !== "node_modules") folders.push(`${name}/`);
        else if (entry.isSymbolicLink()) guarded.push(...namesBehind(path, tree).map((found) => found.path));
        if (entry.isSocket()) sockets.push(path);
        if (!mayRead(path)) hidden.push(path);
      }
    }
  }
  const leading = guarded.filter((path) => statOf(path)?.isSymbolicLink());
  return {
    guarded,
    hidden,
    sockets,
    unnamed: [...unnamed],
    links: Object.fromEntries(leading.map((path) => [path, linkAt(path)])),
    ends: Object.fromEntries(leading.map((path) => [path, endOf(path)])),
    ids: identities(guarded),
  };
}

/** A number of an inode is used again at once; with the moment of birth it is of one file alone. */
function identities(guarded: readonly string[]): Record<string, string> {
  const paths = new Set(guarded.flatMap((path) => [path, realFolder(path)]));
  return Object.fromEntries(
    [...paths].flatMap((path) => (identity(path) === undefined ? [] : [[path, identity(path)!]])),
  );
}

function identity(path: string): string | undefined {
  try {
    const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return undefined;
  }
}

/** State of a file: no write, link or move leaves it as it was. */
export function fileStamp(path: string): string | undefined {
  try {
    const { dev, ino, birthtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}:${ctimeNs}`;
  } catch {
    return undefined;
  }
}

/** The folder of a path, behind every link. */
function realFolder(path: string): string {
  return realOf(dirname(path)) ?? dirname(path);
}

/** Files to bind over themselves: of links, and behind links, the file in a root to which they lead. */
export function fixedPaths({ guarded }: Survey, roots: readonly string[]): string[] {
  return guarded.flatMap((path) => {
    const real = realOf(path);
    if (real === undefined || roots.some((root) => path === join(root, ".git"))) return [];
    return roots.some((root) => root !== real && isInside(root, real)) ? [real] : [];
  });
}

/** Looks for what commands have left and must not leave, and moves it aside. In the order of the commands. */
export async function clearAway(
  commands: readonly Noted[],
  roots: readonly string[],
  hiding: Hiding,
): Promise<{ survey: Survey; aside: Aside[][] }> {
  const since = Math.min(...commands.map((command) => command.since));
  const survey = await surveyOf(roots, hiding, (folder) => roots.includes(folder) || isNewHere(folder, since, roots));
  const aside = commands.map((command) =>
    [...plantedIn(survey, command, roots), ...plantedInGit(command, roots)].flatMap((path) =>
      moveAside(path, command.before, roots),
    ),
  );
  aside[0]?.push(...(survey.unnamed ?? []).flatMap(unnamedIn).flatMap((path) => clearUnnamed(path, since)));
  const gone = new Set(aside.flat().map(({ path }) => path));
  return {
    survey: { ...survey, guarded: [...survey.guarded.filter((path) => !gone.has(path)), ...gitSettingsOf(roots)] },
    aside,
  };
}

type Aside = Blocked & { kind: "aside" };

/**
 * Names that other programs would obey, and that are not as they were before the command: new ones, others in the place of old ones, and
 * links that were moved or lead elsewhere. A file that was there before keeps its place: only one that is new, or came to its name,
 * since the command began was its doing.
 */
function plantedIn(now: Survey, { before, since, others = {} }: Noted, roots: readonly string[]): string[] {
  const ids = before.ids ?? {};
  // Notes of 0.2.0 have no identities: their names alone count.
  const known = new Set(before.ids ? before.guarded.filter((path) => ids[path] !== undefined) : before.guarded);
  const unmoved = new Set(
    before.guarded.flatMap((path) => (before.links[path] === undefined ? (ids[path] ?? []) : [])),
  );
  const isWritten = (path: string) => others[path] === "" || (others[path] ?? "none") === fileStamp(path);
  return now.guarded.flatMap((path): string[] => {
    if (!exists(path)) return [];
    const id = now.ids?.[path] ?? "";
    const isLink = now.links[path] !== undefined;
    if (known.has(path)) {
      const hasOtherEnd = before.ids !== undefined && before.ends[path] !== now.ends[path];
      const leadsElsewhere = before.links[path] !== now.links[path] || hasOtherEnd;
      const folder = ids[realFolder(path)];
      const isSwapped = before.ids !== undefined && ids[path] !== id && folder !== now.ids?.[realFolder(path)];
      return (leadsElsewhere || isSwapped) && !isWritten(path) ? [path] : [];
    }
    // Moved with its folder, and as it was: nobody could write it.
    if (isWritten(path) || !isNewHere(path, since, roots) || (!isLink && unmoved.has(id))) return [];
    const entry = entryAt(path);
    const root = roots.find((folder) => isInside(folder, path)) ?? "/";
    if (entry === undefined || mayNotAppear(entry, diskTree(root)) === undefined) return [];
    return isFolder(path) && Object.keys(others).some((other) => isInside(path, other))
      ? filesBelow(path).filter((file) => !isWritten(file))
      : [path];
  });
}

/** Entries of a folder whose names are no text: a path in which they stand cannot be written as one. */
function unnamedIn(folder: string): Buffer[] {
  return rawNames(Buffer.from(folder))
    .filter((name) => !Buffer.from(name.toString()).equals(name))
    .map((name) => Buffer.concat([Buffer.from(`${folder}/`), name]));
}

/** Nobody knows what was there before, and nothing there is mounted: whatever is new, and obeyed by its name, is moved aside. */
function clearUnnamed(folder: Buffer, since: number, isNewAbove = false): Aside[] {
  const isNew = (path: Buffer) => lstatSync(path).ctimeMs >= since - LAG_MS;
  if (!lstatSync(folder).isDirectory()) return [];
  const isNewFolder = isNewAbove || isNew(folder);
  return rawNames(folder).flatMap((name): Aside[] => {
    const path = Buffer.concat([folder, Buffer.from("/"), name]);
    if (protectedKind(name.toString("latin1")) === undefined && name.toString() !== "HEAD")
      return clearUnnamed(path, since, isNewFolder);
    if (!isNewFolder && !isNew(path)) return [];
    const to = Buffer.concat([folder, Buffer.from(`/aside-${randomBytes(3).toString("hex")}`)]);
    renameSync(path, to);
    return [{ kind: "aside", path: path.toString(), to: to.toString() }];
  });
}

function rawNames(folder: Buffer): Buffer[] {
  try {
    return readdirSync(folder, { encoding: "buffer" });
  } catch {
    return []; // gone meanwhile, or not to be looked into
  }
}

/** New names in the folder of a root's own repository, where the command could write. */
function plantedInGit({ before, since, repository = "write" }: Noted, roots: readonly string[]): string[] {
  if (repository === "read") return [];
  return gitSettingsOf(roots).filter((path) => !before.guarded.includes(path) && isNew(path, since));
}

function isNew(path: string, since: number): boolean {
  return (statOf(path)?.ctimeMs ?? 0) >= since - LAG_MS;
}

/** A file keeps its age when a folder above it is moved, or opened to be looked into. */
function isNewHere(path: string, since: number, roots: readonly string[]): boolean {
  const above = (from: string): string[] =>
    roots.includes(from) || from === dirname(from) ? [] : [from, ...above(dirname(from))];
  return [...above(path), ...above(realFolder(path))].some((folder) => isNew(folder, since));
}

function filesBelow(folder: string): string[] {
  return readEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** Settings of the roots' own repositories, as far as they are there: git's folder itself may be writable. */
export function gitSettingsOf(roots: readonly string[]): string[] {
  return roots.flatMap((root) => {
    const { common, admin } = gitFoldersOf(root) ?? {};
    if (common === undefined) return [];
    const own = admin === undefined ? [] : ["gitdir", "commondir", "config.worktree"].map((name) => join(admin, name));
    return [...gitSettings.map((name) => join(common, name)), ...own].filter(exists);
  });
}

function moveAside(path: string, before: Survey, roots: readonly string[]): Aside[] {
  const root = roots.find((folder) => isInside(folder, path)) ?? "/";
  let folder = dirname(path);
  while (isInside(root, folder) && protectedKind(relative(root, folder)) !== undefined) folder = dirname(folder);
  const name = `aside-${randomBytes(3).toString("hex")}-${basename(path).replace(/^\.+/, "").slice(0, 60)}`;
  const to = join(folder, name);
  try {
    renameSync(path, to);
  } catch {
    const stat = statOf(path);
    if (stat === undefined) return []; // moved for another command that ended at the same time
    if (stat.uid !== process.getuid?.()) return []; // of another user, in a folder that is not ours: no command of ours made it
    open(dirname(path)); // locked by the command
    renameSync(path, to);
  }
  disarm(to);
  restore(path, before);
  return [{ kind: "aside", path, to }];
}

/** Under its new name git would still take a repository for one without work tree. */
function disarm(folder: string): void {
  if (isGitFolder(folder, diskTree(folder))) renameSync(join(folder, "HEAD"), join(folder, "HEAD-aside"));
}

/** Puts a link back that stood there, if it leads where it led: another file may be there now. */
function restore(path: string, { links, ends }: Survey): void {
  const link = links[path];
  if (link === undefined) return;
  symlinkSync(link, path);
  if (endOf(path) !== ends[path]) unlinkSync(path);
}

function endOf(path: string): string {
  try {
    const real = realpathSync(path);
    return `${real} ${identity(dirname(real))}`;
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
