import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "../journal/store.ts";
import type { Fact } from "../protocol/index.ts";

const HOUR_MS = 3_600_000;

/** Removes files of long output that no result in the journal names. One that is younger than an hour may be in the making. */
export function collectOutput(
  store: Store,
  folder: string,
  { dryRun = false, now = Date.now() } = {},
): { files: number; bytes: number } {
  const named = namesIn(store);
  let [files, bytes] = [0, 0];
  for (const name of namesOf(folder)) {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    if (!stat?.isFile() || named.has(name) || now - stat.mtimeMs < HOUR_MS) continue;
    files++;
    bytes += stat.size;
    if (!dryRun) rmSync(join(folder, name), { force: true });
  }
  return { files, bytes };
}

/** Removes the files of a session that is gone, unless another one names them too. */
export function dropOutput(store: Store, folder: string, names: Iterable<string>): void {
  for (const name of names)
    if (store.housekeeping.search(name, ["call.finished"]).length === 0) rmSync(join(folder, name), { force: true });
}

const file = /[\w-]{16,80}\.txt/g;

function namesIn(store: Store): Set<string> {
  return new Set(store.sessions().flatMap(({ id }) => outputOf(store.load(id))));
}

/** The files that a session's results name. */
export function outputOf(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) =>
    fact.type === "call.finished" ? [...fact.data.text.matchAll(file)].map(([name]) => name) : [],
  );
}

function namesOf(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".txt"));
  } catch {
    return []; // nothing was long yet
  }
}
