import { subcommandAt } from "../../programs/git/git-words.ts";
import { isA, programFacts } from "../../programs/table.ts";
import { baseName } from "../../text/tokens.ts";
import { acts } from "./names-in-code.ts";
import type { PossibleCommand } from "./possible.ts";
import { linesInVariable, literally } from "./set-variables.ts";

/** Standard input as known: text with marks for gaps; `unknown`: of a program or file; `hidden`: decoded first. Undefined: none. */
export type Fed = { text: string } | "unknown" | "hidden" | undefined;

/** Code that a command is given to run. */
type Code =
  | { type: "shell"; text: string }
  /** In another language: any text in it may be the name of a file. */
  | { type: "program"; program: string; text: string }
  /** Nothing of it is known before it runs. `hidden`: it is kept from being read on purpose. */
  | { type: "unknown"; program: string; hidden: boolean };

/** `alias`: the command that a subcommand of this program stands for, as its settings say. */
type Alias = (program: string, args: readonly string[]) => string | undefined;

export function codeIn({ words, anywhere }: PossibleCommand, fed: Fed, alias: Alias = () => undefined): Code[] {
  const starts = anywhere ? [...words.keys()] : [0];
  const found = starts.flatMap((at) => {
    const name = baseName(words[at] ?? "");
    const args = words.slice(at + 1);
    if (isA("shell", name)) return inShell(name, args, fed);
    const builtin = at === 0 || anywhere ? inBuiltin(name, args, fed) : [];
    return [
      ...builtin,
      ...inOptions(name, args),
      ...inAlias(name, args, alias),
      ...inInput(name, args, fed),
      ...inInterpreter(name, args, fed),
    ];
  });
  const set = words.flatMap((word, at) =>
    linesInVariable(word, at, words).flatMap((line) => shellCode(word.split(/\W/, 1)[0]!, line)),
  );
  return [...set, ...found];
}

