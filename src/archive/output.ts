import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { keptFor, receivedFor } from "../config/output-folder.ts";
import { START_FILE } from "../context/start.ts";
import { isInside } from "../permission/paths/canonical.ts";
import type { Store } from "../journal/store/store.ts";
import type { Fact } from "../protocol/facts/fact.ts";
import { imageFile, type ImagePart } from "../protocol/image.ts";

const HOUR_MS = 3_600_000;
/** Version 0.1.0 kept files sent to a bot in one folder, for this long. */
const RECEIVED_MS = 30 * 24 * HOUR_MS;

/** Removes files of long output that no result in the journal refers to. A file younger than an hour may still be being written. */
export async function collectOutput(
  store: Store,
  folder: string,
  { dryRun = false, now = Date.now() } = {},
): Promise<{ files: number; bytes: number }> {
  const isWanted = await wantedIn(store, folder);
  let [files, bytes] = [0, 0];
  for (const path of filesBelow(folder)) {
    const stat = statSync(path, { throwIfNoEntry: false });
    const wanted = isWanted(path);
    const keepMs = isInside(join(folder, "feishu"), path) ? RECEIVED_MS : HOUR_MS;
    if (!stat?.isFile() || wanted || now - stat.mtimeMs < keepMs) continue;
    files++;
    bytes += stat.size;
    if (!dryRun) rmSync(path, { force: true });
  }
  return { files, bytes };
}

/** Files that facts name, by their paths in the folder. */
export async function keptFiles(store: Store, folder: string): Promise<string[]> {
  const isWanted = await wantedIn(store, folder);
  return filesBelow(folder)
    .filter(isWanted)
    .map((path) => relative(folder, path).replaceAll(sep, "/"));
}

async function wantedIn(store: Store, folder: string): Promise<(path: string) => boolean> {
  const named = await namesIn(store);
  return (path) => named.has(basename(path).replace(/\.(end|keep)$/, "")) || isOfSession(path, folder, store);
}

/** Files that people sent, and how the session began, live as long as their session. */
function isOfSession(path: string, folder: string, store: Store): boolean {
  const isStart = basename(path) === START_FILE;
  const within = isStart ? join(folder, "kept") : receivedFor(folder);
  const [session = ""] = relative(within, path).split(sep);
  return isInside(within, path) && store.session(session) !== undefined;
}

/** A fork has its own copies of the pictures: the other session may be deleted. One that is gone is missing in both. */
export function forkImages(folder: string, from: string, to: string, facts: readonly Fact[]): void {
  const names = new Set(imagesOf(facts).map(imageFile));
  if (names.size === 0) return;
  mkdirSync(keptFor(folder, to), { recursive: true, mode: 0o700 });
  for (const name of names) {
    const source = join(keptFor(folder, from), name);
    if (existsSync(source)) copyFileSync(source, join(keptFor(folder, to), name));
  }
}

function imagesOf(facts: readonly Fact[]): ImagePart[] {
  return facts.flatMap((fact) =>
    fact.type === "user.said" || fact.type === "call.finished" ? (fact.data.images ?? []) : [],
  );
}

/** Removes the files of a deleted session. Files of version 0.1.0 share one folder, and another session may refer to them too. */
export async function dropOutput(
  store: Store,
  folder: string,
  session: string,
  names: Iterable<string>,
): Promise<void> {
  for (const own of [keptFor(folder, session), receivedFor(folder, session)])
    rmSync(own, { recursive: true, force: true });
  for (const name of names)
    if ((await store.housekeeping.search(name, ["call.finished"])).length === 0)
      rmSync(join(folder, name), { force: true });
}

const file = /[\w-]{16,80}\.txt/g;

async function namesIn(store: Store): Promise<Set<string>> {
  const names = new Set<string>();
  for (const { id } of store.sessions()) for (const name of outputNames(await store.read(id))) names.add(name);
  return names;
}

function outputNames(facts: readonly Fact[]): string[] {
  return [...outputOf(facts), ...replacedIn(facts), ...imagesOf(facts).map(imageFile)];
}

export function outputOf(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) =>
    fact.type === "call.finished" ? [...fact.data.text.matchAll(file)].map(([name]) => name) : [],
  );
}

/** Names of the copies that a rewind may need. */
function replacedIn(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) =>
    fact.type === "call.finished" ? (fact.data.replaced ?? []).map(({ before }) => before) : [],
  );
}

function filesBelow(folder: string): string[] {
  try {
    const all = readdirSync(folder, { recursive: true, withFileTypes: true });
    return all.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  } catch {
    return []; // nothing was long yet
  }
}
