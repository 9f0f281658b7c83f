import { baseName } from "../../text/tokens.ts";
import type { PossibleCommand } from "./possible.ts";

/**
 * Standard input of a command, as far as the line tells: a text with marks for what is not known of it;
 * `unknown` for the output of a program or a file; `hidden` for what a program makes readable first. Undefined: nothing.
 */
export type Fed = { text: string } | "unknown" | "hidden" | undefined;

/** Code that a command is given to run. */
type Code =
  | { type: "shell"; text: string }
  /** In another language: any text in it may be the name of a file. */
  | { type: "program"; program: string; text: string }
  /** Nothing of it is known before it runs. `hidden`: it is kept from being read on purpose. */
  | { type: "unknown"; program: string; hidden: boolean };

export function codeIn({ words, anywhere }: PossibleCommand, fed: Fed): Code[] {
  const starts = anywhere ? [...words.keys()] : [0];
  return starts.flatMap((at) => {
    const name = baseName(words[at] ?? "");
    const args = words.slice(at + 1);
    if (shells.has(name)) return inShell(name, args, fed);
    const builtin = at === 0 || anywhere ? inBuiltin(name, args, fed) : [];
    return [...builtin, ...inInterpreter(name, args, fed)];
  });
}

/** Programs whose output is code that could not be read in what they were given. */
export function decodes(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "");
  const args = words.slice(1);
  if (/^(base64|base32|basenc|uudecode|xxd|openssl|gpg|age)$/.test(name))
    return args.some((arg) => /^-(-?d|[a-z]*[dDr])/.test(arg) || arg === "enc");
  return /^(gunzip|zcat|gzcat|bzcat|xzcat|zstdcat|unxz|rev|tr|iconv|uncompress|bunzip2|unzstd|hexdump|od)$/.test(name);
}

const shells = new Set("sh bash zsh dash ksh ash mksh rbash fish".split(" "));

function inShell(program: string, args: readonly string[], fed: Fed): Code[] {
  let isCode = false;
  for (let n = 0; n < args.length; n++) {
    const arg = args[n]!;
    if (/^-[A-Za-z]*s/.test(arg) && !/^-[A-Za-z]*c/.test(arg)) break; // what follows are its parameters
    if (/^[-+][oO]$|^--(rcfile|init-file)$/.test(arg)) n++;
    else if (/^[-+]./.test(arg) && arg !== "--") isCode ||= /^-[A-Za-z]*c/.test(arg) || arg === "--command";
    else if (arg === "--" || (arg === "-" && isCode)) continue;
    else if (isCode) return shellCode(program, arg);
    else if (arg === "-") break;
    else return pipeIn(arg) ? fromInput(program, fed ?? "unknown", "shell") : []; // a script in a file
  }
  return isCode ? [] : fromInput(program, fed, "shell");
}

function inBuiltin(name: string, args: readonly string[], fed: Fed): Code[] {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  switch (name) {
    case "eval":
      return shellCode(name, args.join(" "));
    // Another machine is not ours to guard; this one under its other names is.
    case "ssh": {
      const at = args.findIndex((arg) => /^([\w.-]+@)?(localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0)$/.test(arg));
      return at < 0 || at + 1 >= args.length ? [] : shellCode(name, args.slice(at + 1).join(" "));
    }
    case "trap":
      return operands.length > 1 ? shellCode(name, operands[0]!) : [];
    case "source":
    case ".":
      if (pipeIn(args[0] ?? "") || /^\/dev\/(stdin|fd)/.test(args[0] ?? ""))
        return fromInput(name, fed ?? "unknown", "shell");
      return [];
    case "xargs":
      return fedWords(args);
    case "git":
      return args.flatMap((arg, n) => inGit(arg, args[n - 1]));
    case "watch":
    case "parallel":
      return operands.length > 0 ? shellCode(name, operands.join(" ")) : [];
    case "env":
    case "su":
    case "runuser":
    case "script":
    case "flock":
      return args.flatMap((arg, n) => {
        const value = /^(-[A-Za-z]*S|-c|--split-string|--command)$/.test(args[n - 1] ?? "")
          ? arg
          : /^-[A-Za-z]*?S(.+)$|^--(?:split-string|command)=(.+)$/.exec(arg)?.slice(1).find(Boolean);
        return value === undefined ? [] : shellCode(name, value);
      });
    default:
      return [];
  }
}

/** The command that `xargs` runs, with a word in it that is known only then. */
function fedWords(args: readonly string[]): Code[] {
  let hole: string | undefined;
  let at = 0;
  for (; at < args.length && /^-./.test(args[at]!); at++) {
    const [, glued] = /^(?:-[iI]|--replace=?)(.*)$/.exec(args[at]!) ?? [];
    if (glued !== undefined) hole = glued === "" ? (args[at] === "-I" ? args[++at] : "{}") : glued;
    else if (
      /^-[0-9a-zA-Z]*[ndPLsEa]$|^--(max-args|delimiter|max-procs|max-lines|max-chars|eof|arg-file)$/.test(args[at]!)
    )
      at++;
  }
  const words = args.slice(at);
  if (words.length === 0) return [];
  const quoted = (text: string) => (text === "" ? "" : `'${text.replaceAll("'", String.raw`'\''`)}'`);
  const spelled = words.map((word) => (hole ? word.split(hole).map(quoted).join('"$_"') : quoted(word)) || "''");
  return [{ type: "shell", text: [...spelled, ...(hole ? [] : ["$_"])].join(" ") }];
}

