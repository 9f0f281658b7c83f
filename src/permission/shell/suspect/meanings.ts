import { hash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { attempt } from "../../../base/attempt.ts";
import { isInside } from "../../paths/canonical.ts";
import { aliasIn, programSettings } from "../../programs/git/aliases.ts";
import { subcommandAt } from "../../programs/git/git-words.ts";
import { gitDirOf, repositoryOf } from "../../programs/git/repository.ts";
import { baseName } from "../../text/tokens.ts";
import type { PossibleCommands } from "./possible.ts";
import { fileKind, namedFolders } from "./scripts.ts";
import { searchedFolders } from "./set-variables.ts";

/**
 * Meanings of a command's words by files that it does not show: aliases, settings and hooks of a repository that run programs,
 * links to programs, programs on a search path of its own or in a folder of everybody, files that variables name. Scripts of the
 * workspace are in `namedScripts`.
 */
export function meaningsOf(
  possible: PossibleCommands,
  { cwd, home, roots }: { cwd: string; home: string; roots: readonly string[] },
): Record<string, string> | undefined {
  const { readings, names } = possible;
  const found: Record<string, string> = {};
  const folders = namedFolders(names, cwd);
  // Each for itself: nobody knows in which of them a command runs.
  const aliases = folders.map((folder) => aliasIn([folder], home));
  const searched = searchedFolders(possible);
  for (const { words } of readings[0].slice(0, MAX_COMMANDS)) {
    const [name = "", ...args] = words.slice(words.findIndex((word) => !isSet.test(word)));
    const meant = [...new Set(aliases.flatMap((alias) => alias(baseName(name), args) ?? []))].join(" | ");
    if (meant !== "")
      found[[name, ...args.slice(0, subcommandAt(args) + 1)].join(" ").replaceAll("\0", "…")] =
        meant.length > MAX_LENGTH ? hash("sha256", meant, "hex") : meant;
    const set = words.flatMap((word) => (isSet.test(word) ? word.slice(word.indexOf("=") + 1).split(/[:\s]+/) : []));
    for (const file of [name, ...set, ...searched.map((folder) => join(folder, name))])
      if (file.includes("/") && file.length < 4_096)
        for (const path of folders.map((folder) => resolve(folder, file))) note(path, file !== name);
  }
  if (names.has("git"))
    for (const folder of folders) {
      const runs = attempt(() => repositoryRuns(folder, home));
      if (runs !== undefined) found[runs.gitDir] = runs.digest;
    }
  return Object.keys(found).length === 0 ? undefined : found;

  /** A file of the workspace counts as a script; other links of it, and what anybody may have written, count here. */
  function note(path: string, isSetThere: boolean): void {
    if (fileKind(path) === undefined || fileKind(path) === "folder") return;
    const isIn = (place: string) => roots.some((root) => isInside(root, place));
    const real = realpathSync(path);
    if (isSetThere ? isIn(real) : (isIn(path) && !isIn(real)) || /^\/(tmp|var\/tmp|dev\/shm)\//.test(real))
      found[path] = hash("sha256", attempt(() => readFileSync(real)) ?? "", "hex");
  }
}

const isSet = /^[A-Za-z_]\w*\+?=/;
const MAX_COMMANDS = 200;
const MAX_LENGTH = 300;

/** Settings that name programs, and hooks, of the repository that git finds from here. */
function repositoryRuns(from: string, home: string): { gitDir: string; digest: string } | undefined {
  const found = repositoryOf(from);
  if (found === undefined) return undefined;
  const { gitDir, common } = found.bare ? { gitDir: found.root, common: found.root } : gitDirOf(found.root);
  const settings = programSettings({ gitDir, common }, home);
  const elsewhere = settings.findLast(({ key }) => key === "core.hookspath")?.value;
  const folder = elsewhere === undefined ? join(common, "hooks") : resolve(found.root, elsewhere);
  const hooks = (attempt(() => readdirSync(folder).toSorted()) ?? [])
    .filter((name) => !name.endsWith(".sample") && fileKind(join(folder, name)) === "program")
    .slice(0, MAX_COMMANDS)
    .map((name) => [name, attempt(() => readFileSync(join(folder, basename(name)), "latin1"))]);
  if (settings.length === 0 && hooks.length === 0) return undefined;
  return { gitDir, digest: hash("sha256", JSON.stringify([settings, hooks]), "hex") };
}
