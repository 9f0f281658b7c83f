import { isAbsolute, resolve } from "node:path";
import type { Rule } from "../../../../protocol/facts/permission.ts";
import { reason, type Reason } from "../../../../protocol/reasons/reason.ts";
import type { Reach } from "../../../rules/access.ts";
import { type CanonicalPath, type Disk, expandHome, isInside, longestPath } from "../../../paths/canonical.ts";
import { disguised } from "../../suspect/disguised.ts";
import type { PossibleCommands } from "../../suspect/possible.ts";
import { baseName } from "../../../text/tokens.ts";
import { isWriter } from "../../../programs/files/writers.ts";

type Scene = { cwd: string; home: string; disk: Disk; reach: Reach; possible: PossibleCommands; command: string };

/** Rules against a path that one of these words may name, for commands whose words are not understood. */
export function rulesAgainst(words: readonly string[], scene: Scene): { deny?: Rule; ask?: Rule } {
  const found: { deny?: Rule; ask?: Rule } = {};
  if (!scene.reach.watchful) return found;
  for (const path of pathsAmong(words, scene)) {
    for (const { deny, ask } of [scene.reach.against(path, "Read"), scene.reach.against(path, "Write")]) {
      if (deny) found.deny ??= deny;
      if (ask) found.ask ??= ask;
    }
  }
  return found;
}

/** Protected path that may be written by text that is not taken apart; `runsOther`: by programs that do not only read. */
export function protectedWrite(text: string, scene: Scene, runsOther: boolean): Reason | undefined {
  if (!runsOther && !mayWrite(text, scene.possible)) return undefined;
  for (const path of pathsAmong([...scene.possible.names], scene)) {
    const guarded = scene.reach.guarded(path);
    if (guarded) return guarded;
  }
  return undefined;
}

/** A protected path that one of these names may be. */
export function protectedPath(
  names: readonly string[],
  bases: readonly string[],
  { disk, home, reach }: Pick<Scene, "disk" | "home" | "reach">,
): Reason | undefined {
  for (const name of names) {
    const path = expandHome(name, home);
    for (const base of bases) {
      const lexical = resolve(base, path);
      const real = safely(() => disk.follow(isAbsolute(path) ? path : `${base}/${path}`)) ?? lexical;
      const guarded = reach.guarded({ lexical, real });
      if (guarded) return guarded;
    }
  }
  return undefined;
}

/** A name that is protected, or that a rule is against. Only as it is written: where links lead from there is not looked up. */
export function builtPath(
  names: readonly string[],
  bases: readonly string[],
  { home, reach }: Pick<Scene, "home" | "reach">,
): string | undefined {
  return names.find((name) => {
    const path = expandHome(name, home);
    if (path === undefined || path.includes("\0")) return false;
    return bases.some((base) => {
      const lexical = resolve(base, path);
      const there = { lexical, real: lexical };
      if (reach.guarded(there)) return true;
      if (!reach.watchful) return false;
      const { deny, ask } = reach.against(there, "Read");
      return deny !== undefined || ask !== undefined;
    });
  });
}

/** Tells whether anything in the text looks as if it wrote a file. */
function mayWrite(text: string, { names }: PossibleCommands): boolean {
  const free = /\d*>&\d+|(\d*|&)>>?\s*\/dev\/(null|stdout|stderr)(?![\w/.-])/g;
  return text.replace(free, " ").includes(">") || [...names].some(isWriter);
}