/** Commands that settings and filters of git name. */
function inGit(arg: string, before: string | undefined): Code[] {
  const filter = /^--(?:[a-z]+-)+filter(?:=([^]*))?$/;
  const filtered = filter.exec(arg)?.[1] ?? (filter.test(before ?? "") ? arg : undefined);
  if (filtered !== undefined) return shellCode("git", filtered);
  const [, key = "", value = ""] = (before === "-c" ? /^([^=]+)=([^]*)$/ : /^-c([^=]+)=([^]*)$/).exec(arg) ?? [];
  if (value === "" || !namesProgram.test(key)) return [];
  return shellCode("git", value.startsWith("!") ? value.slice(1) : /^alias\./i.test(key) ? `git ${value}` : value);
}

const namesProgram =
  /^(alias|pager|core|filter)\.|command|cmd|pager|editor|program|helper|hook|driver|textconv|external|filter|browser|httpd|askpass|uploadpack|receivepack|update$/i;

/** Languages in which a program can be written on the command line; those that take it from their input are `full`. */
const interpreters =
  /^(python|node|nodejs|deno|bun|ruby|perl|php|lua|luajit|rscript|julia|osascript|pwsh|powershell|tsx|ts-node|jshell|groovy|scala|elixir|tclsh|guile|racket)[\d.]*$/;
const others =
  /^(awk|gawk|mawk|nawk|sqlite3?|psql|mysql|mariadb|ed|ex|vim|vi|nvim|emacs|bc|gdb|expect|make|gmake|duckdb)$/;

function inInterpreter(name: string, args: readonly string[], fed: Fed): Code[] {
  if (name === "sed" || name === "gsed") return args.flatMap(inSed);
  const isFull = interpreters.test(name.toLowerCase());
  if (!isFull && !others.test(name)) return [];
  const code = args.flatMap((arg, n): string[] => {
    if (codeOption.test(args[n - 1] ?? "") || args[n - 1] === "eval") return [arg];
    const glued = /^-[ceEr](.{2,})$|^--(?:eval|print|command)=(.+)$/.exec(arg)?.slice(1).find(Boolean);
    if (glued !== undefined) return [glued];
    return !isFull && /[\s"'(){}]/.test(arg) ? [arg] : [];
  });
  const programs = [
    ...code.flatMap((text): Code[] => programCode(name, text)),
    ...args.flatMap((arg) => runIn(name, arg)),
  ];
  const runsFile = args.some((arg) => !arg.startsWith("-")) || args.includes("-m");
  if (code.length > 0 || (runsFile && !args.includes("-"))) return programs;
  return isFull && args.every((arg) => arg === "-" || !/^-(h|V|v|-help|-version)/.test(arg))
    ? fromInput(name, fed, "program")
    : programs;
}

/** Commands that are run from within: `$(shell …)` of make, texts that awk pipes into a shell. */
function runIn(name: string, code: string): Code[] {
  if (name.endsWith("make"))
    return [...code.matchAll(/\$[({]shell\s+([^)}]*)/g)].flatMap(([, text = ""]) => shellCode(name, text));
  if (!name.endsWith("awk") || !/\|&?\s*"([^"]*\/)?(sh|bash|zsh|dash|ksh)\b/.test(code)) return [];
  return [...code.matchAll(/"((?:\\.|[^"\\])*)"/g)].flatMap(([, text = ""]) => shellCode(name, text));
}

/** Files that `w` of a script names, up to the end of its line, and commands that `e` runs. */
function inSed(script: string): Code[] {
  const run = [...script.matchAll(/(?:^|[\s;{}\d$/!])e[ \t]+([^\n]+)/g)].flatMap(([, code = ""]) =>
    shellCode("sed", code),
  );
  // `s/…/…/e` runs what comes of it.
  const isRun = /(?:^|[\s;{}\d$/!])s([^\w\s]).*\1.*\1[gpiImM\d]*e/.test(script);
  return [...run, ...(isRun ? shellCode("sed", "\0") : []), ...writtenBySed(script)];
}

function writtenBySed(script: string): Code[] {
  const names = [...script.matchAll(/[wW](?:[ \t]+|(?=\.))([^\n]+)/g)].map(([, name = ""]) => name.trim());
  return names.map((name) => ({ type: "program", program: "sed", text: `"${name}"` }));
}

const codeOption = /^(-[A-Za-z]*[cerEp]|-ex|-[cC]ommand|--eval|--print|--command|--execute)$/;

function fromInput(program: string, fed: Fed, type: "shell" | "program"): Code[] {
  if (fed === undefined) return [];
  if (fed === "unknown" || fed === "hidden") return [{ type: "unknown", program, hidden: fed === "hidden" }];
  return type === "shell" ? shellCode(program, fed.text) : programCode(program, fed.text);
}

