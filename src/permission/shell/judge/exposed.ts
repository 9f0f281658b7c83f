import { resolve } from "node:path";
import { reason } from "../../../protocol/index.ts";
import type { Reason } from "../../../protocol/index.ts";
import type { Reach } from "../../rules/access.ts";
import { statOf } from "../../paths/canonical.ts";
import type { CommandView } from "./command.ts";
import { operandTargets } from "./targets.ts";
import type { Where } from "./targets.ts";
import { repositoryOf } from "../../programs/repository.ts";
import { trackedFiles } from "../../programs/tracked.ts";
import { baseName } from "../../text/tokens.ts";

/** Git shows what it keeps without being told any name, files that a rule is against included. */
export function shownByGit({ words }: CommandView, { bases }: Where, reach: Reach): Reason | undefined {
  if (words[0]?.text !== "git" || !reach.watchful) return undefined;
  const texts = words.slice(1).map(({ text, lead }) => text ?? lead);
  const at = texts.findIndex((text) => Object.hasOwn(shows, text));
  const subcommand = texts[at];
  if (subcommand === undefined) return undefined;
  const rest = texts.slice(at + 1);
  if (!shows[subcommand]!(rest)) return undefined;
  for (const base of bases) {
    const named = subcommand === "show" || subcommand === "cat-file" ? blobsIn(rest, base) : undefined;
    // Copies land in a folder of their own: its place does not say which files are in it.
    const copies = subcommand === "worktree" || subcommand === "clone";
    const places = copies
      ? []
      : rest.filter((text) => text !== "" && !text.startsWith("-")).map((text) => resolve(base, text));
    const there = places.filter((place) => statOf(place) !== undefined);
    const files = named ?? trackedFiles(base, there);
    if (files === undefined) return reason("git-shows-unknown", { command: subcommand });
    const rule = reach.ruledAmong(files);
    if (rule !== undefined) return reason("git-shows", { command: subcommand, rule: rule.text });
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
export function packed({ words }: CommandView, where: Where, reach: Reach): Reason | undefined {
  if (!reach.watchful || !packers.has(baseName(words[0]?.text ?? ""))) return undefined;
  const given = words.slice(1).filter(({ text, lead }) => !(text ?? lead).startsWith("-"));
  for (const target of operandTargets({ readOnly: false, reads: given, writes: [], deep: true }, where)) {
    const held = target.paths.map((path) => reach.ruledBelow(path, "Read").found).find(Boolean);
    if (held !== undefined) return reason("holds-ruled", { path: target.shown, rule: held.text });
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
  status: (args) => args.some((arg) => /^-[a-z]*v|^--verb/.test(arg)),
  "cat-file": (args) => !args.some((arg) => /^-[tse]$|^--batch-check/.test(arg)),
  "fast-export": () => true,
  bundle: (args) => args[0] === "create",
  worktree: (args) => args[0] === "add",
  clone: (args) => args.some((arg) => /^(\.|\/|file:)/.test(arg)),
  "checkout-index": () => true,
  "unpack-file": () => true,
  "merge-tree": () => true,
  am: (args) => args.some((arg) => arg.startsWith("--show")),
  diff: unlessSummary,
  show: unlessSummary,
  log: asPatch,
  "rev-list": asPatch,
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
