import { statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { messageOf } from "../../../protocol/reasons/error.ts";
import type { Changes, Listed } from "../../../protocol/reasons/turn.ts";
import { ripgrep } from "../../../tools/search/ripgrep.ts";

/** A person waits for the question: what is not found by then is not told. */
const SCAN_TIMEOUT_MS = 2_000;
const MAX_FILES = 50_000;
const MAX_LISTED = 20;
/** The clock of the file system lags a little; some round to whole seconds, or to two. */
const LAG_MS = 20;
const ROUNDED_MS = 2_000;

type Found = { files: string[]; folders: string[]; looked: number; missed?: "too-many" | "unreadable" };

/**
 * Lists changes in a folder since a call was started, for the person who must say how it ended. By the times of files alone: a
 * repository that cannot be trusted is not asked. What is ignored there is not looked at.
 */
export async function changesSince(cwd: string, since: number, signal: AbortSignal): Promise<Changes> {
  try {
    const { files, folders, ...rest } = await look(cwd, since, signal);
    return { files: listed(files), folders: listed(folders), ...rest };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: messageOf(error) };
  }
}

async function look(cwd: string, since: number, signal: AbortSignal): Promise<Found> {
  statSync(cwd);
  const found: Found = { files: [], folders: [], looked: 0 };
  const until = performance.now() + SCAN_TIMEOUT_MS;
  const folders = new Set<string>(["."]);
  try {
    for await (const path of ripgrep(["--files", "--null", cwd], "\0", signal)) {
      const name = relative(cwd, path);
      for (let folder = dirname(name); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
      if (changed(path, since)) found.files.push(name);
      if (++found.looked < MAX_FILES && performance.now() < until) continue;
      found.missed = "too-many";
      break;
    }
  } catch (error) {
    if (found.looked === 0) throw error;
    found.missed = "unreadable";
  }
  // A folder whose own time is new has lost or gained an entry; what it gained is among the files.
  const gained = new Set(found.files.map((name) => dirname(name)));
  for (const folder of folders)
    if (!gained.has(folder) && changed(join(cwd, folder), since)) found.folders.push(folder);
  return found;
}

function changed(path: string, since: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return false;
  // Renaming or restoring a file keeps the time of its content.
  const at = Math.max(found.mtimeMs, found.ctimeMs);
  return at >= since - (at % 1_000 === 0 ? ROUNDED_MS : LAG_MS);
}

function listed(names: readonly string[]): Listed {
  const first = names.toSorted().slice(0, MAX_LISTED);
  return { names: first, more: names.length - first.length };
}
