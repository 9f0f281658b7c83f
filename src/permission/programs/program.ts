import { resolve } from "node:path";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import type { Disk } from "../paths/canonical.ts";
import { foldersOfGit, subcommandAt } from "./git/git-words.ts";
import { gitUse } from "./git/git.ts";
import { isPublicVariable } from "./harmless.ts";
import type { Word } from "../shell/read/word.ts";
import { isReader, plainReaderUse, readerUse } from "./files/readers.ts";
import { troubleElsewhere, troubleInRepository } from "./git/repository.ts";
import type { Use } from "./files/use.ts";
import { xargsUse, type Listing } from "./files/xargs.ts";
import { isInPlace, isWriter, writerUse } from "./files/writers.ts";

/** Effects of a program, with these words as far as they are understood. */
export type Program = { kind: "reads" | "writes" | "other"; use?: Use; git?: { tree: boolean } };

/** `listing`: names of files that it is fed with. */
export function programOf(words: readonly Word[], listing?: Listing): Program {
  const name = words[0]?.text ?? "";
  if (name === "xargs") {
    const use = xargsUse(words, listing, plainReaderUse);
    return { kind: "other", ...(use && { use }) };
  }
  if (name === "git") {
    const use = gitUse(words);
    return use === undefined ? { kind: "other" } : { kind: "reads", use, git: { tree: use.tree } };
  }
  if (tellsVersion(words) || printsPublic(words))
    return { kind: "other", use: { readOnly: true, reads: [], writes: [], deep: false } };
  const inPlace = name === "sed" && words.some(({ text }) => isInPlace(text));
  const writes = isWriter(name) && (name !== "sed" || inPlace);
  if (!writes && !isReader(name)) return { kind: "other" };
  const use = writes ? writerUse(words) : readerUse(words);
  return { kind: writes ? "writes" : "reads", ...(use && { use }) };
}

/** Only tells its version. Not cargo, go or yarn: a project chooses theirs, which may name a program or a download. */
function tellsVersion([name, option, ...more]: readonly Word[]): boolean {
  if (option?.text === undefined || more.length > 0 || !versioned.has(name?.text ?? "")) return false;
  return option.text === "--version" || option.text === versionOptions[name!.text!];
}

/** `printenv` of variables that hold no secret. */
function printsPublic([name, ...names]: readonly Word[]): boolean {
  return name?.text === "printenv" && names.length > 0 && names.every(({ text }) => isPublicVariable(text ?? ""));
}

const versioned = new Set(
  "node npm npx deno bun python python3 pip pip3 ruby perl php java make gcc clang docker jq rg curl bash".split(" "),
);
const versionOptions: Record<string, string> = {
  node: "-v",
  npm: "-v",
  npx: "-v",
  python: "-V",
  python3: "-V",
  pip: "-V",
  ruby: "-v",
  php: "-v",
  java: "-version",
};

/** Why a repository makes even looking dangerous, in any of these folders. */
export function gitTrouble(git: { tree: boolean }, bases: readonly string[], session: string): Reason | undefined {
  for (const base of bases) {
    const trouble = troubleInRepository(base, session, git);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}

type Folders = { bases: readonly string[]; session: string; disk: Disk; meant: ReadonlySet<string> };

/** Like `gitTrouble`, for a git that a rule allows: in a repository other than the session's, where `cd` and `-C` lead. */
export function gitElsewhere(words: readonly Word[], { bases, session, disk, meant }: Folders): Reason | undefined {
  const folders = foldersOfGit(words, bases, disk);
  if (folders === undefined) return unknownRepository;
  const own = words.slice(1, 1 + subcommandAt(words.slice(1).map(({ text }) => text ?? "")));
  if (own.some(({ text }, n) => text !== undefined && meant.has(text) && own[n - 1]?.text === "-C")) return undefined;
  const remotes = remotesIn(words, meant);
  if (remotes === undefined) return unknownRepository;
  const given = folders.flatMap((folder) => remotes.map((path) => disk.follow(resolve(folder, path))));
  for (const folder of [...folders, ...given]) {
    const trouble = troubleElsewhere(folder, session);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}

const unknownRepository = reason("repository-unknown", {});

/** Words that may be a repository on this disk: on that side git follows its configuration and runs its hooks. */
function remotesIn(words: readonly Word[], meant: ReadonlySet<string>): string[] | undefined {
  const args = words.slice(1).map(({ text }) => text ?? "\0");
  const at = subcommandAt(args);
  if (!/^(push|pull|fetch|clone|ls-remote|remote|submodule|fetch-pack|send-pack)$/.test(args[at] ?? "")) return [];
  const given = words.slice(at + 2);
  if (given.some(({ text, lead }) => text === undefined && /^(file:|[./])/.test(lead))) return undefined;
  return given.flatMap(({ text = "-" }) => {
    const path = text.replace(/^--[a-z-]+=/, "").replace(/^file:\/\//, "");
    return path.startsWith("-") || meant.has(text) ? [] : [path];
  });
}

/** After these a name may mean something else, or they run what they are given. */
export const rebinding: ReadonlySet<string> = new Set(
  (
    "alias unalias . source eval exec export declare typeset local readonly trap set unset shopt hash enable builtin " +
    "read mapfile readarray getopts wait fc let bind complete compgen coproc cd pushd popd dirs"
  ).split(" "),
);
