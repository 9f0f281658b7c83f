import { isAbsolute, resolve } from "node:path";
import type { Reach } from "../../rules/access.ts";
import { statOf } from "../../paths/canonical.ts";
import type { CommandView } from "./command.ts";
import type { JudgedPart } from "./shell.ts";
import { judgeTarget } from "./target-view.ts";
import { gluedTo, namesIn, operandTargets } from "./targets.ts";
import type { Target, Where } from "./targets.ts";
import { repositoryOf } from "../../programs/repository.ts";
import { trackedFiles } from "../../programs/tracked.ts";
import type { Word } from "../read/word.ts";
import { baseName } from "../../text/tokens.ts";

/**
 * What is asked about of a program that nothing is known about, although a rule allows it: that it works in another
 * folder than this one, and that it is given a protected path. What stands in the rule was meant.
 */
export function unknownParts(
  { known, allowed, rule, words, meant }: CommandView,
  where: Where,
  reach: Reach,
): JudgedPart[] {
  if (!allowed || rule === undefined || known.kind !== "other") return [];
  const given = words.slice(1).filter(({ text }) => text === undefined || !meant.has(text));
  const folders = operandTargets({ readOnly: false, reads: foldersIn(given), writes: [], deep: false }, where);
  const parts = folders.flatMap((target) => judgeTarget(target, reach));
  if (words[0]?.text === "git")
    return [...parts, ...outside(given, where, reach).flatMap((target) => judgeTarget(target, reach))];
  for (const word of given) {
    const spelled = namesIn(word, where);
    // One that a pattern stands for may be called `--eval=…`.
    if (word.glob !== undefined && !word.lead.startsWith("-") && spelled.some((name) => name.startsWith("-"))) {
      const reason = "a file is called like an option";
      parts.push({ text: where.source(word), behavior: "ask", reason, need: { kind: "nothing" } });
    }
    const names = spelled.flatMap(piecesOf);
    const hard = names.flatMap((name) => where.bases.map((base) => touched(name, base, where, reach))).find(Boolean);
    if (hard === undefined) continue;
    parts.push({ text: where.source(word), behavior: "ask", reason: hard, need: { kind: "nothing" } });
    break;
  }
  return parts;
}

/** Git reads and writes files anywhere. A protected one it may be given: it writes those without being given any, too. */
function outside(words: readonly Word[], where: Where, reach: Reach): Target[] {
  const isSaid = (i: number) => /^(-[a-z]*m|--message|--author|--date)$/.test(words[i - 1]?.text ?? "");
  const paths = words.flatMap((word, i): Word[] => {
    if (word.text === undefined || isSaid(i) || isAddress.test(word.text)) return [];
    const names = piecesOf(word.text).filter((name) => !name.startsWith("-"));
    return [...names.map((text) => ({ ...word, text, lead: text })), ...gluedTo(word)];
  });
  const targets = operandTargets({ readOnly: false, reads: paths, writes: [], deep: false }, where);
  return targets.filter(({ paths: led }) => led.some((path) => !reach.inside(path)));
}

const isAddress = /^(?!file:)[a-z][a-z0-9+.-]*:\/\/|^[\w.-]+@[\w.-]+:/i;

/** Why nothing should be written to what this may be a path of. */
function touched(name: string, base: string, { disk }: Where, reach: Reach): string | undefined {
  const lexical = resolve(base, name);
  let real = lexical;
  try {
    real = disk.follow(isAbsolute(name) ? name : `${base}/${name}`);
  } catch {
    // No path at all, or one that leads nowhere: judged by its name.
  }
  return reach.guarded({ lexical, real });
}

const folderOptions = "--directory --cwd --chdir --prefix --work-tree --git-dir --manifest-path".split(" ");

function foldersIn(words: readonly Word[]): Word[] {
  return words.flatMap((word, i): Word[] => {
    const { text = "" } = word;
    // Abbreviated, or after other letters: `--dir x`, `-kC x`.
    const [, long, given] = /^(--[a-z-]{2,})(?:=([^]*))?$/.exec(text) ?? [];
    const isLong = long !== undefined && folderOptions.some((option) => option.startsWith(long));
    const short = /^-[A-Za-z]{0,3}?C=?([^]*)$/.exec(text)?.[1];
    if (!isLong && short === undefined) return [];
    const value = given ?? short ?? "";
    if (value !== "") return [{ ...word, text: value, lead: value }];
    const next = words[i + 1];
    return next === undefined ? [] : [next];
  });
}

