import { resolve } from "node:path";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { Reach } from "../../rules/access.ts";
import { statOf } from "../../paths/canonical.ts";
import type { CommandView } from "./command-view.ts";
import { operandTargets, type Where } from "./files/targets.ts";
import { subcommandAt } from "../../programs/git/git-words.ts";
import { repositoryOf } from "../../programs/git/repository.ts";
import { trackedFiles } from "../../programs/git/tracked-files.ts";
import { isA, programFacts } from "../../programs/table.ts";
import { baseName } from "../../text/tokens.ts";

/** Git shows what it keeps without being told any name, files that a rule is against included. */
export function shownByGit(
  view: Pick<CommandView, "words">,
  { bases }: { bases: readonly string[] | undefined },
  reach: Reach,
): Reason | undefined {
  // Behind a program that runs another one, too.
  const first = baseName(view.words[0]?.text ?? "");
  const runsOther = isA("wrapper", first) || programFacts(first).carries !== undefined;
  const gitAt = runsOther ? view.words.findIndex(({ text }) => baseName(text ?? "") === "git") : 0;
  const words = view.words.slice(Math.max(gitAt, 0));
  if (baseName(words[0]?.text ?? "") !== "git" || !reach.watchful) return undefined;
  const texts = words.slice(1).map(({ text, lead }) => text ?? lead);
  if (silent.has(texts[subcommandAt(texts)] ?? "")) return undefined;
  const at = texts.findIndex((text) => Object.hasOwn(shows, text));
  const subcommand = texts[at];
  if (subcommand === undefined) return undefined;
  const rest = texts.slice(at + 1);
  if (!shows[subcommand]!(rest)) return undefined;
  // A word that is known only when it runs may be a revision.
  const hasUnknown = words.some(({ text, choices }) => text === undefined && choices === undefined);
  if (bases === undefined) return reason("git-shows-unknown", { command: subcommand });
  for (const base of bases) {
    const named = subcommand === "show" || subcommand === "cat-file" ? blobsIn(rest, base) : undefined;
    const { places, isPast } = saidIn(subcommand, rest, base);
    if (named === undefined && (isPast || hasUnknown) && (hasUnknown || places.length === 0 || !places.every(isFile))) {
      const rule = reach.ruleBelow(repositoryOf(base)?.root ?? base);
      if (rule !== undefined) return reason("git-shows-past", { command: subcommand, rule: rule.text });
    }
    const files = named ?? trackedFiles(base, places);
    if (files === undefined) return reason("git-shows-unknown", { command: subcommand });
    const { found, tooMuch } = looksAround(subcommand, rest) ? below(places.length > 0 ? places : [base], reach) : {};
    if (tooMuch !== undefined) return reason("git-shows-unknown", { command: subcommand });
    const rule = reach.ruledAmong(files) ?? found;
    if (rule !== undefined) return reason("git-shows", { command: subcommand, rule: rule.text });
  }
  return undefined;
}

/** `git grep` may look at files that git does not keep. */
function looksAround(subcommand: string, args: readonly string[]): boolean {
  return subcommand === "grep" && args.some((arg) => /^--(u|no-i)/.test(arg));
}

function below(places: readonly string[], reach: Reach): ReturnType<Reach["ruledBelow"]> {
  const all = places.map((place) => {
    const direct = reach.ruledAmong([place]);
    return direct ? { found: direct } : reach.ruledBelow({ lexical: place, real: place }, "Read");
  });
  return all.find(({ found, tooMuch }) => found ?? tooMuch) ?? {};
}

