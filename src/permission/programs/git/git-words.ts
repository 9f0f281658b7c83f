import { isAbsolute, join } from "node:path";
import type { Disk } from "../../paths/canonical.ts";
import type { Word } from "../../shell/read/word.ts";

/** Index of git's subcommand: after git's own options, of which some take the next word. */
export function subcommandAt(args: readonly string[]): number {
  let at = 0;
  while (args[at]?.startsWith("-") === true) at += valued.has(args[at]!) ? 2 : 1;
  return at;
}

const valued = new Set("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source".split(" "));

/** Git's words without its own harmless options and `-C`, whose folder is in `foldersOfGit()`. */
export function withoutOwnOptions(words: readonly Word[]): readonly Word[] {
  let at = 1;
  for (; at < words.length; at++) {
    const text = words[at]!.text ?? "";
    if (/^(-P|--no-pager|--no-optional-locks|--literal-pathspecs|--no-replace-objects)$/.test(text)) continue;
    const value = words[at + 1]?.text ?? "";
    if (text === "-C" ? value === "" : text !== "-c" || !plainSetting.test(value)) break;
    at++;
  }
  return at === 1 ? words : [words[0]!, ...words.slice(at)];
}

/** Settings that name neither a program nor a file. */
const plainSetting =
  /^(color\.[a-z.]+|core\.(quotepath|abbrev)|log\.(date|decorate)|diff\.(algorithm|renames|context))=[A-Za-z0-9-]*$/i;

/** Folders that git works in after its `-C` options; undefined when one of them is not known. */
export function foldersOfGit(
  words: readonly Word[],
  bases: readonly string[],
  disk: Disk,
): readonly string[] | undefined {
  let folders = bases;
  for (let i = 1; words[i]?.text?.startsWith("-") === true; i++) {
    const option = words[i]!.text!;
    if (!valued.has(option)) continue;
    const value = words[++i]?.text;
    if (option !== "-C") continue;
    if (value === undefined) return undefined;
    folders = folders.map((base) => disk.follow(isAbsolute(value) ? value : join(base, value)));
  }
  return [...new Set(folders)];
}

/** Words after `git config` that only ask for a value: in the older spelling, or with the subcommands of the newer one. */
export function asksConfig(args: readonly string[]): boolean {
  const options = args.filter((arg) => arg.startsWith("-"));
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const isPlain = options.every((arg) => plainConfig.test(arg));
  if (!isPlain) return false;
  if (/^(get|list)$/.test(operands[0] ?? "")) return true;
  if (/^(set|unset|rename-section|remove-section|edit)$/.test(operands[0] ?? "")) return false;
  if (
    options.some((arg) =>
      /^(--get|--get-all|--get-regexp|--get-urlmatch|--list|-l|--get-color|--get-colorbool)$/.test(arg),
    )
  )
    return true;
  return operands.length === 1 && operands[0]!.includes(".");
}

const plainConfig =
  /^(--(global|local|system|worktree|show-origin|show-scope|name-only|null|no-null|bool|int|bool-or-int|path|includes|no-includes|type=[a-z-]*|default=[^]*|get|get-all|get-regexp|get-urlmatch|get-color|get-colorbool|list|all|regexp|fixed-value|value=[^]*)|-z|-l)$/;

/** Covered by a star for git at large. A closed list: aliases and whatever runs, serves, tells passwords or writes must be named. */
export const ordinary = new Set(
  (
    "add archive bisect blame branch cat-file check-attr check-ignore cherry cherry-pick checkout clean clone commit " +
    "count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep help init log " +
    "ls-files ls-remote ls-tree merge merge-base merge-tree mv name-rev notes pull push range-diff rebase reflog remote " +
    "rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref stash status submodule switch tag " +
    "verify-commit verify-tag version whatchanged worktree"
  ).split(" "),
);
