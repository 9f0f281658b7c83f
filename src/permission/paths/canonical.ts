import { attempt } from "../../base/attempt.ts";
import { reason, type Reason, messageOf } from "../../protocol/reasons/reason.ts";
import { lstatSync, readlinkSync, realpathSync, statSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";

/** A path as written, and after every link. Rules look at both; tools act on the real one. */
export type CanonicalPath = { lexical: string; real: string };

/** Folders for relative paths and for `~`. */
export type Place = { cwd: string; home: string };

/** No system takes longer ones. */
export const longestPath = 4_096;

const control = /[\u0000-\u001f\u007f-\u009f]/;
const foreignHome = /^~[^/]/;

/** The path cannot be followed. */
export class PathError extends Error {
  readonly reason: Reason;
  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Why a path cannot be used at all, or undefined. The message is for the model, which reads the errors of tools. */
export function troubleWithPath(path: string): PathError | undefined {
  if (path === "") return new PathError(reason("path-empty", {}), "a path must not be empty");
  if (control.test(path))
    return new PathError(reason("path-control", {}), "a path must not contain control characters");
  return foreignHome.test(path)
    ? new PathError(reason("path-foreign-home", {}), "~name is not supported; write the whole path")
    : undefined;
}

/** The reason for an error that came while a path was followed. */
export function pathTrouble(error: unknown): Reason {
  return error instanceof PathError ? error.reason : reason("path-error", { error: messageOf(error) });
}

/** Throws when a link loops or a directory may not be looked into. */
export function canonicalPath(path: string, place: Place, disk: Disk = openDisk()): CanonicalPath {
  const lexical = lexicalPath(path, place);
  return { lexical, real: disk.follow(lexical) };
}

export function lexicalPath(path: string, { cwd, home }: Place): string {
  const trouble = troubleWithPath(path);
  if (trouble) throw new PathError(trouble.reason, `not a usable path, ${JSON.stringify(path)}: ${trouble.message}`);
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

/** Compares whole segments: /workspace is not inside /w. */
export function isInside(root: string, path: string): boolean {
  const [from, to] = [root.normalize("NFC"), path.normalize("NFC")];
  if (isPlain(from) && isPlain(to)) {
    const folder = from.endsWith("/") ? from.slice(0, -1) : from;
    return to === folder || to.startsWith(`${folder}/`);
  }
  const way = relative(from, to);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** True for a path in which `relative` would find nothing to resolve: it looks letter by letter, at some hundred paths of one command. */
function isPlain(path: string): boolean {
  return sep === "/" && path.startsWith("/") && !toResolve.test(path);
}

/** Names of files may begin with dots: `.sage` is resolved to nothing else. */
const toResolve = /\/(?:\/|\.\.?(?:\/|$))/;

function below(folder: string, rest: string): string {
  const path = `${folder}/${rest}`;
  return isPlain(path) ? path : join(folder, rest);
}

/** A look at the disk that asks it only once about each name: one decision sees one state of things. */
export type Disk = {
  /** The longest existing ancestor, link by link, and the rest: a dangling link's target is what a write creates. Dots after links. */
  follow(path: string): string;
  /** Something is there, be it a link that leads nowhere. */
  has(path: string): boolean;
  /** The paths followed so far that led elsewhere, and where. */
  links(): Record<string, string> | undefined;
};

export function openDisk(): Disk {
  // Made at the first look: most tools are judged without one.
  let looked: ReturnType<typeof emptyLook> | undefined;
  const look = () => (looked ??= emptyLook());
  // Only where letter case may differ does the system know more than the walk, link by link, has found.
  const realOf = (path: string) => {
    if (process.platform === "linux") return path;
    const { reals } = look();
    let real = reals.get(path);
    if (real === undefined) reals.set(path, (real = realpathSync.native(path)));
    return real;
  };
  return {
    follow(path) {
      const { walked, followed, links } = look();
      const known = followed.get(path);
      if (known !== undefined) return known;
      if (path.length > longestPath) throw new PathError(reason("path-too-long", {}), "the path is too long");
      const { base, rest } = follow(path, { walked, links: 0 });
      const real = rest === "" ? realOf(base) : below(realOf(base), rest);
      if (real !== path && real !== resolve(path)) links.set(path, real);
      followed.set(path, real);
      return real;
    },
    has(path) {
      const { there } = look();
      let found = there.get(path);
      // A path that may not be looked up counts as not there.
      if (found === undefined) there.set(path, (found = attempt(() => statOf(path) !== undefined) ?? false));
      return found;
    },
    links: () => (looked ? Object.fromEntries(looked.links) : undefined),
  };
}

function emptyLook() {
  return {
    walked: new Map<string, Led>(),
    reals: new Map<string, string>(),
    links: new Map<string, string>(),
    there: new Map<string, boolean>(),
    followed: new Map<string, string>(),
  };
}

/** The part of a path that exists: `base` is there and has no links in it, `rest` is not there. */
type Led = { base: string; rest: string };
type Walk = { walked: Map<string, Led>; links: number };

function follow(path: string, walk: Walk): Led {
  const earlier = walk.walked.get(path);
  if (earlier !== undefined) return earlier;
  const { root, dir, base: name } = parse(path);
  if (path === root) return { base: root, rest: "" };
  const above = follow(dir, walk);
  const led = step(above, name, walk);
  walk.walked.set(path, led);
  return led;
}

function step({ base, rest }: Led, name: string, walk: Walk): Led {
  if (name === "" || name === ".") return { base, rest };
  if (rest !== "") return { base, rest: join(rest, name) };
  if (name === "..") return { base: dirname(base), rest: "" };
  const path = base.endsWith(sep) ? `${base}${name}` : `${base}${sep}${name}`;
  // It is another folder for each process: the command's is not ours.
  if (ofProcess.test(path))
    throw new PathError(reason("path-links", { path }), `${path} is another folder for each process`);
  const stat = statOf(path);
  if (stat === undefined) return { base, rest: name };
  if (!stat.isSymbolicLink()) return { base: path, rest: "" };
  if (++walk.links > 40) throw new PathError(reason("path-links", { path }), `too many links on the way to ${path}`);
  const target = readlinkSync(path);
  return follow(isAbsolute(target) ? target : `${base}${sep}${target}`, walk);
}

const ofProcess = /^\/proc\/(self|thread-self|\d+)(\/task\/\d+)?\/(cwd|root)$/;

/** File or folder at a path itself, links not followed. Undefined when there is nothing, be it for want of a folder or because no name is so long. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (/^(ENOTDIR|ENAMETOOLONG)$/.test((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

export function isFolder(path: string): boolean {
  return attempt(() => statSync(path).isDirectory()) ?? false;
}
