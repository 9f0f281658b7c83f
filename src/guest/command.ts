import { isAbsolute, resolve } from "node:path";
import { list, text } from "./json.ts";

/** Another agent's command as Bash's input: without the shell around it, and with its folder entered first, for rules and people. */
export function commandLine(command: unknown, where: { cwd: unknown; sessionCwd: string }): string | undefined {
  const line = Array.isArray(command) ? joinWords(list(command)) : text(command);
  if (line === undefined || line.trim() === "") return undefined;
  const script = innerScript(splitWords(line)) ?? line;
  const cwd = text(where.cwd);
  if (cwd === undefined || resolve(where.sessionCwd, cwd) === resolve(where.sessionCwd)) return script;
  return `cd ${quoted(isAbsolute(cwd) ? cwd : resolve(where.sessionCwd, cwd))} && ${grouped(script)}`;
}

function joinWords(words: readonly unknown[]): string | undefined {
  return words.every((word) => typeof word === "string") ? words.map((word) => quoted(word)).join(" ") : undefined;
}

/** `cd x && a; b` would run b in the wrong folder. */
function grouped(script: string): string {
  return /^[\w\s./:=@%+,"'-]+$/.test(script) && !script.includes("\n") ? script : `{ ${script}\n}`;
}

const shells = /^(?:\/(?:usr\/)?(?:local\/)?bin\/)?(?:ba|z|da)?sh$/;

function innerScript(words: readonly string[] | undefined): string | undefined {
  if (words === undefined) return undefined;
  const [shell = "", ...rest] = words;
  if (!shells.test(shell)) return undefined;
  const [flag, script] = rest.length === 3 && rest[0] === "-l" ? rest.slice(1) : rest;
  const isWhole = rest.length === 2 || (rest.length === 3 && rest[0] === "-l");
  return isWhole && (flag === "-c" || (flag === "-lc" && rest.length === 2)) ? script : undefined;
}

/** The words of a line that means nothing but its words; undefined when a shell would do anything else with it. */
function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? "";
    if (character === " ") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) return undefined;
      word = (word ?? "") + line.slice(at + 1, end);
      at = end;
    } else if (character === '"') {
      const inner = doubleQuoted(line, at + 1);
      if (inner === undefined) return undefined;
      word = (word ?? "") + inner.text;
      at = inner.end;
    } else if (character === "\\" && at + 1 < line.length && line[at + 1] !== "\n") {
      word = (word ?? "") + (line[++at] ?? "");
    } else if (/[\w./:=@%+,^-]/.test(character)) word = (word ?? "") + character;
    else return undefined;
  }
  return word === undefined ? words : [...words, word];
}

function doubleQuoted(line: string, start: number): { text: string; end: number } | undefined {
  let inner = "";
  for (let at = start; at < line.length; at++) {
    const character = line[at] ?? "";
    if (character === '"') return { text: inner, end: at };
    if (character === "$" || character === "`") return undefined;
    if (character !== "\\") inner += character;
    else if (/["$`\\]/.test(line[at + 1] ?? "")) inner += line[++at] ?? "";
    else inner += character;
  }
  return undefined;
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