/** A path may be the value of an option or come after a sign. */
function piecesOf(word: string): string[] {
  return [word, ...word.split(/[=@:,]/).slice(1)].filter((piece) => piece !== "" && !piece.includes("\0"));
}

/** Git shows what it keeps without being told any name, files that a rule is against included. */
export function shownByGit({ words }: CommandView, { bases }: Where, reach: Reach): string | undefined {
  if (words[0]?.text !== "git" || !reach.watchful) return undefined;
  const texts = words.slice(1).map(({ text }) => text ?? "");
  const at = texts.findIndex((text) => Object.hasOwn(shows, text));
  const subcommand = texts[at];
  if (subcommand === undefined) return undefined;
  const rest = texts.slice(at + 1);
  if (!shows[subcommand]!(rest)) return undefined;
  for (const base of bases) {
    const named = subcommand === "show" ? blobsIn(rest, base) : undefined;
    const places = rest.filter((text) => text !== "" && !text.startsWith("-")).map((text) => resolve(base, text));
    const there = places.filter((place) => statOf(place) !== undefined);
    const files = named ?? trackedFiles(base, there);
    if (files === undefined) return `what git ${subcommand} would show cannot be told`;
    const rule = reach.ruledAmong(files);
    if (rule !== undefined) return `git ${subcommand} would show what ${rule.text} is about`;
  }
  return undefined;
}

/** The files of `show HEAD:a HEAD:./b`, when it shows nothing else. */
function blobsIn(args: readonly string[], base: string): string[] | undefined {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const root = repositoryOf(base)?.root;
  if (root === undefined || args.includes("") || operands.length === 0) return undefined;
  const names = operands.map((arg) => /^[\w./@~^-]+:([^:]+)$/.exec(arg)?.[1]);
  const isRelative = (name: string) => /^\.{1,2}\//.test(name);
  return names.every((name) => name !== undefined)
    ? names.map((name) => resolve(isRelative(name) ? base : root, name))
    : undefined;
}

/** Whole folders are packed or sent away with what a rule is against in them. */
export function packed({ words }: CommandView, where: Where, reach: Reach): string | undefined {
  if (!reach.watchful || !packers.has(baseName(words[0]?.text ?? ""))) return undefined;
  const given = words.slice(1).filter(({ text, lead }) => !(text ?? lead).startsWith("-"));
  for (const target of operandTargets({ readOnly: false, reads: given, writes: [], deep: true }, where)) {
    const held = target.paths.map((path) => reach.ruledBelow(path, "Read").found).find(Boolean);
    if (held !== undefined) return `${target.shown} holds what ${held.text} is about`;
  }
  return undefined;
}

const packers = new Set("tar gtar bsdtar zip 7z 7za rsync scp".split(" "));

const summary = /^--(stat|numstat|shortstat|dirstat|name-only|name-status|summary|compact-summary|no-patch|quiet)|^-s$/;
const patch = /^(-[a-zA-Z]*[puUL]|--patch|--unified|--cc|-c$|--full-diff|--word-diff|--color-words|--binary)/;
const asPatch = (args: readonly string[]) => args.some((arg) => patch.test(arg));
const unlessSummary = (args: readonly string[]) => asPatch(args) || !args.some((arg) => summary.test(arg));

/** Whether a subcommand shows the content of files, given these words. */
const shows: Record<string, (args: readonly string[]) => boolean> = {
  diff: unlessSummary,
  show: unlessSummary,
  log: asPatch,
  whatchanged: unlessSummary,
  stash: asPatch,
  reflog: asPatch,
  "format-patch": () => true,
  "diff-tree": unlessSummary,
  "diff-index": unlessSummary,
  "diff-files": unlessSummary,
  "range-diff": () => true,
  archive: () => true,
  grep: () => true,
};