/** Programs whose output is code that could not be read in what they were given. */
export function decodes(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "");
  const args = words.slice(1);
  if (/^(base64|base32|basenc|uudecode|xxd|openssl|gpg|age)$/.test(name))
    return args.some((arg) => /^-(-?d|[a-z]*[dDr])/.test(arg) || arg === "enc");
  return /^(gunzip|zcat|gzcat|bzcat|xzcat|zstdcat|unxz|rev|tr|iconv|uncompress|bunzip2|unzstd|hexdump|od)$/.test(name);
}

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
    // `{}` is the name of each file that was found.
    case "find":
    case "fd":
    case "fdfind": {
      const at = args.findIndex((arg) => /^(-(exec|ok)(dir)?|-[xX]|--exec(-batch)?)$/.test(arg)) + 1;
      return at > 0 && args[at]?.includes("{}") === true ? shellCode(name, "\0") : [];
    }
    case "trap":
      return operands.length > 1 ? shellCode(name, operands[0]!) : [];
    case "source":
    case ".":
      if (pipeIn(args[0] ?? "") || /^\/dev\/(stdin|fd)/.test(args[0] ?? ""))
        return fromInput(name, fed ?? "unknown", "shell");
      return [];
    case "xargs":
      return fedWords(args, fed);
    case "socat":
      return operands
        .flatMap((text) => matchesOf(text, /(?:system|exec|shell):["']?([^,"']+)/gi))
        .flatMap((text) => shellCode(name, text));
    case "git":
      return args.flatMap((arg, n) => [
        ...inFilter(arg, args[n - 1]),
        ...inAddress(arg),
        ...(/^--config-env(=|$)|\.vcs=ext$/i.test(arg) ? shellCode(name, "\0") : []),
      ]);
    case "alias":
      return args.flatMap((arg) => shellCode(name, /^[^=]+=([^]+)$/.exec(arg)?.[1] ?? ""));
    case "mapfile":
    case "readarray":
      return optionValues(args, "-C").flatMap((text) => shellCode(name, text));
    default:
      return isA("lines", name) ? inLines(name, operands) : [];
  }
}

/** Each operand may be a line for a shell, and so may all that follow the first. */
function inLines(name: string, operands: readonly string[]): Code[] {
  const lines = [...operands.filter((text) => /\s/.test(text)), operands.join(" "), operands.slice(1).join(" ")];
  return [...new Set(lines)].filter((text) => text !== "").flatMap((text) => shellCode(name, text));
}

/** The command that `xargs` runs, with the words that it is fed, or one in it that is known only then. */
function fedWords(args: readonly string[], fed: Fed): Code[] {
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
  const spelled = (fill: string) =>
    words.map((word) => (hole ? word.split(hole).map(literally).join(fill) : literally(word)) || "''");
  const found: Code[] = [{ type: "shell", text: [...spelled('"$_"'), ...(hole ? [] : ["$_"])].join(" ") }];
  const lines = typeof fed === "object" ? fed.text.split("\n").filter((line) => line !== "") : [];
  if (hole)
    found.push(...lines.slice(0, MAX_LINES).flatMap((line) => shellCode("xargs", spelled(literally(line)).join(" "))));
  else if (lines.length > 0) found.push(...shellCode("xargs", [...spelled(""), ...lines].join(" ")));
  return found;
}

const MAX_LINES = 20;

/** `--tree-filter cmd` of git. */
function inFilter(arg: string, before: string | undefined): Code[] {
  const filter = /^--(?:[a-z]+-)+filter(?:=([^]*))?$/;
  const filtered = filter.exec(arg)?.[1] ?? (filter.test(before ?? "") ? arg : undefined);
  return filtered === undefined ? [] : shellCode("git", filtered);
}

/** `ext::sh -c a% b`: the program that git talks to. A percent sign keeps a blank within a word. */
function inAddress(arg: string): Code[] {
  const [, text = ""] = /(?:^|=|url\.)ext::([^]+?)(?:\.(?:push)?insteadof=[^]*)?$/i.exec(arg) ?? [];
  const words = text.split(/(?<!%) /).map((word) => literally(word.replace(/%([ %])/g, "$1")));
  return text === "" ? [] : shellCode("git", words.join(" "));
}

/** Values that the table says are run, and values of settings whose name says so. */
function inOptions(name: string, args: readonly string[]): Code[] {
  const { runs = "", sets = "" } = programFacts(name);
  const found: Code[] = [];
  for (const group of runs.split("|")) {
    const [, subcommand, names = ""] = /^(?:([a-z-]+): )?(.*)$/.exec(group)!;
    if (subcommand !== undefined && args[subcommandAt(args)] !== subcommand) continue;
    for (const value of optionValues(args, names)) found.push(...shellCode(name, splitBy(name, names, value)));
  }
  for (const value of optionValues(args, sets)) found.push(...inSetting(name, value));
  return found;
}

/** A program's own way to part the words of a command: commas, or the escapes of `env -S`. */
function splitBy(program: string, names: string, value: string): string {
  if (program === "env") return value.replace(/\\c[^]*$/, "").replace(/\\_/g, " ");
  return names === "-wrapper" ? value.replaceAll(",", " ") : value;
}

/** `core.pager=less`, `ProxyCommand x`, `-extld=x`: only where the name is that of something that is run. */
function inSetting(program: string, setting: string): Code[] {
  const linkers = [...setting.matchAll(/-extld[= ](?:'([^']*)'|(\S+))/g)].map(([, quotes, bare]) => quotes ?? bare!);
  if (linkers.length > 0) return linkers.flatMap((text) => shellCode(program, text));
  const [, key = "", value = ""] = /^([^=\s]+?)(?:\s*=\s*|\s+)([^]*)$/.exec(setting) ?? [];
  const inner = /^\w+\(([^]*)\)$/.exec(value)?.[1] ?? /^exec=([^]*)$/.exec(setting)?.[1];
  if (inner !== undefined) return shellCode(program, inner);
  if (value === "" || !namesProgram.test(key)) return [];
  if (value.startsWith("!")) return shellCode(program, value.slice(1));
  if (/^alias\./i.test(key)) return shellCode(program, `${program} ${value}`);
  return shellCode(program, program === "cargo" ? value.replace(/["'[\],]/g, " ") : value);
}

const namesProgram =
  /^(alias|pager|core|filter|hooks|extdiff|merge-tools|tunnels)\.|command|cmd|pager|editor|program|helper|hook|driver|textconv|external|filter|browser|httpd|askpass|uploadpack|receivepack|update$|exec|runner|linker|wrapper|rustc|invoke|[.](?:ssh|merge|path)$|tunnel/i;

/** Values of these options: the word after one, or what is glued to it; long ones may be abbreviated, letters stand in clusters. */
function optionValues(args: readonly string[], names: string): string[] {
  if (names === "") return [];
  return args.flatMap((arg, n) =>
    names.split(" ").flatMap((option): string[] => {
      const next = args[n + 1] === undefined ? [] : [args[n + 1]!];
      if (option === "+") return arg.length > 1 && arg.startsWith("+") ? [arg.slice(1)] : [];
      const [, given = "", , glued] = /^([^=]*)(=([^]*))?$/.exec(arg) ?? [];
      if (option.startsWith("--")) {
        const isMeant = given.length > 3 && given.startsWith("--") && option.startsWith(given);
        return isMeant ? (glued === undefined ? next : [glued]) : [];
      }
      if (option.length > 2) return given === option ? (glued === undefined ? next : [glued]) : [];
      const at = /^-[^-]/.test(arg) ? arg.indexOf(option[1]!, 1) : -1;
      if (at < 0) return [];
      return at + 1 === arg.length ? next : [arg.slice(at + 1).replace(/^=/, "")];
    }),
  );
}

function inAlias(name: string, args: readonly string[], alias: Alias): Code[] {
  const meant = alias(name, args);
  if (meant === undefined) return [];
  const rest = args.slice(subcommandAt(args) + 1).map((arg) => (marks.test(arg) ? arg : literally(arg) || "''"));
  return shellCode(name, [meant, ...rest].join(" "));
}

/** Lines of an editor, a debugger or a client, some of which run a command or open a file here. */
function inInput(name: string, args: readonly string[], fed: Fed): Code[] {
  const { input, scripts = "" } = programFacts(name);
  if (input === undefined) return [];
  const texts = optionValues(args, scripts);
  const isOpen = input !== "console" && typeof fed === "string";
  const unread: Code[] = isOpen ? [{ type: "unknown", program: name, hidden: fed === "hidden" }] : [];
  if (typeof fed === "object") texts.push(fed.text);
  if (input === "words") unread.push(...inServer(name, args));
  return [...unread, ...texts.flatMap((text) => text.split("\n").flatMap((line) => inLine(name, input, line)))];
}

/** Commands that a script calls in the server. */
function inServer(name: string, args: readonly string[]): Code[] {
  if (!args.some((arg) => /^(-?-?eval(_ro)?|script|function)$/i.test(arg))) return [];
  const calls = [...args.join(" ").matchAll(/\bredis\.p?call\(\s*(["']?)([^)]*)/gi)];
  if (calls.length === 0) return args.includes("--eval") ? shellCode(name, "\0") : [];
  return calls.flatMap(([, quote, words = ""]) =>
    shellCode(name, quote === "" ? "\0" : `${name} ${words.replace(/["',]+/g, " ")}`),
  );
}

function inLine(name: string, input: string, line: string): Code[] {
  if (input === "words") return shellCode(name, `${name} ${line}`);
  const runs = (input === "console" ? consoleRuns : editorRuns).flatMap((pattern) => pattern.exec(line)?.[1] ?? []);
  const names = input === "console" ? [] : (opens[input as keyof typeof opens].exec(line)?.[1] ?? "").split(/\s+/);
  const files = [...names, names.join(" ")].filter((file) => file !== "" && !file.startsWith("-"));
  const named = files.map((file) => `"${file}"`).join(" ");
  return [...runs.flatMap((text) => shellCode(name, text)), ...programCode(name, `${line}\n${named}`)];
}

const editorRuns = [/!([^]+)/, /(?:system(?:list)?|termopen|job_start|os\.execute|popen)\(\s*["']([^"']+)/];
const consoleRuns = [
  /^\s*(?:\\?!|~[!|]|\.shell|\.system|system|(?:platform )?shell|pipe)\s*([^]+)/,
  /\\!\s*([^]+)/,
  /\|\s*([^]+)/,
  /syscmd\(([^]*)\)/,
  /\bprogram\s+(?:e?'|\$\w*\$)([^'$]+)/i,
  /(?:system|popen|syscmd)\(\s*["'`]?([^"'`)]+)/,
];
const opens = {
  editor:
    /(?:^|[\s:;,\d$%.'"])(?:[rweEfW]|wq|read|write|edit|saveas|so|source|sp|split|vs|tabe\w*|view?|ru\w*)!?\s+(?:>>\s*)?([^!\s][^]*)$/,
  transfer: /^\s*-?@?(?:put|mput|reput|get|mget|reget|lcd|lmkdir|lls|mirror)\s+([^]+)$/,
};

/** Languages in which a program can be written on the command line; those that take it from their input are `full`. */
function inInterpreter(name: string, args: readonly string[], fed: Fed): Code[] {
  if (name === "sed" || name === "gsed") return args.flatMap((arg) => inSed(arg, fed));
  const isFull = isA("interpreter", name);
  if (!isFull && !isA("language", name)) return [];
  const code = args.flatMap((arg, n): string[] => {
    if (codeOption.test(args[n - 1] ?? "") || args[n - 1] === "eval") return [arg];
    const glued = /^-[ceEr](.{2,})$|^--(?:eval|print|command)=(.+)$/.exec(arg)?.slice(1).find(Boolean);
    if (glued !== undefined) return [glued];
    return !isFull && /[\s"'(){}]/.test(arg) ? [arg] : [];
  });
  const programs = [
    ...code.flatMap((text): Code[] => programCode(name, text)),
    ...args.flatMap((arg) => runIn(name, arg)),
    ...(/^(jq|gojq|jaq)$/.test(name) ? modulesOf(name, args) : []),
    ...(name.endsWith("make") && typeof fed === "object" ? recipesIn(fed.text) : []),
  ];
  const runsFile = args.some((arg) => !arg.startsWith("-")) || args.includes("-m");
  if (code.length > 0 || (runsFile && !args.includes("-"))) return programs;
  return isFull && args.every((arg) => arg === "-" || !/^-(h|V|v|help|version)/.test(arg.replace(/^--/, "-")))
    ? fromInput(name, fed, "program")
    : programs;
}

/** Files that a filter of jq imports, in each place where it looks for them. */
function modulesOf(name: string, args: readonly string[]): Code[] {
  const text = args.join(" ");
  const places = ["", ".", ...optionValues(args, "-L"), ...matchesOf(text, /search"?\s*:\s*"([^"]*)"/g)];
  const files = matchesOf(text, /\b(?:import|include)\s+"([^"]*)"/g).flatMap((module) =>
    places.flatMap((place) => {
      const path = place === "" ? module : `${place}/${module}`;
      return [`${path}.json`, `${path}.jq`, `${path}/${baseName(module)}.jq`];
    }),
  );
  return files.length === 0 ? [] : programCode(name, files.map((file) => `"${file}"`).join(" "));
}

function matchesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = ""]) => found);
}

/** Lines of a makefile that a shell runs. */
function recipesIn(makefile: string): Code[] {
  const lines = makefile.split("\n").map((line) => line.replace(/^[^\t;]*:[^;]*;/, "\t"));
  return lines
    .filter((line) => line.startsWith("\t"))
    .flatMap((line) => shellCode("make", line.replace(/^[\t @+-]+/, "")));
}

/** Commands that are run from within: `$(shell …)` of make, texts that awk pipes into a shell. */
function runIn(name: string, code: string): Code[] {
  if (name.endsWith("make")) return matchesOf(code, /\$[({]shell\s+([^)}]*)/g).flatMap((text) => shellCode(name, text));
  if (!name.endsWith("awk") || !/\|&?\s*("([^"]*\/)?(sh|bash|zsh|dash|ksh)\b|\w)|system\(\s*\w/.test(code)) return [];
  return matchesOf(code, /"((?:\\.|[^"\\])*)"/g).flatMap((text) => shellCode(name, text));
}

/** Files that `w` and `r` of a script name, up to the end of its line, and commands that `e` runs. */
function inSed(script: string, fed: Fed): Code[] {
  const run = matchesOf(script, /(?:^|[\s;{}\d$/!])e[ \t]+([^\n]+)/g).flatMap((code) => shellCode("sed", code));
  // `s/…/…/e` runs what comes of it.
  const isRun = /(?:^|[\s;{}\d$/!])s([^\w\s]).*\1.*\1[gpiImM\d]*e/.test(script);
  const lines = isRun && typeof fed === "object" ? shellCode("sed", fed.text) : [];
  return [...run, ...lines, ...(isRun ? shellCode("sed", "\0") : []), ...namedInSed(script)];
}

function namedInSed(script: string): Code[] {
  const written = matchesOf(script, /[wW](?:[ \t]+|(?=\.))([^\n]+)/g);
  const read = matchesOf(script, /(?:^|[\s;{}\d$/!,])[rR][ \t]*([^\s;}][^\n;}]*)/g);
  const names = [...written, ...read].map((name) => name.trim());
  return names.map((name) => ({ type: "program", program: "sed", text: `"${name}"` }));
}

const codeOption = /^(-[A-Za-z]*[cerEp]|-ex|-[cC]ommand|--eval|--print|--command|--execute)$/;

function fromInput(program: string, fed: Fed, type: "shell" | "program"): Code[] {
  if (fed === undefined) return [];
  if (fed === "unknown" || fed === "hidden") return [{ type: "unknown", program, hidden: fed === "hidden" }];
  return type === "shell" ? shellCode(program, fed.text) : programCode(program, fed.text);
}

const marks = /[\0\u0001\u0002]/;

/** An unknown part of a text may be any code. */
function shellCode(program: string, text: string): Code[] {
  const unknown: Code[] = marks.test(text) ? [{ type: "unknown", program, hidden: false }] : [];
  return [{ type: "shell", text: text.replace(/[\0\u0001\u0002]+/g, "$$_") }, ...unknown];
}

function pipeIn(arg: string): boolean {
  return arg.startsWith("/dev/fd/") || arg.startsWith("/proc/self/fd/");
}

/** Code that may write or run something, and decodes a text first, cannot be read. */
function programCode(program: string, text: string): Code[] {
  const unread: Code[] = acts.test(text) && decoding.test(text) ? [{ type: "unknown", program, hidden: true }] : [];
  const lines = calls
    .flatMap((call) => matchesOf(text, call))
    .filter((line) => /\s/.test(line))
    .map((line) => line.replace(/[{}]/g, "'"));
  if (runsMade.test(text)) {
    lines.push(...matchesOf(text, /["'`]([^"'`\n]*\s[^"'`\n]*)["'`]/g));
    unread.push({ type: "unknown", program, hidden: false });
  }
  return [{ type: "program", program, text }, ...unread, ...lines.flatMap((line) => shellCode(program, line))];
}

/** A command that code makes while it runs, and does not spell out. */
const runsMade =
  /(?:\b(?:system(?:list)?|popen|passthru|shell_exec|getoutput|exec(?:File)?Sync|spawnSync|os\.(?:execute|exec\w+|spawn\w+)|subprocess\.\w+|child_process["']?\)?\.\w+)\s*\(|\bexec\s*\(?(?=\s*[$@])|(?:^|[;{\n&|=])\s*system\s+(?=[\w$@]))\s*\[?\s*(?!["'`]|[fr]["'][\w./-]+[\s"'])|\bsystem\(\s*["'][^"']*["']\s*[+.%]/;

/** Lines that code gives to a shell. */
const calls = [
  /\b(?:system|systemlist|popen|exec\w*|spawn\w*|run|call|check_\w+|shell_exec|passthru|execute|getoutput|shell-command)[\s(]+["'`]([^"'`]+)["'`]/g,
  /(?:qx|%x)\s*[({|!]([^(){}|!]+)/g,
  /`([^`$]+)`/g,
  /\bexec ((?:[\w./-]+ )*\S+[^\n\]]*)/g,
];

const decoding =
  /\bchr\b|fromCharCode|fromCodePoint|b64|base64|atob|unhex|fromhex|from_hex|\[::-1\]|revers|rot_?13|codecs|\bpack\b|unpack|\\x[0-9a-fA-F]{2}|\\u\{?[0-9a-fA-F]{2}|\\[0-3][0-7]{2}|decompress|inflate|gunzip|marshal|pickle/;
