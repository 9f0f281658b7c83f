import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { expandHome } from "../../paths/canonical.ts";
import { ordinary, subcommandAt } from "./git-words.ts";
import { gitDirOf, isHarmless, repositoryOf } from "./repository.ts";

/** An alias of git or cargo here, judged as if written out; `!` is a shell's. `moved`: other settings count, a word may mean anything. */
export function aliasIn(
  bases: readonly string[],
  home: string,
  moved = false,
): (program: string, args: readonly string[]) => string | undefined {
  return (program, args) => {
    if (program === "git") return gitAlias(args, bases, home) ?? (moved && mayBeAlias(args) ? "\0" : undefined);
    return program === "cargo" ? cargoAlias(args, bases, home) : undefined;
  };
}

function mayBeAlias(args: readonly string[]): boolean {
  const name = args[subcommandAt(args)];
  return name !== undefined && !ordinary.has(name) && !/^(config|apply|am|sparse-checkout|maintenance)$/.test(name);
}

function gitAlias(args: readonly string[], bases: readonly string[], home: string): string | undefined {
  const at = subcommandAt(args);
  const name = args[at];
  if (name === undefined || !mayBeAlias(args) || !/^[\w.-]+$/.test(name)) return undefined;
  const own = args.slice(0, at);
  const moves = own.flatMap((arg, n) => (own[n - 1] === "-C" && !arg.includes("\0") ? [arg] : []));
  const folder = own.flatMap((arg, n) =>
    own[n - 1] === "--git-dir" ? [arg] : (/^--git-dir=(.+)$/.exec(arg)?.[1] ?? []),
  );
  for (const base of bases) {
    const from = moves.reduce((here, to) => resolve(here, expandHome(to, home) ?? ""), base);
    const files = [...folder.map((path) => resolve(from, path, "config")), ...configsOf(from), ...personal(home)];
    const found = files.map((file) => aliasFrom(file, name.toLowerCase(), home)).find(Boolean);
    if (found !== undefined) return found.startsWith("!") ? found.slice(1) : `git ${found}`;
  }
  return undefined;
}

function configsOf(from: string): string[] {
  try {
    const found = repositoryOf(from);
    if (found === undefined) return [];
    if (found.bare) return [join(found.root, "config")];
    const { gitDir, common } = gitDirOf(found.root);
    return [join(common, "config"), join(gitDir, "config.worktree"), join(common, "config.worktree")];
  } catch {
    return [];
  }
}

function personal(home: string): string[] {
  return [join(home, ".gitconfig"), join(home, ".config/git/config"), "/etc/gitconfig"];
}

/** The value of `alias.name` in a file of settings, or in one that it includes. */
function aliasFrom(file: string, name: string, home: string): string | undefined {
  const keys = [`alias.${name}`, `alias.${name}.command`];
  return pairsIn(file, home).findLast(({ key, value }) => keys.includes(key) && value !== "")?.value;
}

type Pair = { key: string; value: string };

/** All settings that hold in a repository, the person's own among them, with those of every file that may be included. */
export function settingsOf({ common, gitDir }: { common: string; gitDir: string }, home: string): Pair[] {
  const own = [join(common, "config"), join(gitDir, "config.worktree")];
  return [...own, ...personal(home)].flatMap((file) => pairsIn(file, home));
}

/** Settings of the repository itself that name programs or files with more of them, its aliases aside. */
export function programSettings({ common, gitDir }: { common: string; gitDir: string }, home: string): Pair[] {
  const files = [
    ...new Set([common, gitDir].flatMap((folder) => [join(folder, "config"), join(folder, "config.worktree")])),
  ];
  return files
    .flatMap((file) => pairsIn(file, home))
    .filter(({ key, value }) => {
      const [, section = "", name = ""] = /^(.*)\.([^.]*)$/.exec(key) ?? [];
      return !/^alias\b/.test(section) && !isHarmless(section.replace(/\..*$/, ".*"), name, value);
    });
}

function pairsIn(file: string, home: string, depth = 0): Pair[] {
  const pairs: Pair[] = [];
  let section = "";
  for (const line of (settingsIn(file) ?? "").replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const header = /^\s*\[\s*([\w.-]+)\s*(?:"((?:\\.|[^"\\])*)")?\s*\](.*)$/.exec(line);
    if (header) section = header[1]!.toLowerCase() + (header[2] === undefined ? "" : `.${header[2].toLowerCase()}`);
    const [, name, value = "true"] = /^\s*([a-z][\w-]*)\s*(?:=\s*(.*))?$/i.exec(header?.[3] ?? line) ?? [];
    if (name === undefined) continue;
    const pair = { key: `${section}.${name.toLowerCase()}`, value: plainValue(value) };
    pairs.push(pair);
    if (depth >= MAX_INCLUDES || !/^include(if\..*)?\.path$/.test(pair.key)) continue;
    const path = expandHome(pair.value, home) ?? "";
    pairs.push(...pairsIn(isAbsolute(path) ? path : join(dirname(file), path), home, depth + 1));
  }
  return pairs;
}

const MAX_INCLUDES = 5;

/** Without quotes, escapes and what is said behind it. */
function plainValue(text: string): string {
  const [kept = ""] = /^(?:\\.|"(?:\\.|[^"\\])*"|[^\\"#;])*/.exec(text) ?? [];
  return kept.replace(/\\(.)|"/g, (_, char: string | undefined) => (char === "n" ? "\n" : (char ?? ""))).trim();
}

/** `[alias]` in `.cargo/config.toml` of this folder and those above it. */
function cargoAlias(args: readonly string[], bases: readonly string[], home: string): string | undefined {
  const name = args[subcommandAt(args)];
  if (name === undefined || !/^[\w-]+$/.test(name)) return undefined;
  for (const base of [...bases, home])
    for (let here = base; ; here = dirname(here)) {
      const text = settingsIn(join(here, ".cargo/config.toml")) ?? settingsIn(join(here, ".cargo/config")) ?? "";
      const table = /^\s*\[alias\]([^[]*(?:\[[^\]\n]*\][^[]*)*?)(?=^\s*\[\w|(?![^]))/m.exec(text)?.[1] ?? "";
      const value = new RegExp(String.raw`^\s*"?${name}"?\s*=\s*(.+)$`, "m").exec(table)?.[1];
      if (value !== undefined) return `cargo ${value.replace(/["'[\],]/g, " ")}`;
      if (dirname(here) === here) break;
    }
  return undefined;
}

const MAX_BYTES = 256 * 1024;

function settingsIn(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