/** Places that a command is limited to, and whether it shows what is not, or no more, in the index. */
function saidIn(subcommand: string, args: readonly string[], base: string): { places: string[]; isPast: boolean } {
  const end = args.indexOf("--");
  const operands = (list: readonly string[]) => list.filter((arg) => arg !== "" && !arg.startsWith("-"));
  const isThere = (arg: string) => statOf(resolve(base, arg)) !== undefined;
  const before = operands(end < 0 ? args : args.slice(0, end));
  const named = end < 0 ? before.filter(isThere) : operands(args.slice(end + 1));
  // Copies land in a folder of their own, whose place does not say which files are in it; others show whole commits.
  const isWhole = wholes.has(subcommand) || args.some((arg) => arg.startsWith("--full-d"));
  const places = isWhole ? [] : named.map((arg) => resolve(base, arg));
  // The first operand of `grep` is a pattern.
  const pattern = subcommand === "grep" && !args.some((arg) => /^-[A-Za-z]*e/.test(arg)) ? before[0] : undefined;
  const revisions = before.filter((arg) => (end >= 0 || !isThere(arg)) && arg !== pattern);
  const isNow = presents.has(subcommand) && revisions.length === 0 && !args.some((arg) => /^--(cach|stag)/.test(arg));
  return { places, isPast: !isNow };
}

/** Subcommands that, unless they are given a revision, show files as they are now. */
const presents = new Set(
  "status diff grep diff-files checkout-index unpack-file am add commit checkout restore reset rerere difftool".split(
    " ",
  ),
);
const wholes = new Set("worktree clone bundle fast-export format-patch cat-file am merge-tree range-diff".split(" "));

function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

/** The files of `show HEAD:a HEAD:./b`, when it shows nothing else. */
function blobsIn(args: readonly string[], base: string): string[] | undefined {
  const operands = args.filter((arg) => !arg.startsWith("-") && arg !== "blob");
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
  const program = baseName(words[0]?.text ?? "");
  if (!reach.watchful || !isA("packer", program)) return undefined;
  // Names that come from a list or from the input are known only then.
  if (program === "cpio" || program === "pax" || words.some(({ text = "" }) => listed.test(text))) {
    const rule = where.bases.map((base) => reach.ruleBelow(base)).find(Boolean);
    if (rule !== undefined) return reason("holds-ruled", { path: where.bases[0] ?? ".", rule: rule.text });
  }
  const given = words.slice(1).filter(({ text, lead }) => !(text ?? lead).startsWith("-"));
  for (const target of operandTargets({ readOnly: false, reads: given, writes: [], deep: true }, where)) {
    const held = target.paths.map((path) => reach.ruledBelow(path, "Read").found).find(Boolean);
    if (held !== undefined) return reason("holds-ruled", { path: target.shown, rule: held.text });
  }
  return undefined;
}

const listed = /^(-[A-Za-z]*T|--files-from|--from0|-@|--names-stdin|-i?@)/;

const summary = /^--(stat|numstat|shortstat|dirstat|name-only|name-status|summary|compact-summary|no-patch|quiet)|^-s$/;
// After `-S` and `-G` comes a text.
const patch =
  /^(-(?![SG])[a-zA-Z]*[puUL]|--patch|--unified|--cc|-c$|--full-diff|--word-diff|--color-words|--binary|--remerge|--dd$)/;
const asPatch = (args: readonly string[]) => args.some((arg) => patch.test(arg));
const unlessSummary = (args: readonly string[]) => asPatch(args) || !args.some((arg) => summary.test(arg));

/** Subcommands that show no content, whatever words they are given. */
const silent = new Set("tag branch switch merge push pull fetch config remote".split(" "));

/** Choosing among changes shows them. Behind a letter that takes a value comes that value: `-mv` is a message. */
const asksEach = (letters: string) => (args: readonly string[]) => {
  const cluster = new RegExp(`^-[a-zA-Z]*[${letters}]`);
  return args.some((arg, n) => {
    if (/^-[a-zA-Z]*[mFCc]$/.test(args[n - 1] ?? "")) return false;
    if (arg.startsWith("--")) return /^--(pat|int|ed|verb)/.test(arg);
    return cluster.test(arg.replace(/^(-[a-zA-Z]*?[mFCcUtSs])[^]*$/, "$1"));
  });
};

/** True if a subcommand shows the content of files, given these words. */
const shows: Record<string, (args: readonly string[]) => boolean> = {
  status: (args) => args.some((arg) => /^-[a-z]*v|^--verb/.test(arg)),
  add: asksEach("pie"),
  commit: asksEach("pv"),
  checkout: asksEach("p"),
  restore: asksEach("p"),
  reset: asksEach("p"),
  rerere: (args) => args[0] === "diff",
  difftool: () => true,
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
  "request-pull": asPatch,
  grep: () => true,
};