/** An unknown part of a text may be any code. */
function shellCode(program: string, text: string): Code[] {
  const unknown: Code[] = /[\0\u0001\u0002]/.test(text) ? [{ type: "unknown", program, hidden: false }] : [];
  return [{ type: "shell", text: text.replace(/[\0\u0001\u0002]+/g, "$$_") }, ...unknown];
}

function pipeIn(arg: string): boolean {
  return arg.startsWith("/dev/fd/") || arg.startsWith("/proc/self/fd/");
}

/** Code that may write or run something, and decodes a text first, cannot be read. */
function programCode(program: string, text: string): Code[] {
  const unread: Code[] = acts.test(text) && decoding.test(text) ? [{ type: "unknown", program, hidden: true }] : [];
  return [{ type: "program", program, text }, ...unread];
}

const acts =
  /open|write|append|put_contents|touch|\bfs\b|unlink|rename|remove|rmtree|symlink|chmod|copy|mkdir|exec|spawn|system|popen|subprocess|eval|child_process|shutil|pathlib|\bFile\b|\bIO\b|Deno|Bun|ctypes|qx|`/;
const decoding =
  /\bchr\b|fromCharCode|fromCodePoint|b64|base64|atob|unhex|fromhex|from_hex|\[::-1\]|revers|rot_?13|codecs|\bpack\b|unpack|\\x[0-9a-fA-F]{2}|\\u\{?[0-9a-fA-F]{2}|\\[0-3][0-7]{2}|decompress|inflate|gunzip|marshal|pickle/;

/** Code that looks for files by itself, and may open whichever it finds. */
export function listsFiles(code: string): boolean {
  return /\bi?r?glob|listdir|scandir|iterdir|\bwalk|readdir|opendir|opendirsync|\bDir\b|\bfind\b|<\s*[^<>\s]*\*[^<>]*>|list\.files|fs\.(dir|list)/i.test(
    code,
  );
}

/**
 * Names that code may put together from the texts in it: texts that follow one another, any two of them, with and without a
 * slash between, one that is set into another, and one in which a piece is replaced. Code that can do no more than compute has
 * none.
 */
export function builtInCode(code: string): string[] {
  if (!acts.test(code)) return [];
  const texts = textsIn(code).slice(0, mostTexts);
  const built = new Set<string>([...filled(texts), ...(replaces.test(code) ? replaced(texts) : [])]);
  for (const [from, first] of texts.entries()) {
    let [glued, joined] = [first, first];
    for (const next of texts.slice(from + 1, from + 1 + longestRun)) {
      [glued, joined] = [glued + next, `${joined}/${next}`];
      built.add(glued).add(joined);
    }
    for (const other of texts) built.add(first + other).add(`${first}/${other}`);
  }
  // Perl opens a file to write it by a sign in front of its name.
  return [...built].map((name) => name.replace(/^\s*\+?[<>]+\s*/, "")).filter((name) => /[./~]/.test(name));
}

/** Texts in quotes, and those in quotes within them. */
function textsIn(code: string): string[] {
  const outer = [...code.matchAll(/"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`/gs)]
    .map(([, double, single, tick]) => double ?? single ?? tick ?? "")
    .filter((text) => text.length < 200);
  const inner = outer.flatMap((text) => [...text.matchAll(/["'`]([^"'`]*)["'`]/g)].map(([, quoted = ""]) => quoted));
  return [...outer, ...inner];
}

/** `%s`, `{}`, `${x}`, `#{x}` and `$x` in a text stand for another one, or for a name that is made elsewhere. */
function filled(texts: readonly string[]): string[] {
  const hole = /%\(?\w*\)?[-\d.]*[sdrv]|[$#]?\{[^{}]*\}|\$\w+/g;
  const wholes = texts.filter((text) => text.search(hole) >= 0);
  return wholes.flatMap((whole) => {
    const once = [...texts, ...oftenMeant].map((text) => whole.replace(hole, () => text));
    let next = 0;
    const inTurn = texts.map((_, from) => ((next = from), whole.replace(hole, () => texts[++next] ?? "")));
    return [...once, ...inTurn];
  });
}

const oftenMeant = ["git", "ssh", "bash"];

/** Each text with each pair of neighbours replaced in it. */
function replaced(texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    texts.flatMap((from, n) => (from === "" || texts[n + 1] === undefined ? [] : text.replaceAll(from, texts[n + 1]!))),
  );
}

const replaces = /replace|\bg?sub\b|translate|\btr\b|\bs\/|removeprefix|removesuffix|strip/;

const mostTexts = 40;
const longestRun = 8;

/** Pieces of code that may be the name of a file. */
export function namesInCode(code: string): string[] {
  const quoted = code.split(/["'`]/).filter((_, n) => n % 2 === 1);
  const bare = code.split(/[^\w./~$+@%-]+/).filter((word) => /[./]/.test(word));
  return [...new Set([...quoted, ...bare])].filter((word) => word !== "" && word.length < 1_000).slice(0, 500);
}
