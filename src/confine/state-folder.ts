import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { exists, isFolder, isInside, privatePoints, statOf, type Mount } from "./plan.ts";
import { seccompFilter } from "./seccomp.ts";

/** Folders of a sandbox, below Sage's state. `runs`: arguments and notes of commands. `filter`: the file for seccomp. */
type StateFolder = { home: string; tmp: string; runs: string; filter: string };

export function stateFolder({ sageHome, key }: { sageHome: string; key: string }): StateFolder {
  const state = join(sageHome, "confine");
  const own = join(state, createHash("sha256").update(key).digest("hex").slice(0, 16));
  const [home, tmp, runs] = ["home", "tmp", "runs"].map((name) => join(own, name)) as [string, string, string];
  for (const folder of [home, tmp, runs]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const filter = join(state, `${process.arch}.filter`);
  const bytes = seccompFilter();
  if (bytes === undefined) throw new Error(`there is no filter for ${process.arch}`);
  if (!exists(filter) || !readFileSync(filter).equals(bytes)) writeFileSync(filter, bytes, { mode: 0o600 });
  const real = realpathSync(own);
  return { home: join(real, "home"), tmp: join(real, "tmp"), runs: join(real, "runs"), filter: realpathSync(filter) };
}

/**
 * Makes the places in the private folders that mounts go to. Nothing there may lead elsewhere: bwrap would follow, and make what it
 * does not find.
 */
export function prepare(mounts: readonly Mount[], home: string, own: StateFolder): void {
  const areas = [["/tmp", own.tmp] as const, [home, own.home] as const];
  for (const to of [home, ...privatePoints(mounts)]) {
    const [from, area] = areas.findLast(([one]) => one !== to && isInside(one, to)) ?? [];
    if (from === undefined || area === undefined) continue;
    const names = relative(from, to).split("/");
    for (const at of names.keys()) {
      const path = join(area, ...names.slice(0, at + 1));
      const isLast = at === names.length - 1;
      if (exists(path) && !isFolder(path) && (!isLast || statOf(path)!.isSymbolicLink())) rmSync(path);
      if (!isLast) mkdirSync(path, { recursive: true, mode: 0o700 });
    }
  }
}
