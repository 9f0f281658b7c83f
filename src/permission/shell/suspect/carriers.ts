import { isReader } from "../../programs/files/readers.ts";
import { programFacts, isA } from "../../programs/table.ts";
import { baseName } from "../../text/tokens.ts";

/** Commands that seem handed on, apart from mere wrappers, by their looks: `npx curl` may run curl, `npm install curl` does not. */
export function handedOn(words: readonly string[]): string[][] {
  const found: string[][] = [];
  const name = baseName(words.find((word) => !word.includes("=")) ?? "").toLowerCase();
  const verbs = programFacts(name)
    .carries?.split(" ")
    .filter((verb) => verb !== "");
  const verb = verbs === undefined || verbs.length === 0 ? 0 : words.findIndex((word) => verbs.includes(word));
  if (verbs !== undefined && verb >= 0) {
    const end = words.indexOf("--", verb);
    found.push(...afterOptions(words.slice(verb + 1)), ...(end < 0 ? [] : [words.slice(end + 1)]));
  }
  // To a reader `-e 'curl x'` is something to look for.
  const isCode = (at: number) =>
    (codeOption.test(words[at - 1] ?? "") && !isReader(name)) || (name === "deno" && words[at - 1] === "eval");
  words.forEach((word, at) => {
    const rest = words.slice(at + 1);
    const value = runsValue.exec(word)?.slice(1).find(Boolean) ?? (at > 0 ? /^!(.+)$/.exec(word)?.[1] : undefined);
    if (value !== undefined) found.push([value, ...rest]);
    if (/^-[xX]$/.test(word) && /^fd(find)?$/.test(name)) found.push([...rest]);
    if (word === "--pre" && name === "rg") found.push([...rest]);
    if (/[\s"'(){};]/.test(word) && (isCode(at) || isA("texts", name))) found.push(...scriptsIn(word));
    else if (isCode(at)) found.push(words.slice(at));
    const bound = binds.get(name)?.(word, words[at - 1]);
    if (bound !== undefined) found.push(...scriptsIn(bound));
  });
  return found;
}

/** Commands that the shell is told to run under another name, or later. */
const after = (option: string) => (word: string, before: string | undefined) => (before === option ? word : undefined);
const binds = new Map<string, ReturnType<typeof after>>([
  ["alias", (word) => /^[^=]+=([^]+)$/.exec(word)?.[1]],
  ["hash", after("-p")],
  ["mapfile", after("-C")],
  ["readarray", after("-C")],
]);

/** Text that a printing command feeds to a shell. */
export function fed(command: string, words: readonly string[]): string[][] {
  const name = baseName(words[0] ?? "");
  if ((name !== "echo" && name !== "printf") || !feeds.test(command)) return [];
  return [words.slice(1), words.slice(2)];
}

const feeds =
  /(^|[\s;&|(`/])(sh|bash|zsh|dash|ksh|fish|source|\.)($|[\s;&|)`<])|(^|[;&|(\n])\s*(`|\$\()\s*(echo|printf)\b/;

const codeOption = /^(-c|-lc|-e|-E|-x|-P|-ex|--run|--exec|--command|--eval)$/;

/** `--to-command=x`, `SHELL=x`, `-oProxyCommand=x`, `alias.l=!x`, `exec:x`: what comes after is run. */
const runsValue =
  /^-*[\w.=-]*(?:command|exec|pager|editor|shell|rsh|program|extcmd|-pack|pre|browser|askpass|split-string)=!?(.+)$|^-S(.+)$|=!(.+)$|^(?:exec|system):(.+)$/i;

/** Nobody knows which option takes the next word as its value: after one, the command may be one word later. */
function afterOptions(words: readonly string[]): string[][] {
  const first = words.findIndex((word) => !word.startsWith("-"));
  if (first < 0) return [];
  const mayBeValue = first > 0 || words[first] === ".";
  return mayBeValue ? [words.slice(first), words.slice(first + 1)] : [words.slice(first)];
}

/** Lines of code, also in another language: `system "curl x"`. */
function scriptsIn(word: string): string[][] {
  const words = word.split(/[\s"'(){};|&!]+/).filter((text) => text !== "" && text !== "!");
  return words.slice(0, 20).map((_, at) => words.slice(at));
}
