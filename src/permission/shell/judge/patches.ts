import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { reason } from "../../../protocol/reasons/reason.ts";
import { subcommandAt } from "../../programs/git/git-words.ts";
import type { Write } from "../../programs/files/use.ts";
import type { Reach } from "../../rules/access.ts";
import { baseName } from "../../text/tokens.ts";
import { literalWord, type Word } from "../read/word.ts";
import type { Step } from "./flow/flow.ts";
import type { CommandView } from "./command-view.ts";
import type { JudgedPart } from "./shell-finding.ts";
import { judgeTarget } from "./judge-target.ts";
import { operandTargets, type Where } from "./files/targets.ts";

const largest = 1024 * 1024;

/**
 * Parts for the files that a patch changes, by what the patch itself says, and for those that `git mv` makes: protected ones,
 * those that run later and those outside of the workspace ask. A patch that cannot be read here asks as well where a rule would
 * allow the command.
 */
export function patchedParts(
  view: CommandView,
  { fed, command }: Pick<Step, "fed" | "command">,
  where: Where,
  reach: Reach,
): JudgedPart[] {
  const moved = movedByGit(view.words);
  if (moved.length > 0) return changedParts(moved, where, reach);
  const given = patchesOf(view.words.map(({ text }) => text ?? "\0"));
  if (given === undefined) return [];
  const input = command.redirects.findLast(({ op }) => op === "<")?.target.text;
  const files = given.files.length > 0 || input === undefined ? given.files : [input];
  const texts =
    files.length === 0
      ? [typeof fed === "object" ? fed.text : undefined]
      : files.flatMap((name) => where.bases.map((base) => read(isAbsolute(name) ? name : join(base, name))));
  const shown = view.words.map(where.source).join(" ");
  if (texts.includes(undefined)) {
    const why = reason("write-unclear", {});
    // The same line may write the patch first.
    if (where.busy && files.length > 0) return [{ text: shown, behavior: "ask", reason: why, mustAsk: why }];
    return view.allowed ? [{ text: shown, behavior: "ask", reason: why, need: { kind: "nothing" } }] : [];
  }
  const changed = new Set(texts.flatMap((text) => filesIn(text!, given.strip)));
  const writes = [...changed].map((name) => ({ target: literalWord(join(given.folder, name), view.words[0]) }));
  return changedParts(writes, where, reach, shown);
}

/** A patch on a line that is not understood may change any file. */
export function appliesPatch(words: readonly string[]): boolean {
  return patchesOf(words) !== undefined;
}

function changedParts(writes: Write[], where: Where, reach: Reach, shown?: string): JudgedPart[] {
  return operandTargets({ readOnly: false, reads: [], writes, deep: false }, where).flatMap((target) => {
    const counts = target.paths.some((path) => !reach.inside(path) || reach.write(path).later === true);
    return judgeTarget({ ...target, shown: target.text ?? shown ?? target.shown, maybe: !counts }, reach);
  });
}

function movedByGit(words: readonly Word[]): Write[] {
  const args = words.slice(1);
  const at = subcommandAt(args.map(({ text }) => text ?? "\0"));
  if (words[0]?.text !== "git" || args[at]?.text !== "mv") return [];
  const operands = args.slice(at + 1).filter(({ text, lead }) => !(text ?? lead).startsWith("-"));
  const target = operands.at(-1);
  return target === undefined || operands.length < 2 ? [] : [{ target, from: operands.slice(0, -1) }];
}

/** The patches that a command applies: files, or none for its standard input. */
function patchesOf(words: readonly string[]): { files: string[]; folder: string; strip: number } | undefined {
  const name = baseName(words[0] ?? "");
  const args = words.slice(1);
  const at = name === "git" ? subcommandAt(args) : -1;
  if (name !== "patch" && !(name === "git" && /^(apply|am)$/.test(args[at] ?? ""))) return undefined;
  const rest = args.slice(at + 1);
  const value = (short: RegExp, long: RegExp) =>
    rest
      .map(
        (arg, n) =>
          short.exec(arg)?.[1] ??
          long.exec(arg)?.[1] ??
          (/^(-d|--directory|-i|--input)$/.test(rest[n - 1] ?? "") && long.test(`${rest[n - 1]}=${arg}`)
            ? arg
            : undefined),
      )
      .find((found) => found !== undefined && found !== "");
  const folder = value(/^-d(.+)$/, /^(?:--directory|-d)=(.+)$/) ?? "";
  const input = value(/^-i(.+)$/, /^(?:--input|-i)=(.+)$/);
  const strip = Number(
    /^-p(\d+)$/.exec(rest.find((arg) => /^-p\d+$/.test(arg)) ?? "")?.[1] ?? (name === "patch" ? "-1" : "1"),
  );
  const operands = rest.filter(
    (arg, n) =>
      !arg.startsWith("-") && !/^(-d|--directory|-i|--input|-p|-C|--exclude|--include|-o|-r)$/.test(rest[n - 1] ?? ""),
  );
  // The second word of `patch` is the patch; the first is the file.
  const files = input !== undefined ? [input] : name === "patch" ? operands.slice(1) : operands;
  return { files: files.filter((file) => file !== "-"), folder, strip };
}

function filesIn(patch: string, strip: number): string[] {
  const names = patch.split("\n").flatMap((line): string[] => {
    const found = /^(?:\+\+\+|---|\*\*\*) ([^\t\r]+)|^(?:rename|copy) (?:to|from) (.+)|^Index: (.+)/.exec(line);
    const both = /^diff --git (?:a\/)?(.+) (?:b\/)?(.+)$/.exec(line);
    return [found?.[1] ?? found?.[2] ?? found?.[3], both?.[2]].filter(
      (name) => name !== undefined && name !== "/dev/null",
    ) as string[];
  });
  // With and without the folders that are taken off: which of them count depends on who applies it.
  return names
    .map((name) => (name.startsWith('"') ? name.slice(1, -1).replace(/\\(.)/g, "$1") : name.trim()))
    .flatMap((name) => [stripped(name, strip < 0 ? 1 : strip), ...(strip < 0 ? [name, stripped(name, 99)] : [])]);
}

function stripped(name: string, count: number): string {
  const names = name.split("/");
  return names.slice(Math.min(count, names.length - 1)).join("/");
}

function read(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > largest) return undefined;
    const bytes = Buffer.alloc(stats.size);
    readSync(file, bytes, 0, stats.size, 0);
    return bytes.toString("utf8");
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