/** Removal of a root: `/`, a folder right below it, home, the workspace or what is above it. Asked about whoever allows it. */
export function rootRemoval(scene: Scene): Reason | undefined {
  const { possible, cwd, home, disk } = scene;
  if (!["rm", "rmdir", "mv", "-delete"].some((word) => possible.names.has(word))) return undefined;
  const roots = [cwd, home].flatMap((path) => [path, safely(() => disk.follow(path)) ?? path]);
  const bases = basesOf(scene);
  const ways = possible.readings.flat();
  const behind = ways
    .flatMap(({ words }) => disguised(words, ["rm", "rmdir"]))
    .map((words) => ({ words, anywhere: false }));
  for (const { words, anywhere } of [...ways, ...behind]) {
    const at = words.findIndex((word, i) => (i === 0 || anywhere) && /^rm(dir)?$/.test(baseName(word)));
    const operands = at < 0 ? [...foundIn(words), ...movedIn(words, anywhere, scene)] : words.slice(at + 1);
    if (at > 0 && baseName(words[0]!) === "xargs" && isBlind(operands)) return reason("removes-anything", {});
    const read = operands.some((word) => isReadInto(word, scene.command)) ? listedIn(possible) : [];
    const held =
      isDeep(operands) && operands.some((word) => /^\$\{?\w+\}?$/.test(word)) ? ruleInside(scene.command) : [];
    const isOpaque = operands.some((word) => /^(\$\w*|\$[{(].*[)}]|`.*`)$/s.test(word));
    const otherwise = isOpaque && (isDeep(operands) || operands.includes("$")) ? expandedIn(scene.command) : [];
    for (const operand of [...operands, ...otherwise, ...held, ...read]) {
      if (operand.startsWith("-") && operand !== "-") continue;
      if (isDeep(operands) && /^(\$\{?(OLD)?PWD\}?|~[-+])$/.test(operand))
        return reason("removes-anything", { operand });
      if (operand.startsWith("$(") && otherwise.includes(operand)) return reason("removes-anything", { operand });
      if (/^\$[A-Za-z0-9_]*\/+(\*|\.\*|\*\*)?\/*$/.test(operand)) return reason("removes-anything", { operand });
      // All that a folder holds is the folder.
      const named = operand.replace(/(^|\/)(\*|\.\*|\*\*|\{\*,\.\*\}|\.\[!\.\]\*)\/*$/, "$1");
      const path = expandHome(named === "" ? "." : named, home);
      const root = path === undefined ? undefined : bases.map((base) => rootIn(path, base, roots, disk)).find(Boolean);
      if (root !== undefined) return reason("removes", root);
    }
  }
  return undefined;
}

/** Whole folders, and nothing says which. */
function isBlind(operands: readonly string[]): boolean {
  return operands.every((word) => word.startsWith("-")) && isDeep(operands);
}

function isDeep(operands: readonly string[]): boolean {
  return operands.some((word) => /^-[A-Za-z]*[rR]|^--rec/.test(word));
}

/** Texts that variables of a line may hold, by their looks: what is assigned, and what a loop goes through. */
function ruleInside(command: string): string[] {
  const assigned = [...command.matchAll(/(?<=(?:^|[\s;&|(])\w+=)[^\s;&|)]+/g)].map(([value]) => value);
  const listed = [...command.matchAll(/(?<=\bin\s)[^;\n]+/g)].flatMap(([list]) => list.split(/\s+/));
  const plain = [...assigned, ...listed].map((text) => text.replace(/["']/g, "").replace(/^\$\{?HOME\b\}?/, "~"));
  return plain.filter((text) => text !== "");
}

/** Possible values of expansions: variables, a cut home folder, output of `echo`. A command that prints a root stands for itself. */
function expandedIn(command: string): string[] {
  const found: string[] = [];
  const plain = (text: string) =>
    text
      .replace(/["']/g, "")
      .replace(/^\$\{?HOME\b\}?/, "~")
      .replace(/^\$\{?PWD\b\}?/, ".");
  // From the inside out, as they may be nested.
  for (let [rest, before] = [command, ""]; rest !== before;) {
    before = rest;
    rest = rest.replace(
      /\$\{[!#]?(\w+)(\[[^\]]*\])?([^\w{}][^{}]*)\}/,
      (_, name: string, _at: unknown, more: string) => {
        const value = plain(/^:?[-=+]([^]*)$/.exec(more)?.[1] ?? "");
        if (value !== "") found.push(value);
        if (/^(HOME|PWD|OLDPWD)$/.test(name)) found.push(name === "HOME" ? "~" : "$PWD");
        return value;
      },
    );
  }
  for (const [whole, inner, ticked] of command.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g)) {
    const body = inner ?? ticked ?? "";
    if (printsRoot.test(body)) found.push(`$(${body.trim()})`);
    const [name = "", ...args] = body.trim().split(/\s+/).map(plain);
    if (/^(echo|printf|realpath|readlink|dirname|cygpath)$/.test(baseName(name)))
      found.push(...args.map((arg) => (name === "dirname" ? `${arg}/..` : arg)));
    if (whole.includes("dirname")) found.push(...args.filter((arg) => arg === "$PWD"));
  }
  return found;
}

const printsRoot =
  /\bgit\b.*\brev-parse\b.*--(show-(toplevel|cdup|superproject)|(absolute-)?git-(common-)?dir)|\bpwd\b|\bgetent\b|\/etc\/passwd|\bnpm (prefix|config get prefix)|\b(hg|jj|sl|fossil) (\S+ )?root\b|\bgo env GO(PATH|ROOT|MODCACHE)|\bxdg-user-dir\b|\$HOME$|\bprintenv (HOME|PWD)|\becho ~/;

/** A variable that is read from what another command prints. */
function isReadInto(word: string, command: string): boolean {
  const name = /^\$\{?(\w+)\}?$/.exec(word)?.[1];
  return name !== undefined && new RegExp(String.raw`\bread\b[^;|&\n]*\b${name}\b`).test(command);
}

/** Folders of which a line lists everything, and chooses nothing among it. */
function listedIn({ readings, names }: PossibleCommands): string[] {
  if (["grep", "rg", "egrep", "head", "tail", "awk", "sed"].some((name) => names.has(name))) return [];
  return readings.flat().flatMap(({ words: [name = "", ...args] }) => {
    const operands = args.filter((arg) => !arg.startsWith("-"));
    if (baseName(name) === "ls") return operands.length === 0 ? ["."] : operands;
    return baseName(name) === "find" ? walkedPlaces(args) : [];
  });
}

/** `find . -delete`, where nothing chooses among what is found. */
function foundIn([name = "", ...args]: readonly string[]): string[] {
  if (baseName(name) !== "find") return [];
  const [at, end] = [
    args.findIndex((arg) => /^-(exec|ok)(dir)?$/.test(arg)),
    args.findLastIndex((arg) => /^(;|\+)$/.test(arg)),
  ];
  const isRun = at >= 0 && /^(rm|unlink|shred|rmdir)$/.test(baseName(args[at + 1] ?? ""));
  if (!isRun && !args.includes("-delete")) return [];
  return walkedPlaces(isRun ? [...args.slice(0, at), ...args.slice(end < 0 ? args.length : end + 1)] : args);
}

/** Folders that `find` walks with no test that chooses among what is there. */
function walkedPlaces(args: readonly string[]): string[] {
  const first = args.findIndex((arg) => /^[-(!]/.test(arg));
  const chooses = args.slice(first).some((arg, n, tests) => {
    if (/^-i?(name|path|wholename)$/.test(arg) && /^(\.\/)?\*$/.test(tests[n + 1] ?? "")) return false;
    if (arg === "-type") return !/^[fd](,|$)/.test(tests[n + 1] ?? "");
    return arg.startsWith("-") && !/^-(delete|depth|xdev|mount|mindepth|maxdepth|print0?|true)$/.test(arg);
  });
  if (chooses) return [];
  const places = first < 0 ? args : args.slice(0, first);
  return places.length === 0 ? ["."] : [...places];
}

/** Files that `mv` takes from their place. A pattern is a folder that is sorted, unless all of it goes elsewhere. */
function movedIn(words: readonly string[], anywhere: boolean, { cwd, home, command }: Scene): string[] {
  const at = words.findIndex((word, i) => (i === 0 || anywhere) && baseName(word) === "mv");
  if (at < 0) return [];
  const args = words.slice(at + 1);
  const isTarget = (word: string | undefined) => /^(-[a-zA-Z]*t|--target-directory)$/.test(word ?? "");
  const operands = args.filter((word, n) => !word.startsWith("-") && !isTarget(args[n - 1]));
  const named = args.some((word) => /^(-[a-zA-Z]*t|--target)/.test(word)) ? operands : operands.slice(0, -1);
  const to = operands.length > named.length ? operands.at(-1)! : (args.find((_, n) => isTarget(args[n - 1])) ?? ".");
  const target = expandHome(to, home);
  const leaves = target !== undefined && !isInside(cwd, resolve(cwd, target)) && !/^\s*(cd|pushd)\s/.test(command);
  return named.filter((word) => !word.includes("*") || (leaves && /^(\.\/)?(\*|\{\*,\.\*\})$/.test(word)));
}

function rootIn(
  path: string,
  base: string,
  roots: readonly string[],
  disk: Disk,
): { path: string; holds?: string } | undefined {
  const lexical = resolve(base, path);
  const real = safely(() => disk.follow(isAbsolute(path) ? path : `${base}/${path}`)) ?? lexical;
  const found = [lexical, real].find(
    (path) => path.split("/").length <= 2 || roots.some((root) => isInside(path, root)),
  );
  const holds = found && roots.find((root) => root !== found && isInside(found, root));
  return found === undefined ? undefined : { path: found, ...(holds !== undefined && { holds }) };
}

/** Folders that a line may have changed to by then, wherever in it the `cd` stands. */
function basesOf({ possible, cwd, home }: Scene): string[] {
  const moves = possible.readings.flat().flatMap(({ words: [name, to] }) => {
    const path = name === "cd" || name === "pushd" ? expandHome(to ?? "~", home) : undefined;
    return path === undefined ? [] : [resolve(cwd, path)];
  });
  return [...new Set([cwd, ...moves])].slice(0, 50);
}

function pathsAmong(words: readonly string[], scene: Scene): CanonicalPath[] {
  const bases = basesOf(scene);
  const texts = new Set(
    words.flatMap((word) => (word.length > longestPath || word.includes("\0") ? [] : within(word))),
  );
  return [...texts].flatMap((text) => {
    const path = expandHome(text, scene.home);
    if (path === undefined) return [];
    return bases.flatMap((base): CanonicalPath[] => {
      const lexical = resolve(base, path);
      // A word without a dot or a slash is more often a word than a file.
      if (!/[./]/.test(path) && !scene.disk.has(lexical)) return [];
      const real = safely(() => scene.disk.follow(isAbsolute(path) ? path : `${base}/${path}`)) ?? lexical;
      return [{ lexical, real }];
    });
  });
}

/** A file may be the value of an option, or follow a sign: `--env-file=.env`, `@.env`, `HEAD:.env`, `-I../x`. */
function within(word: string): string[] {
  const pieces = [word, ...word.split(/[=@:,<>]/).slice(1)];
  if (/^-[A-Za-z]./.test(word)) pieces.push(word.slice(2));
  const address = /\bfile:\/\/(?:localhost)?([^]*)$/i.exec(word)?.[1];
  if (address !== undefined) pieces.push(address.replace(/^\/+(?=\$|\/)/, ""));
  return pieces.filter((piece) => piece !== "" && !piece.startsWith("-"));
}

/** A path that cannot be looked up is judged by its name. */
function safely<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
