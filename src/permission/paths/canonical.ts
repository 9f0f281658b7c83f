import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";

/** Where a path leads: as written, and after every link. Rules look at both; tools act on the real one. */
export type CanonicalPath = { lexical: string; real: string };

/** What a path is relative to, and what `~` stands for. */
export type Place = { cwd: string; home: string };

/** No system takes longer ones. */
export const longestPath = 4_096;

const control = /[\u0000-\u001f\u007f-\u009f]/;
const foreignHome = /^~[^/]/;

/** Why a path cannot be used at all, or undefined. */
export function troubleWithPath(path: string): string | undefined {
  if (path === "") return "a path must not be empty";
  if (control.test(path)) return "a path must not contain control characters";
  return foreignHome.test(path) ? "~name is not supported; write the whole path" : undefined;
}

/** Throws when a link loops or a directory may not be looked into. */
export function canonicalPath(path: string, place: Place, disk: Disk = openDisk()): CanonicalPath {
  const lexical = lexicalPath(path, place);
  return { lexical, real: disk.follow(lexical) };
}

export function lexicalPath(path: string, { cwd, home }: Place): string {
  const trouble = troubleWithPath(path);
  if (trouble !== undefined) throw new Error(`not a usable path, ${JSON.stringify(path)}: ${trouble}`);
  return resolve(cwd, path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path);
}

/** With `~`, `$HOME`, `$PWD` and `$(pwd)` at its beginning taken for what they most likely stand for. */
export function expandHome(path: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  const named = /^(?:\$(HOME|\{HOME\}|PWD|\{PWD\}|\(\s*pwd\s*\))|`\s*pwd\s*`)(\/|$)/.exec(path);
  if (named === null) return path;
  const rest = path.slice(named[0].length);
  return named[1]?.includes("HOME") === true ? join(home, rest) : join(".", rest);
}

/** By segments: /w is not inside /workspace. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root.normalize("NFC"), path.normalize("NFC"));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A look at the disk that asks it only once about each name: one decision sees one state of things. */
export type Disk = {
  /**
   * The real path of the longest existing ancestor, plus the rest. Walks link by link, because the target of a dangling
   * link is what a write would create, and `realpath` gives up on it. Dots are taken as the system takes them: after links.
   */
  follow(path: string): string;
};

export function openDisk(): Disk {
  const known = new Map<string, Led>();
  const reals = new Map<string, string>();
  const realOf = (path: string) => {
    let real = reals.get(path);
    if (real === undefined) reals.set(path, (real = realpathSync.native(path)));
    return real;
  };
  return {
    follow(path) {
      if (path.length > longestPath) throw new Error("the path is too long");
      const { base, rest } = walk(path, { known, links: 0 });
      return rest === "" ? realOf(base) : join(realOf(base), rest);
    },
  };
}

/** How far a path leads: `base` is there and has no links in it, `rest` is not there. */
type Led = { base: string; rest: string };
type Walk = { known: Map<string, Led>; links: number };

function walk(path: string, so: Walk): Led {
  const met = so.known.get(path);
  if (met !== undefined) return met;
  const { root, dir, base: name } = parse(path);
  if (path === root) return { base: root, rest: "" };
  const above = walk(dir, so);
  const led = step(above, name, so);
  so.known.set(path, led);
  return led;
}

function step({ base, rest }: Led, name: string, so: Walk): Led {
  if (name === "" || name === ".") return { base, rest };
  if (rest !== "") return { base, rest: join(rest, name) };
  if (name === "..") return { base: dirname(base), rest: "" };
  const path = join(base, name);
  const stat = statOf(path);
  if (stat === undefined) return { base, rest: name };
  if (!stat.isSymbolicLink()) return { base: path, rest: "" };
  if (++so.links > 40) throw new Error(`too many links on the way to ${path}`);
  const target = readlinkSync(path);
  return walk(isAbsolute(target) ? target : `${base}${sep}${target}`, so);
}

/** What stands at a path itself, links not followed. Undefined when there is nothing, be it for want of a folder or because no name is so long. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (/^(ENOTDIR|ENAMETOOLONG)$/.test((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
