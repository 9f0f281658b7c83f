import { createHash, randomUUID } from "node:crypto";
import { constants, existsSync, lstatSync, readdirSync } from "node:fs";
import { mkdir, open, readdir, readlink, realpath, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { closest } from "../../base/name.ts";
import { isNameOfDead, processName } from "../../processes/identity.ts";
import * as z from "../../base/z.ts";
import { canonicalPath } from "../../permission/paths/canonical.ts";
import type { ToolPlace } from "../definition/tool.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import type { ToolProblem } from "../definition/result.ts";

export type FileState =
  | { kind: "file"; bytes: Buffer; hash: string; mode: number; uid: number; gid: number }
  | { kind: "huge"; size: number }
  | { kind: "missing" | "directory" | "special" };

/** A half surrogate pair cannot be written as UTF-8: it would silently become another character. */
export const contentSchema = z.string().refine((text) => text.isWellFormed(), "text must be well-formed Unicode");

/** Names of a folder that are compared with a missing one. */
const MAX_NAMES = 2_000;
const largest = 50 * 1024 * 1024;

export function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** "" stands for no file, as in the facts. */
export function hashOf(state: FileState): string | undefined {
  if (state.kind === "file") return state.hash;
  return state.kind === "missing" ? "" : undefined;
}

/** Throws for a link: `real` was resolved, so one that is there now was put there since. */
export async function readState(real: string): Promise<FileState> {
  let file: FileHandle;
  try {
    // Non-blocking, since opening a pipe that nobody writes to would wait for ever.
    file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { kind: "missing" };
    throw error;
  }
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) return { kind: "directory" };
    if (!stat.isFile()) return { kind: "special" };
    if (stat.size > largest) return { kind: "huge", size: stat.size };
    const bytes = await file.readFile();
    return { kind: "file", bytes, hash: sha256(bytes), mode: stat.mode & 0o7777, uid: stat.uid, gid: stat.gid };
  } finally {
    await file.close();
  }
}

/** Says what is there when it is not a file that can be shown or changed. */
export function explain(state: Exclude<FileState, { kind: "file" }>, path: string): string | ToolProblem {
  switch (state.kind) {
    case "missing":
      return { text: `${path} does not exist.${nearest(path)}`, why: reason("file-missing", { path }) };
    case "directory":
      return `${path} is a directory, not a file.`;
    case "special":
      return `${path} is a device, pipe or socket, not a regular file.`;
    case "huge":
      return `${path} is too large (${showSize(state.size)}; the limit is ${showSize(largest)}). Use Grep, or head, tail and sed through Bash.`;
    default:
      return state satisfies never;
  }
}

/** A name in the same folder that may have been meant. */
function nearest(path: string): string {
  try {
    const near = closest(basename(path), readdirSync(dirname(path)).slice(0, MAX_NAMES));
    return near === undefined ? ` Its folder has no such name.` : ` Did you mean ${join(dirname(path), near)}?`;
  } catch {
    return " Its folder does not exist either.";
  }
}

export function showSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** The file a call changes. Undefined for what is no file: whoever reads a pipe or a device to hash it never returns. */
export function operandOf(path: string, place: ToolPlace): string | undefined {
  try {
    const { real } = canonicalPath(path, place);
    const stat = lstatSync(real, { throwIfNoEntry: false });
    return stat === undefined || stat.isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** State of the file after a crash; undefined when even that cannot be told. */
export async function lookAgain(path: string, place: ToolPlace): Promise<{ real: string; now: FileState } | undefined> {
  try {
    const { real } = canonicalPath(path, place);
    await removeLeftovers(dirname(real));
    return { real, now: await readState(real) };
  } catch {
    return undefined;
  }
}

/** Folder by folder: Node's own recursive `mkdir` never returns below /proc, and takes its thread along. */
async function makeFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  await makeFolder(dirname(path));
  await mkdir(path).catch((error: unknown) => {
    if (!existsSync(path)) throw error; // nobody made it in between
  });
}

/** All or nothing, also through a crash: whoever looks sees the old content or the new one, never a part. */
export async function replaceFile(real: string, content: Buffer, before: FileState, mode?: number): Promise<void> {
  await makeFolder(dirname(real));
  await inFolder(real, async (at) => {
    await removeLeftovers(at);
    const name = `.sage-${processName()}-${randomUUID()}.tmp`;
    const temporary = join(at, name);
    underWay.add(name);
    try {
      await writeDurably(temporary, content, before, mode);
      await checkSame(join(at, basename(real)), before);
      await rename(temporary, join(at, basename(real)));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    } finally {
      underWay.delete(name);
    }
  });
}

/** Removes a file that is as it was found. */
export async function removeFile(real: string, before: FileState): Promise<void> {
  await inFolder(real, async (at) => {
    await checkSame(join(at, basename(real)), before);
    await rm(join(at, basename(real)));
  });
}

async function checkSame(path: string, before: FileState): Promise<void> {
  const now = await readState(path);
  if (hashOf(now) !== hashOf(before)) throw new Error("somebody else changed the file meanwhile; Read it again");
}

/** Work on the entries of a file's folder, which nobody can swap for a link meanwhile. */
async function inFolder(real: string, work: (at: string) => Promise<void>): Promise<void> {
  const folder = dirname(real);
  const directory = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await work(await pin(directory, folder));
    await directory.sync();
    await pin(directory, folder);
  } finally {
    await directory.close();
  }
}

/** Temporary files that this process writes now. Another process may have had the same pid, in a container above all. */
const underWay = new Set<string>();

/** Removes what a process left here that was killed between writing a file and renaming it. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (isLeftover(name)) await rm(join(folder, name), { force: true }).catch(() => undefined);
}

function isLeftover(name: string): boolean {
  const [, maker, pid] = /^\.sage-((\d+)-(?:[\w.]+-)?)[0-9a-f-]{36}\.tmp$/.exec(name) ?? [];
  if (maker === undefined || underWay.has(name)) return false;
  return isNameOfDead(maker) || Number(pid) === process.pid;
}

/** On Linux the descriptor's path stands in for `openat`: a swapped directory leads no write astray. Elsewhere it is noticed afterwards. */
async function pin(directory: FileHandle, folder: string): Promise<string> {
  const own = `/proc/self/fd/${directory.fd}`;
  const where = await readlink(own).catch(() => undefined);
  const actual = where ?? (await realpath(folder));
  if (actual !== folder)
    throw new Error(`${folder} was moved or replaced by a link while writing; it led to ${actual}`);
  return where === undefined ? folder : own;
}

async function writeDurably(path: string, content: Buffer, before: FileState, mode?: number): Promise<void> {
  const file = await open(path, "wx", before.kind === "file" ? 0o600 : 0o666);
  try {
    await file.writeFile(content);
    if (before.kind === "file") {
      // Only root may give a file away; for everyone else it is theirs already, or stays theirs.
      await file.chown(before.uid, before.gid).catch(() => undefined);
      await file.chmod(before.mode);
    } else if (mode !== undefined) await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}
