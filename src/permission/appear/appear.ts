import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import type { ProtectedKind } from "../../protocol/reasons/permission.ts";
import { openDisk } from "../paths/canonical.ts";
import { mayBeginProtected, protectedKind } from "../paths/protected.ts";
import { programKeyIn } from "../programs/git/repository.ts";

/** Something that is at a path, or would be; links are not followed. */
export type Entry = {
  path: string;
  kind: "file" | "folder" | "link" | "device";
  mode: number;
  /** Where a link leads, as it is written. */
  target?: string;
  /** The file has another name as well, by which it may be written later. */
  twin?: true;
};

/** The tree in which something appears, as it is then: the disk, or a layer over it. Protected names count below its root. */
type Tree = {
  root: string;
  at(path: string): Entry | undefined;
  /** Undefined where there is no folder, or one that cannot be read. */
  names(folder: string): readonly string[] | undefined;
  /** Text of a small file, after links. */
  text(path: string): string | undefined;
  /** The path after every link; undefined where it leads nowhere. */
  real(path: string): string | undefined;
};

type Refusal = { why: ProtectedKind | "setuid" | "device"; path: string };

const MAX_TEXT_BYTES = 256 * 1024;
const MAX_BEHIND_LINK = 20_000;

/** Why an entry may not appear without a person: others would obey it, or it carries rights. Judges everything put into a workspace. */
export function mayNotAppear(entry: Entry, tree: Tree): Refusal | undefined {
  const { path, kind, mode } = entry;
  const refused = (why: Refusal["why"], at = path): Refusal => ({ why, path: at });
  if (kind === "device") return refused("device");
  if (kind === "file" && (mode & 0o6000) !== 0) return refused("setuid");
  const name = relative(tree.root, path);
  const protectedAs = protectedKind(name);
  if (protectedAs === "git" && isRepository(path) && protectedKind(dirname(name)) === undefined)
    return runsProgram(path, tree) ? refused("git") : undefined;
  if (protectedAs !== undefined) return refused(protectedAs);
  return behindGit(path, tree) ?? behindLink(entry, tree) ?? throughLinks(path, tree);
}

