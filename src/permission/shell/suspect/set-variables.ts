import { withVariable } from "../../programs/plain-words.ts";
import { isA, programsReading, runsVariable } from "../../programs/table.ts";
import { baseName } from "../../text/tokens.ts";
import type { PossibleCommand, PossibleCommands } from "./possible.ts";
import { anyText } from "./resemblance.ts";

/** Variables set by loops, builtins or expansions, as `NAME=value`; with `all` by the line's assignments, too. */
export function setVariables(text: string, { readings: [ways] }: PossibleCommands, all: boolean): string[] {
  const found = [...text.matchAll(/\$\{([A-Za-z_]\w*):?=([^}]*)\}/g)].map(([, name, value]) => `${name}=${value}`);
  // The value is the output of a program.
  if (all)
    for (const [, name] of text.matchAll(/([A-Za-z_]\w*)\+?=(?:"?\$\(|"?`|<\()/g)) found.push(`${name}=${anyText}`);
  const named = new Set(ways.some(({ words }) => words.some(isFromVariable)) ? ways.flatMap(settingNames) : []);
  for (const { words } of ways) {
    for (const word of words) {
      const [, name = "", value = ""] = /^(\w+)\+?=([^]+)$/.exec(word) ?? [];
      if (named.has(name)) found.push(inAny(value.replace(/^!/, "")), inAny(`git ${value}`));
    }
    const [first = "", second = "", ...rest] = words;
    if (first === "for" || first === "select") found.push(...rest.map((value) => `${second}=${value}`));
    else if (/^(read|mapfile|readarray|getopts|printf)$/.test(first))
      found.push(...words.slice(1).map((name) => `${name}=${anyText}`));
    // By another name, or one that a variable holds.
    else if (/^(declare|typeset|local)$/.test(first) && /^-[a-zA-Z]*n/.test(second))
      found.push(...rest.map((word) => `${word.split("=").at(-1)}=${anyText}`));
    else if (/^(export|declare|typeset|readonly|local|env)$/.test(first))
      for (const word of words) found.push(...(/^[^=]*[$\0\u0001][^=]*=([^]+)$/.exec(word)?.slice(1) ?? []).map(inAny));
    for (const word of words) if (all ? isSet.test(word) : added.test(word)) found.push(word);
  }
  return [...new Set(found)].slice(0, MAX_SET);
}

const isSet = /^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/;
const added = /^[A-Za-z_]\w*(\+=|\[)/;
const MAX_SET = 100;

/** `--config-env=core.pager=X`: a setting of git has the value of a variable. */
function isFromVariable(word: string): boolean {
  return word.startsWith("--config-env");
}

function settingNames({ words }: PossibleCommand): string[] {
  return words.flatMap((word) => /^(?:--config-env=)?[\w-]+\.[^=]*=(\w+)$/.exec(word)?.[1] ?? []);
}

/** A variable of any name is as good as one that is run. */
function inAny(value: string): string {
  return `PAGER=${value}`;
}

/** Folders that a line puts on the search path. */
export function searchedFolders({ names }: PossibleCommands): string[] {
  return [...names]
    .flatMap((word) => /^PATH\+?=([^]*)$/.exec(word)?.[1]?.split(":") ?? [])
    .map((folder) => folder.replace(/^\$PWD(?=\/|$)/, ".") || ".")
    .filter((folder) => !/[$\0-\u0002]/.test(folder));
}

/** The settings that git follows are not those that lie in their places: its aliases are not known. */
export function movesSettings({ names }: PossibleCommands): boolean {
  return [...names].some((word) => moved.test(word));
}

const moved =
  /^((HOME|XDG_CONFIG_HOME|GIT_(CONFIG|CONFIG_GLOBAL|CONFIG_SYSTEM|DIR|COMMON_DIR|EXEC_PATH))\+?=|include(if\..*)?\.path=|--(config-env|exec-path)=)/i;

/** Lines that programs run because of a variable: `EDITOR=x`, before a command, among the words of `env` or `make`, or exported. */
export function linesInVariable(word: string, at: number, words: readonly string[]): string[] {
  const [, name = "", sign = "", value = ""] = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?([:+?]?)=([^]+)$/.exec(word) ?? [];
  if (name === "" || word.startsWith("-")) return [];
  if (name === "BASH_ENV" && /^\/dev\/fd\/|[<$\0-\u0002]/.test(value)) return [anyText];
  if (runsVariable(name)) return [value.replace(/^\|+-?/, ""), ...(sign === "+" ? [anyText] : [])];
  if (/^GIT_CONFIG_VALUE_\d+$/.test(name)) return [value.replace(/^!/, ""), `git ${value}`];
  if (name === "GIT_CONFIG_PARAMETERS")
    return [...value.replaceAll("'='", "=").matchAll(/'[^'=]+=!?([^']+)'/g)].flatMap(([, set = ""]) => [
      set,
      `git ${set}`,
    ]);
  const command = words.findIndex((each, n) => n > at && !/^[A-Za-z_]\w*=/.test(each));
  const run = at === 0 || /^[A-Za-z_]\w*=/.test(words[0]!) || baseName(words[0]!) === "env" ? words.slice(command) : [];
  const named = command < 0 || run.length === 0 ? programsReading(name).map((program) => [program]) : [run];
  const taken = named.flatMap((known) => withVariable(known, name, value));
  if (taken.length > 0) return taken.map((known) => known.map(literally).join(" "));
  // A variable of `make` may be any program.
  const isMade = at > 0 && /^g?make$/.test(baseName(words[0]!)) && !/[\0-\u0002]/.test(value);
  return isMade ? [value] : [];
}

export function literally(text: string): string {
  return text === "" ? "" : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Texts that the line keeps in variables, where it runs what is in one: `x='rm f'; $x`. */
export function heldCode({ readings: [ways] }: PossibleCommands): string[] {
  const runsHeld = ways.some(({ words: [name = "", ...args] }) => {
    const isCode = isA("shell", baseName(name)) || /^(eval|source|\.|trap|su|env)$/.test(name);
    return /^[$\0\u0001]/.test(name) || (isCode && args.some((arg) => /[$\0\u0001]/.test(arg)));
  });
  if (!runsHeld) return [];
  const texts = ways.flatMap(({ words }) =>
    words.flatMap((word) => /^[A-Za-z_]\w*\+?=([^]*\s[^]*)$/.exec(word)?.[1] ?? []),
  );
  return [...new Set(texts)].filter((text) => !/[\0-\u0002]/.test(text)).slice(0, MAX_HELD);
}

const MAX_HELD = 20;
