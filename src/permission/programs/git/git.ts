import { argumentsOf, type Options } from "../files/arguments.ts";
import { withoutOwnOptions } from "./git-words.ts";
import type { Word } from "../../shell/read/word.ts";
import type { Use } from "../files/use.ts";

/** The use of git in a form that only looks. `tree`: it looks at the work tree as well. */
export function gitUse(given: readonly Word[]): (Use & { tree: boolean }) | undefined {
  const words = withoutOwnOptions(given);
  if (words.length === 2 && words[1]!.text === "--version") return { ...looks, tree: false };
  return useOf(words);
}

const looks: Use = { readOnly: true, closed: true, reads: [], writes: [], deep: false };

function useOf(words: readonly Word[]): (Use & { tree: boolean }) | undefined {
  const name = words[1]?.text ?? "";
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
  const given = form && argumentsOf(words.slice(1), form);
  if (form === undefined || given === undefined) return undefined;
  const { operands, options } = given;
  // Showing whether a signature is good means running another program.
  if (operands.some(({ text }) => text === undefined) || words.some(({ text }) => /%G|%\(signature/.test(text ?? "")))
    return undefined;
  // A pathspec with magic names other files than it seems to.
  if (operands.some(({ text }) => text!.startsWith(":"))) return undefined;
  if (name === "stash" && words[2]?.text !== "list") return undefined; // `stash -- list` stashes
  const fits = form.fits?.(
    operands.map(({ text }) => text!),
    options.map((option) => option.name),
  );
  if (fits === false) return undefined;
  // Two paths, one of them outside of the work tree, make `git diff` read both: so operands count as files.
  const skipped = typeof form.skip === "function" ? form.skip(options.map((option) => option.name)) : (form.skip ?? 0);
  const reads = form.text === true ? [] : operands.slice(skipped);
  return { ...looks, reads, tree: form.tree ?? false };
}

type Form = Options & {
  fits?(operands: string[], options: string[]): boolean;
  /** Operands that are names and not paths. */
  text?: boolean;
  /** Operands in front that are no paths. */
  skip?: number | ((options: string[]) => number);
  tree?: boolean;
};

const commits: Form = {
  flags: "pusztawbcmRiEFPqgrDMCBW",
  values: "nUSGL",
  long:
    "oneline stat? compact-summary numstat shortstat dirstat? name-only name-status graph decorate? no-decorate all " +
    "branches? tags? remotes? glob= since= until= after= before= author= committer= grep= all-match invert-grep " +
    "regexp-ignore-case extended-regexp fixed-strings perl-regexp format= pretty? abbrev? no-abbrev abbrev-commit " +
    "no-abbrev-commit patch no-patch patch-with-stat color? no-color word-diff? word-diff-regex= color-words? cached staged " +
    "merge-base first-parent merges no-merges min-parents= max-parents= follow reverse date= max-count= skip= left-right " +
    "left-only right-only cherry cherry-pick cherry-mark topo-order date-order author-date-order diff-filter= " +
    "ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol find-renames? " +
    "find-copies? no-renames summary raw check exit-code quiet minimal patience histogram diff-algorithm= unified= " +
    "inter-hunk-context= function-context full-diff source relative-date show-pulls boundary count objects not parents " +
    "children simplify-by-decoration ancestry-path? walk-reflogs reflog no-notes notes? text no-prefix src-prefix= " +
    "dst-prefix= full-index binary no-ext-diff no-textconv relative? pickaxe-regex pickaxe-all color-moved? " +
    "ignore-submodules? combined-all-paths cc mailmap no-mailmap use-mailmap expand-tabs? end-of-options full-history",
  digits: true,
};

const forms: Record<string, Form> = {
  status: {
    flags: "sbvzu",
    long:
      "short branch show-stash porcelain? long verbose untracked-files? ignored? ignore-submodules? ahead-behind " +
      "no-ahead-behind renames no-renames find-renames? column? no-column",
    tree: true,
  },
  diff: { ...commits, tree: true },
  log: commits,
  show: commits,
  "rev-list": commits,
  shortlog: { ...commits, flags: "snecw", long: `${commits.long} summary numbered email group=` },
  blame: {
    flags: "wefnslptbkcMC",
    values: "L",
    long:
      "porcelain line-porcelain incremental date= since= root show-name show-number show-email show-stats abbrev= " +
      "first-parent reverse color-lines color-by-age",
    tree: true,
  },
  "rev-parse": {
    flags: "q",
    long:
      "verify quiet short? abbrev-ref? symbolic symbolic-full-name show-toplevel show-prefix show-cdup git-dir " +
      "git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository " +
      "show-superproject-working-tree path-format= show-object-format? all branches? tags? remotes? not revs-only no-revs " +
      "flags no-flags",
  },
  "ls-files": {
    flags: "cdmosukztv",
    values: "x",
    long:
      "cached deleted modified others stage unmerged killed directory no-empty-directory exclude= exclude-standard " +
      "error-unmatch full-name abbrev? eol deduplicate format=",
    tree: true,
  },
  "ls-tree": { flags: "drtlz", long: "long name-only name-status object-only full-name full-tree abbrev? format=" },
  "cat-file": { flags: "tsep", fits: (operands) => operands.length <= 2 },
  describe: {
    long: "all tags contains abbrev= candidates= exact-match long match= exclude= always first-parent dirty? broken? debug",
    tree: true,
  },
  "merge-base": { flags: "a", long: "all octopus is-ancestor independent fork-point" },
  branch: {
    flags: "arvl",
    long: "show-current list all remotes verbose",
    // Without a list an operand is the name of a branch to make.
    fits: (operands, options) => operands.length === 0 || options.some((name) => name === "--list" || name === "-l"),
    text: true,
  },
  tag: {
    flags: "ln",
    long: "list sort= contains= no-contains= merged= no-merged= points-at= column? no-column",
    fits: (_, options) => options.some((name) => name === "--list" || name === "-l"),
    digits: true,
    text: true,
  },
  remote: {
    flags: "v",
    long: "verbose",
    fits: (operands) => operands.length === 0 || (operands.length === 2 && operands[0] === "get-url"),
    text: true,
  },
  grep: {
    flags: "aiIwvhHEGFPnlLocpWrqz",
    values: "ABCme",
    long:
      "cached untracked exclude-standard no-exclude-standard text ignore-case word-regexp invert-match full-name " +
      "extended-regexp basic-regexp fixed-strings perl-regexp line-number column files-with-matches name-only " +
      "files-without-match count color? no-color break heading show-function context= after-context= before-context= " +
      "function-context max-depth= max-count= and or not all-match quiet only-matching recursive no-recursive null",
    digits: true,
    skip: (options) => (options.includes("-e") ? 0 : 1),
    tree: true,
  },
  reflog: { ...commits, fits: (operands) => operands.length === 0 || operands[0] === "show", skip: 1 },
  "show-ref": { flags: "dsq", long: "heads branches tags head hash? abbrev? quiet verify dereference", text: true },
  "for-each-ref": {
    long: "count= sort= format= points-at= merged? no-merged? contains? no-contains? ignore-case color? omit-empty",
    text: true,
  },
  "symbolic-ref": { flags: "q", long: "short quiet", fits: (operands) => operands.length === 1, text: true },
  "name-rev": { long: "tags refs= exclude= all name-only no-undefined always", text: true },
  var: { fits: (operands) => /^GIT_(AUTHOR|COMMITTER)_IDENT$/.test(operands.join(" ")), text: true },
  "count-objects": { flags: "vH", long: "verbose human-readable" },
  "check-ignore": { flags: "qvn", long: "quiet verbose non-matching no-index" },
  cherry: { flags: "v", long: "abbrev?", text: true },
  stash: { ...commits, fits: (operands) => operands[0] === "list", skip: 1 },
  worktree: {
    flags: "vz",
    long: "porcelain verbose",
    fits: (operands) => operands.length === 1 && operands[0] === "list",
    text: true,
  },
  config: {
    flags: "lz",
    long:
      "get get-all get-regexp list global local system worktree show-origin show-scope name-only null bool int " +
      "bool-or-int path type= includes no-includes default=",
    // Without one of these two operands are a key and the value to set.
    fits: (operands, options) =>
      options.some((name) => /^(--get|--get-all|--get-regexp|--list|-l)$/.test(name)) ||
      (operands.length === 1 && operands[0]!.includes(".")),
    text: true,
  },
};