/** A folder that git takes for its own, whatever it is called: settings and hooks in there run programs. */
export function isGitFolder(folder: string, tree: Pick<Tree, "at">): boolean {
  const has = (name: string) => tree.at(join(folder, name)) !== undefined;
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/** Names in git's folder that make git run programs, or look elsewhere. */
export const gitSettings = ["config", "config.worktree", "hooks", "info", "modules", "worktrees", "commondir"];

const gitParts = new Set([...gitSettings, "HEAD", "objects", "refs"]);

/** Settings, hooks, another common folder or a rebase with which git runs a program in this folder; or it cannot be read. */
function runsProgram(gitFolder: string, tree: Tree, depth = 0): boolean {
  const here = tree.real(gitFolder);
  const entry = here === undefined ? undefined : tree.at(here);
  if (here === undefined || entry === undefined || depth > MAX_DEPTH) return true;
  if (entry.kind !== "folder") {
    if (entry.twin) return true;
    const named = /^gitdir: ((?:\.\.\/)+\.git\/(?:worktrees|modules)\/[\w./-]+)\s*$/.exec(tree.text(here) ?? "")?.[1];
    if (named === undefined || /\/\.\.\//.test(named.replace(/^(\.\.\/)+/, "/"))) return true;
    const leads = join(dirname(here), named);
    // Not there yet: once it is, it is judged where it appears.
    return tree.at(leads) !== undefined && runsProgram(leads, tree, depth + 1);
  }
  const inner = (name: string) => join(here, name);
  const isWorktree = basename(dirname(here)) === "worktrees" && tree.text(inner("commondir"))?.trim() === "../..";
  if (tree.at(inner("commondir")) !== undefined && !isWorktree) return true;
  // Behind a link is a file that anybody may write who may write to the workspace.
  if (gitSettings.some((name) => tree.at(inner(name))?.kind === "link")) return true;
  const isClosed = (name: string) => tree.at(inner(name)) !== undefined && tree.names(inner(name)) === undefined;
  if (["hooks", "modules", "worktrees"].some(isClosed)) return true;
  if (tree.names(inner("hooks"))?.some((name) => !name.endsWith(".sample"))) return true;
  const isUnsafe = (name: string) => {
    if (tree.at(inner(name)) === undefined) return false;
    const text = tree.text(inner(name));
    return text === undefined || programKeyIn(text) !== undefined;
  };
  if (["config", "config.worktree"].some(isUnsafe)) return true;
  if (
    ["config", "config.worktree", "commondir", "rebase-merge/git-rebase-todo"].some(
      (name) => tree.at(inner(name))?.twin,
    )
  )
    return true;
  if (/^\s*(x|exec)\s/m.test(tree.text(inner("rebase-merge/git-rebase-todo")) ?? "")) return true;
  // Repositories of submodules and other worktrees lie in folders of any depth.
  return ["modules", "worktrees"].some((name) =>
    foldersBelow(inner(name), tree).some((folder) => {
      if (tree.at(folder)?.kind === "link") return true;
      const isGit = [...gitParts].some((part) => tree.at(join(folder, part)) !== undefined);
      return isGit && runsProgram(folder, tree, depth + 1);
    }),
  );
}

const MAX_DEPTH = 8;

function foldersBelow(folder: string, tree: Tree, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  return (tree.names(folder) ?? []).flatMap((name) => {
    const path = join(folder, name);
    const isLast = gitParts.has(name) && depth > 0;
    return isLast || tree.at(path)?.kind === "file" ? [] : [path, ...foldersBelow(path, tree, depth + 1)];
  });
}

/** A part of a folder that git takes for its own, with which git would run a program. */
function behindGit(path: string, tree: Tree): Refusal | undefined {
  for (let folder = dirname(path); isBelow(tree.root, folder); folder = dirname(folder)) {
    const part = relative(folder, path).split("/")[0] ?? "";
    if (gitParts.has(part) && isGitFolder(folder, tree) && runsProgram(folder, tree)) return { why: "git", path };
    if (folder === dirname(folder)) break;
  }
  return undefined;
}

/** A link to a folder gives everything in there another name: `.github -> x` is such a folder. */
function behindLink({ path, kind }: Entry, tree: Tree): Refusal | undefined {
  if (kind !== "link") return undefined;
  for (const { path: inner, why } of namesBehind(path, tree))
    if (why !== "git" || !isRepository(inner) || runsProgram(inner, tree)) return { why, path: inner };
  return undefined;
}

/** Protected names that things have through a link to a folder, if it makes such names, or leads where nobody looks. */
export function namesBehind(link: string, tree: Tree, nested = 0): { path: string; why: ProtectedKind }[] {
  const end = tree.real(link);
  if (end === undefined || !isBelow(tree.root, end) || tree.at(end)?.kind !== "folder") return [];
  const makesNames = mayBeginProtected(relative(tree.root, link));
  if (!makesNames && !/(^|\/)node_modules(\/|$)/.test(relative(tree.root, end))) return [];
  const found: { path: string; why: ProtectedKind }[] = [];
  const ahead = [""];
  let seen = 0;
  for (let folder = ahead.pop(); folder !== undefined && seen < MAX_BEHIND_LINK; folder = ahead.pop())
    for (const name of tree.names(join(end, folder)) ?? []) {
      const path = join(link, folder, name);
      const why = protectedKind(relative(tree.root, path));
      const kind = tree.at(path)?.kind;
      seen++;
      if (why !== undefined) found.push({ path, why });
      else if (name === "HEAD" && !makesNames && isGitFolder(dirname(path), tree))
        found.push(...gitSettings.flatMap((part) => settingAt(join(dirname(path), part), tree)));
      else if (kind === "link" && nested < MAX_NESTED) found.push(...namesBehind(path, tree, nested + 1));
      // Protected names have at most that many parts; elsewhere names lie at any depth.
      else if (kind === "folder" && name !== "node_modules" && (!makesNames || folder.split("/").length < MAX_PARTS))
        ahead.push(join(folder, name));
    }
  return found;
}

function settingAt(path: string, tree: Tree): { path: string; why: ProtectedKind }[] {
  return tree.at(path) === undefined ? [] : [{ path, why: "git" }];
}

const MAX_NESTED = 2;
const MAX_PARTS = 3;

/** A link above the path that leads to it, or to a folder on the way, and gives it a protected name. */
function throughLinks(path: string, tree: Tree): Refusal | undefined {
  for (let folder = dirname(path); isBelow(tree.root, folder); folder = dirname(folder)) {
    for (const name of tree.names(folder) ?? []) {
      const link = join(folder, name);
      const below = relative(tree.root, link);
      if (protectedKind(below) === undefined && !mayBeginProtected(below)) continue;
      const end = tree.at(link)?.kind === "link" ? tree.real(link) : undefined;
      if (end === undefined || !isBelow(end, path)) continue;
      const other = join(link, relative(end, path));
      const why = protectedKind(relative(tree.root, other));
      if (why !== undefined) return { why, path: other };
    }
    if (folder === dirname(folder)) break;
  }
  return undefined;
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

function isRepository(path: string): boolean {
  return /^(\.git|git~1)[. ]*$/i.test(basename(path));
}

/** The disk as it is. `added`: an entry whose content nobody knows yet, which is then part of it. */
export function diskTree(root: string, added?: Entry): Tree {
  return {
    root,
    at: (path) => (path === added?.path ? added : entryAt(path)),
    names(folder) {
      const names = orElse(() => readdirSync(folder), undefined);
      if (added === undefined || !isBelow(folder, added.path)) return names;
      const [first = ""] = relative(folder, added.path).split("/");
      return first === "" || names?.includes(first) ? names : [...(names ?? []), first];
    },
    text(path) {
      if (path === added?.path) return undefined;
      return orElse(() => {
        const stat = statSync(path);
        return stat.isFile() && stat.size <= MAX_TEXT_BYTES ? readFileSync(path, "utf8") : undefined;
      }, undefined);
    },
    // A link that leads nowhere as yet may lead to what is added.
    real: (path) => orElse(() => (added === undefined ? realpathSync(path) : openDisk().follow(path)), undefined),
  };
}

export function entryAt(path: string): Entry | undefined {
  return orElse(() => {
    const stat = lstatSync(path);
    const { mode } = stat;
    if (stat.isSymbolicLink()) return { path, kind: "link", mode, target: readlinkSync(path) };
    if (stat.isDirectory()) return { path, kind: "folder", mode };
    const kind = stat.isBlockDevice() || stat.isCharacterDevice() ? "device" : "file";
    return { path, kind, mode, ...(stat.nlink > 1 && { twin: true }) };
  }, undefined);
}

/** Something that is gone, or may not be looked at, is not there. */
function orElse<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
