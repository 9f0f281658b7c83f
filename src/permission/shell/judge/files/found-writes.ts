import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Reason } from "../../../../protocol/reasons/reason.ts";
import { expandHome, statOf } from "../../../paths/canonical.ts";
import type { Reach } from "../../../rules/access.ts";
import { isWriter } from "../../../programs/files/writers.ts";
import { baseName } from "../../../text/tokens.ts";
import type { PossibleCommands } from "../../suspect/possible.ts";

/** A protected file that `find` or `fd` comes upon and has another program write. */
export function foundWrite(
  { readings }: PossibleCommands,
  bases: readonly string[],
  { home, reach }: { home: string; reach: Reach },
): Reason | undefined {
  for (const { words } of readings.flat()) {
    const search = searchOf(words);
    if (search === undefined || !writesFound(search.run)) continue;
    for (const place of search.places)
      for (const base of bases) {
        const folder = resolve(base, expandHome(place, home) ?? ".");
        for (const file of oftenProtected(folder)) {
          const path = join(folder, file);
          const guarded = search.finds(join(place, file), place)
            ? reach.guarded({ lexical: path, real: path })
            : undefined;
          if (guarded) return guarded;
        }
      }
  }
  return undefined;
}

type Search = { places: string[]; run: readonly string[]; finds(path: string, place: string): boolean };

function searchOf([program = "", ...args]: readonly string[]): Search | undefined {
  const name = baseName(program);
  const isFind = /^g?find$/.test(name);
  if (!isFind && !/^fd(find)?$/.test(name)) return undefined;
  const at = args.findIndex((arg) => (isFind ? /^-(exec|ok)(dir)?$/ : /^(-x|-X|--exec|--exec-batch)$/).test(arg));
  if (at < 0) return undefined;
  const run = args.slice(at + 1);
  const before = args.slice(0, at);
  // `fd` passes by names that begin with a dot unless it is told otherwise.
  if (!isFind)
    return { places: ["."], run, finds: () => before.some((arg) => /^-[a-zA-Z]*[Hu]|^--(hidden|unres)/.test(arg)) };
  const first = before.findIndex((arg) => /^[-(!]/.test(arg));
  const places = first < 0 ? before : before.slice(0, first);
  const tests = first < 0 ? [] : before.slice(first);
  return { places: places.length === 0 ? ["."] : places, run, finds: (path) => passes(path, tests, isIntoFolder(run)) };
}

/** Tests by name and path. Others are taken to let everything through. */
function passes(path: string, tests: readonly string[], intoFolder: boolean): boolean {
  const isEither = tests.some((test) => /^-or?$/.test(test));
  const wanted: boolean[] = [];
  for (const [n, test] of tests.entries()) {
    const kind = /^-(i?)(name|path|wholename)$/.exec(test);
    if (kind === null) continue;
    const shape = findPattern(tests[n + 1] ?? "*", kind[1] === "i");
    const isMet = kind[2] === "name" ? shape.test(baseName(path)) : shape.test(`./${path}`) || shape.test(path);
    const isBelow = path.split("/").some((_, depth, parts) => {
      const above = parts.slice(0, depth + 1).join("/");
      return kind[2] === "name" ? shape.test(parts[depth]!) : shape.test(`./${above}`) || shape.test(above);
    });
    if (/^(!|-not)$/.test(tests[n - 1] ?? "")) {
      if (isMet) return false;
    } else if (tests[n + 2] === "-prune") {
      if (isBelow) return false;
    } else wanted.push(isMet || (intoFolder && isBelow));
  }
  return wanted.length === 0 || (isEither ? wanted.some(Boolean) : wanted.every(Boolean));
}

/** A found folder may get a file: `cp a {}`, `cp a {}/b`. */
function isIntoFolder(run: readonly string[]): boolean {
  return /^(cp|mv|ln|install|rsync)$/.test(baseName(run[0] ?? "")) || run.some((word) => word.includes("{}/"));
}

/** A star of `find` takes slashes too. */
function findPattern(pattern: string, anyCase: boolean): RegExp {
  const source = pattern
    .replace(/[\\^$.|+(){}]/g, String.raw`\$&`)
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  try {
    return new RegExp(`^${source.replaceAll("[!", "[^")}$`, anyCase ? "is" : "s");
  } catch {
    return /^/;
  }
}

/** The program writes what it is given in place of `{}`, which may be read as `$`: of those that copy, the last word. */
function writesFound(run: readonly string[]): boolean {
  const name = baseName(run[0] ?? "");
  const end = run.findIndex((word) => word === ";" || word === "+" || word === "\\;");
  const args = run.slice(1, end < 0 ? run.length : end);
  const holds = (word: string | undefined) => word === undefined || /\{\}|\{[/.]+\}|^\$(\/|$)/.test(word);
  if (/^(cp|mv|ln|install|rsync)$/.test(name)) {
    if (args.some((arg, n) => /^(-[a-zA-Z]*t|--target-directory)$/.test(arg) && holds(args[n + 1]))) return true;
    return holds(args.at(-1)) || args.some((arg) => /^--target-directory=.*[{$]/.test(arg));
  }
  // The programs in a script tell what it does with the file.
  if (/^(sh|bash|zsh|dash|ksh)$/.test(name))
    return args.some((arg) => />/.test(arg) || arg.split(/[\s;&|]+/).some((word) => writesContent.test(word)));
  if (/^(chmod|chown|chgrp|touch|mkdir|rm|rmdir|unlink)$/.test(name)) return false;
  if (/^(g?sed|perl|ruby)$/.test(name)) return args.some((arg) => /^-[a-zA-Z0-9.]*i|^--in-place/.test(arg));
  return isWriter(name) || /^(dd|truncate|shred|patch|ed|ex|sponge|gzip|xz|bzip2|zstd|sort|awk|gawk)$/.test(name);
}

const writesContent = /^(cp|mv|ln|install|tee|dd|truncate|rsync|patch|sponge|ed|ex)$/;

/** Files of a repository, of editors and of agents, and start files, as far as they are there. */
function oftenProtected(folder: string): string[] {
  const isThere = (place: string) => statOf(join(folder, place)) !== undefined;
  // A hook that is not there yet may be put there.
  const hooks = [".git/hooks", ".husky", "hooks"]
    .filter(isThere)
    .flatMap((place) => [...namesIn(join(folder, place)), "pre-commit"].map((name) => join(place, name)));
  return [
    ...hooks,
    ...[...namesIn(folder), ...often].filter((place) => statOf(join(folder, place))?.isFile() === true),
  ];
}

const often =
  ".git/config .git/HEAD .git/index .git/info/attributes .vscode/settings.json .vscode/tasks.json .idea/workspace.xml .claude/settings.json .sage/settings.json .cursor/mcp.json .ssh/authorized_keys .ssh/config .config/git/config".split(
    " ",
  );

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
