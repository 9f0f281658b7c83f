import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { attempt } from "../../../base/attempt.ts";
import { statOf, type Disk } from "../../paths/canonical.ts";
import { literalWord, type Word } from "../../shell/read/word.ts";
import { argumentsOf, type Options } from "../files/arguments.ts";
import { aliasIn, settingsOf } from "./aliases.ts";
import { gitUse } from "./git.ts";
import { foldersOfGit } from "./git-words.ts";
import { gitDirOf, repositoryOf, troubleInRepository } from "./repository.ts";

/** `keeps`: loses nothing and runs no other program. `links`: so too, but afterwards the index may hold other repositories. */
type Keeping = "keeps" | "links";

type Place = {
  bases: readonly string[];
  disk: Disk;
  home: string;
  session: string;
  /** Names of the variables that commands inherit. */
  environment: ReadonlySet<string> | undefined;
  /** A command before it on the line may have put another repository into the index. */
  linked: boolean;
};

/**
 * Tells of a command that it can neither lose a commit, a stash or uncommitted work, nor run anything besides git:
 * undefined for everything that is not on a closed list, or where hooks and settings name programs. Those would run with a writable
 * repository, and could do what git itself does not.
 */
export function keepingGit(given: readonly Word[], place: Place): Keeping | undefined {
  const { bases, disk, home, session, environment, linked } = place;
  if ([...(environment ?? [])].some((name) => name.startsWith("GIT_") && !harmlessVariable.test(name)))
    return undefined;
  const words = meantWords(given, bases, home);
  const folders = foldersOfGit(given, bases, disk)?.map((path) => disk.follow(path));
  if (words === undefined || folders === undefined || folders.length === 0) return undefined;
  const form = gitUse(words) === undefined ? closedForm(words) : looking;
  if (form === undefined || (linked && form.looksInside)) return undefined;
  const found = [...new Set(folders)].map((folder) => keepingIn(folder, form, { home, session }));
  if (found.includes(undefined)) return undefined;
  return found.includes("links") ? "links" : "keeps";
}

function keepingIn(
  folder: string,
  form: Form,
  { home, session }: Pick<Place, "home" | "session">,
): Keeping | undefined {
  if (troubleInRepository(folder, session, { tree: true, except: "core.hookspath" }) !== undefined) return undefined;
  const root = repositoryOf(folder)?.root;
  const found = root === undefined ? undefined : attempt(() => gitDirOf(root));
  if (root === undefined || found === undefined) return undefined;
  const here = { ...found, folder, home, root };
  if (runsPrograms(form, here) || form.fits?.(here) === false) return undefined;
  return form.links?.(here) ? "links" : "keeps";
}

type Here = { gitDir: string; common: string; folder: string; home: string; root: string };

type Form = {
  /** Hooks that git runs with it. */
  hooks: string;
  /** It looks into repositories that the index names, with settings of theirs. */
  looksInside?: boolean;
  signs?: boolean;
  fits?(here: Here): boolean;
  links?(here: Here): boolean;
};

const looking: Form = { hooks: "post-index-change", looksInside: true };

/** The words without `-C` and `--no-pager`; those that an alias stands for. No other option of git's own. */
function meantWords(given: readonly Word[], bases: readonly string[], home: string): readonly Word[] | undefined {
  let at = 1;
  for (; given[at]?.text?.startsWith("-"); at++) {
    if (given[at]!.text === "-C") at++;
    else if (given[at]!.text !== "--no-pager") return undefined;
  }
  if (given[at]?.text === undefined) return undefined;
  const args = given.slice(1).map(({ text }) => text ?? "\0");
  const alias = aliasIn(bases, home)("git", args);
  if (alias === undefined) return [given[0]!, ...given.slice(at)];
  if (!/^git( [\w.=/@:-]+)+$/.test(alias)) return undefined;
  return [...alias.split(" ").map((word) => literalWord(word)), ...given.slice(at + 1)];
}

function closedForm(words: readonly Word[]): Form | undefined {
  const name = words[1]?.text ?? "";
  const options = Object.hasOwn(plainOptions, name) ? plainOptions[name] : undefined;
  if (options === undefined) return undefined;
  // A message is a message, whatever it says; files that a pattern stands for begin as it does.
  const tame = words.map((word) => {
    if (word.text !== undefined) return word;
    if (name === "commit" && !word.splits && word.lead.startsWith("--message=")) return literalWord("--message=", word);
    const isPattern = name === "add" && word.glob !== undefined && /^[^-:]/.test(word.lead);
    return isPattern ? literalWord(word.lead, word) : literalWord(valueOnly, { ...word, splits: false });
  });
  const isOpen = (word: Word) =>
    word.text === undefined && (word.splits || name !== "commit") && word.glob === undefined;
  if (words.some(isOpen)) return undefined;
  const given = argumentsOf(tame.slice(1), options);
  if (given === undefined) return undefined;
  const operands = given.operands.map(({ text = "" }) => text);
  const has = (...names: string[]) => given.options.some((option) => names.includes(option.name));
  const isGlob = words.some(({ text }) => text === undefined);
  switch (name) {
    case "add":
      return {
        hooks: "post-index-change",
        looksInside: true,
        links: ({ folder }) =>
          isGlob || operands.length === 0 || !operands.every((path) => holdsFile(resolve(folder, path))),
      };
    case "commit": {
      if (!has("-m", "--message")) return undefined;
      const looksInside = has("-a", "--all") || operands.length > 0;
      return { hooks: `post-index-change ${commitHooks}`, looksInside, signs: true };
    }
    case "branch":
      return makesBranch(operands, { hooks: "reference-transaction" });
    case "switch":
    case "checkout": {
      const moves: Form = { hooks: "post-index-change post-checkout reference-transaction", looksInside: true };
      const created = given.options.filter((option) => /^(-c|--create|-b)$/.test(option.name));
      if (created.length === 1) {
        const start = name === "checkout" && operands.length > 0 ? undefined : operands;
        return start && makesBranch([created[0]!.value ?? "", ...start], { ...moves, links: () => start.length > 0 });
      }
      const [to = ""] = operands;
      if (name === "checkout" || created.length > 0 || operands.length !== 1 || !isName.test(to)) return undefined;
      // A branch that only another machine has would be written into the settings.
      const fits = (here: Here) => !isDetached(here) && !isBusy(here) && branchExists(to, here);
      return { ...moves, fits, links: () => true };
    }
    default:
      return undefined;
  }
}

