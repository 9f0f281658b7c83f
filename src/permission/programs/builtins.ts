import type { Assignment } from "../shell/read/script.ts";
import type { Word } from "../shell/read/word.ts";
import { isHarmlessVariable } from "./harmless.ts";

/** A variable that only this line sees, and no program inherits. Without knowing what programs inherit, there is none. */
export function isOwnVariable(name: string, environment: ReadonlySet<string> | undefined): boolean {
  return isName.test(name) && environment?.has(name) === false && !meansSomething(name) && !isOften.test(name);
}

/** No index: commands in one run, even inside of quotes. */
const isName = /^[A-Za-z_]\w*$/;

/** Often read by programs: should one of these be inherited after all, it would change what they do. */
const isOften =
  /^(AR|AWS_|BABEL|BROWSER|BUN_|CARGO|CC|CFLAGS|COREPACK|CURL_|CXX|DENO_|DOCKER_|DYLD_|EDITOR|ELECTRON|GIT_|GO[A-Z]|GPG|GRADLE|JAVA|JEST|KUBE|LD|LESS|LUA|MAKE|MAVEN|NODE_|NPM_|npm_|PAGER|PERL|PHP|PNPM_|pnpm_|PYTHON|RUBY|RUST|SAGE|SHELL|SSH_|SSL_|TF_|VISUAL|VITEST|XDG_|YARN_)|(_PROXY|_proxy|OPTIONS|OPTS|FLAGS|COMMAND|PATH|_HOME|CONFIG|_SHELL|_PAGER|_EDITOR|STARTUP|PRELOAD)$/;

/** Set for good, it changes how the lines after it are read. */
export function changesReading(name: string): boolean {
  return /^(LC_|LANG)/.test(name);
}

function meansSomething(name: string): boolean {
  return /^(BASH|COMP_|LC_|PS\d|HIST|MAIL|OPT|READLINE)/.test(name) || special.has(name);
}

/** Variables that bash itself reads or sets. */
const special = new Set(
  (
    "_ CDPATH CHILD_MAX COLUMNS COMPREPLY COPROC DIRSTACK EMACS ENV EPOCHREALTIME EPOCHSECONDS EUID EXECIGNORE FCEDIT " +
    "FIGNORE FUNCNAME FUNCNEST GLOBIGNORE GLOBSORT GROUPS HOME HOSTFILE HOSTNAME HOSTTYPE IFS IGNOREEOF INPUTRC " +
    "INSIDE_EMACS LANG LINENO LINES MACHTYPE MAPFILE OLDPWD OSTYPE PATH PIPESTATUS POSIXLY_CORRECT PPID PROMPT_COMMAND " +
    "PROMPT_DIRTRIM PWD RANDOM REPLY SECONDS SHELL SHELLOPTS SHLVL SRANDOM TERM TIMEFORMAT TMOUT TMPDIR UID auto_resume " +
    "histchars LD_PRELOAD LD_LIBRARY_PATH"
  ).split(" "),
);

/** Builtins of the shell in forms that change nothing but variables of this line, its options for errors, or where it ends. */
export function isPlainBuiltin(
  [name, ...args]: readonly Word[],
  assignments: readonly Assignment[],
  isOwn: (variable: string) => boolean,
): boolean {
  const texts = args.map(({ text }) => text);
  if (name?.text === "read") return isPlainRead(texts, isOwn) && assignments.every(isSeparator);
  if (assignments.length > 0) return false;
  switch (name?.text) {
    case "set":
      return texts.length > 0 && isPlainSet(texts.join(" ")) && !texts.includes(undefined);
    case "export":
      return texts.length > 0 && texts.every((text) => isPlainExport(text));
    case "exit":
    case "break":
    case "continue":
      return texts.length === 0 || (texts.length === 1 && /^\d{1,3}$/.test(texts[0] ?? ""));
    case "wait":
      return texts.length === 0;
    default:
      return false;
  }
}

/** Stops at errors, and tells what it does: nothing that changes how words are read. */
function isPlainSet(args: string): boolean {
  return /^([-+][euxvC]*o (errexit|nounset|pipefail|xtrace|verbose|noclobber)( |$)|[-+][euxvC]+( |$))+$/.test(args);
}

/** `set -x`: every word after it is printed as it turns out. */
export function tracesWords([name, ...args]: readonly Word[]): boolean {
  return name?.text === "set" && args.some(({ text }) => /^-[a-zA-Z]*[xv]|^(xtrace|verbose)$/.test(text ?? ""));
}

function isPlainExport(text: string | undefined): boolean {
  const name = /^([A-Za-z_]\w*)(=|$)/.exec(text ?? "")?.[1];
  return name !== undefined && isHarmlessVariable(name) && !changesReading(name);
}

function isPlainRead(args: readonly (string | undefined)[], isOwn: (variable: string) => boolean): boolean {
  const names = args.filter((arg) => arg?.startsWith("-") !== true);
  const options = args.filter((arg) => arg?.startsWith("-") === true);
  return options.every((arg) => /^-[rs]+$/.test(arg!)) && names.every((name) => name !== undefined && isOwn(name));
}

/** `IFS= read`, which is for this one command. */
function isSeparator({ name, value }: Assignment): boolean {
  return name === "IFS" && value.text !== undefined;
}