const plainOptions: Record<string, Options> = {
  add: { flags: "Auvn", long: "all update verbose dry-run no-ignore-removal" },
  commit: { flags: "aqs", values: "m", long: "all quiet signoff message= allow-empty" },
  branch: { flags: "q", long: "quiet" },
  switch: { flags: "q", values: "c", long: "quiet create=" },
  checkout: { flags: "q", values: "b", long: "quiet" },
};

const commitHooks =
  "pre-commit prepare-commit-msg commit-msg post-commit pre-auto-gc post-rewrite reference-transaction pre-merge-commit";

/** In the place of a text that is not known: fits as the value of an option, and is no option that is listed. */
const valueOnly = "--?";

/** A name that git reads as nothing else. */
const isName = /^[A-Za-z0-9_][\w./#+-]*$/;

function makesBranch([name = "", start, ...more]: readonly string[], form: Form): Form | undefined {
  if (!isName.test(name) || more.length > 0 || name === "HEAD") return undefined;
  const isThere = (here: Here) =>
    start === undefined || /^(HEAD([~^]\d*)*|[0-9a-f]{7,64})$/.test(start) || branchExists(start, here);
  // From a commit that no branch holds only the new branch leads back; elsewhere nothing would.
  const fits = (here: Here) =>
    form.looksInside !== true ? isThere(here) : isThere(here) && !isBusy(here) && !(start && isDetached(here));
  return { ...form, fits };
}

function holdsFile(path: string): boolean {
  return attempt(() => lstatSync(path).isFile()) ?? false;
}

function isDetached({ gitDir }: Here): boolean {
  return !/^ref: refs\/heads\/./.test(attempt(() => readFileSync(join(gitDir, "HEAD"), "utf8")) ?? "");
}

/** A merge or the like is under way, and moving elsewhere could end it. */
function isBusy({ gitDir }: Here): boolean {
  const signs = "MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG rebase-merge rebase-apply sequencer";
  return signs.split(" ").some((name) => statOf(join(gitDir, name)) !== undefined);
}

function branchExists(name: string, { common }: Here): boolean {
  if (!isName.test(name) || name.includes("..")) return false;
  if (attempt(() => statSync(join(common, "refs/heads", name)).isFile()) === true) return true;
  const packed = attempt(() => readFileSync(join(common, "packed-refs"), "utf8")) ?? "";
  return packed.split("\n").some((line) => line.endsWith(` refs/heads/${name}`));
}

/** Hooks that are there, and programs that the person's own settings name. */
function runsPrograms({ hooks, signs }: Form, { gitDir, common, home, root }: Here): boolean {
  const folders = [join(common, "hooks")];
  for (const { key, value } of settingsOf({ common, gitDir }, home)) {
    if (key === "core.hookspath") {
      // A folder that anybody may write who may write to the workspace, unless its files are protected.
      if (!/^(\.\/)?\.husky(\/_)?\/?$/.test(value)) return true;
      folders.push(join(root, value));
    } else if (key === "core.fsmonitor" && value !== "false") return true;
    else if (/^filter\..*\.(clean|smudge|process)$/.test(key) && !/^git-lfs [\w% -]+$/.test(value)) return true;
    else if (
      /^(hook\..*|submodule\.recurse|core\.worktree|gc\.recentobjectshook|diff\.external|diff\..*\.(command|textconv))$/.test(
        key,
      )
    )
      return true;
    else if (signs && /^commit\.gpgsign$/.test(key) && !/^(false|no|off|0)$/i.test(value)) return true;
  }
  const names = new Set(hooks.split(" "));
  return folders.some((folder) => {
    if (statOf(folder) === undefined) return false;
    return attempt(() => readdirSync(folder))?.some((name) => names.has(name)) ?? true;
  });
}

/** Variables of git that run nothing with a command from the list, and lead nowhere else. */
const harmlessVariable =
  /^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|PAGER|EDITOR|SEQUENCE_EDITOR|ASKPASS|SSH|SSH_COMMAND|TERMINAL_PROMPT|CONFIG_NOSYSTEM|OPTIONAL_LOCKS|MERGE_AUTOEDIT|(SSL|HTTP|PS1)_\w+)$/;
