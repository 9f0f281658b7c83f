import { optionOf, type Word } from "../shell/read/word.ts";
import { asksConfig, ordinary, subcommandAt } from "./git/git-words.ts";
import { isPlain } from "./files/sed.ts";
import { isA } from "./table.ts";
import { baseName } from "../text/tokens.ts";

/** Options that run a program or write a file: no star covers them. `-x` also in a cluster, `-word` by its start, `--word` abbreviated. */
const options = new Map(
  Object.entries({
    "find gfind": "-exec -ok -delete -fprint -fls -files0-from",
    "fd fdfind": "-x -X --exec*",
    "wc gwc du gdu": "--files0-from",
    rg: "--pre --hostname-bin -z --search-zip",
    "sort gsort": "-o --output --compress-program -T --temporary-directory --files0-from",
    "tar gtar bsdtar":
      "--to-command --checkpoint-action -I -F --use-compress-program --rsh-command --info-script --new-volume-script --rmt-command -P --absolute-names --extract --get",
    git: "--config-env --exec-path --upload-pack --receive-pack --exec --ext-diff --extcmd --output --open-files-in-pager --template --git-dir --work-tree --unsafe-paths --stdin-paths --prefix --pathspec-from-file",
    "curl wget": "",
    rsync: "-e --rsh --rsync-path --files-from",
    go: "-exec --exec -toolexec --toolexec -vettool --vettool -overlay --overlay -modfile --modfile",
    cargo: "--config",
    "npm pnpm yarn": "--script-shell --node-options --userconfig --globalconfig --config.*",
    "make gmake": "-f -E --file --makefile --eval",
    "less man": "-P --pager -H -o -O --log-file --html",
    tree: "-o -R --output",
    date: "--set",
    file: "-f -m -C --files-from --magic-file --compile",
    xxd: "-r",
    "sed gsed": "",
    "awk gawk mawk nawk": "",
    uniq: "",
    test: "",
  }).flatMap(([names, list]) => names.split(" ").map((name) => [name, list.split(" ")] as const)),
);

/** Only spelled-out options of these count: a word that is not known is far more often a name than one of their options. */
const mild = new Set("rsync go cargo npm pnpm yarn make gmake".split(" "));

/** `args` are those that do not stand in the rule, `all` are all of them. */
type Check = (args: readonly string[], all: readonly string[], literal: ReadonlySet<string>) => boolean;

const checks = new Map<string, Check>([
  ...["sed", "gsed"].map((name) => [name, (args) => !isPlainSed(args)] as [string, Check]),
  ...["awk", "gawk", "mawk", "nawk"].map((name) => [name, (args) => !isPlainAwk(args)] as [string, Check]),
  ...["tar", "gtar", "bsdtar"].map((name) => [name, tarRuns] as [string, Check]),
  ...["uniq", "xxd"].map(
    (name) => [name, (args) => args.filter((arg) => !arg.startsWith("-")).length > 1] as [string, Check],
  ),
  ["git", gitRuns],
  ...["make", "gmake"].map((name) => [name, (args) => args.some(runsInMake)] as [string, Check]),
  ["curl", (args) => args.some((arg) => fetches(arg, curl))],
  ["wget", (args) => args.some((arg) => fetches(arg, wget))],
  ["date", (args) => args.some((arg) => /^-[uRj]*s/.test(arg))],
  // The shell evaluates an index, commands in it included, and quotes do not keep it from doing so.
  ["test", (args) => args.some((arg) => arg.includes("["))],
]);

/** Words that stand literally in the rule were meant. */
export function escalates(words: readonly Word[], literal: ReadonlySet<string>): boolean {
  // Only the wrapper knows where the arguments of a wrapped program begin, so any of its words may be that program.
  const reach = isA("wrapper", baseName(words[0]?.text ?? "")) ? words.length : 1;
  const seen = new Set<string>();
  for (const [at, { text = "" }] of words.slice(0, reach).entries()) {
    const program = baseName(text);
    const risky = options.get(program);
    if (risky === undefined || seen.has(program)) continue;
    seen.add(program);
    const rest = words.slice(at + 1);
    const isUnsure = (word: Word, i: number) => word.text === undefined && !isSafely(word, rest, i, program);
    if (rest.some(mild.has(program) ? isUnfinished : isUnsure)) return true;
    // An unknown word keeps its place, or the next would be taken for it; its beginning counts.
    const all = rest.map(({ text, lead }) => text ?? `${lead}\0`);
    // A word with several readings is any of them.
    const args = [...all, ...rest.flatMap(({ choices = [] }) => choices)].filter((arg) => !literal.has(arg));
    if (checks.get(program)?.(args, all, literal) === true) return true;
    if (args.some((arg) => arg.startsWith("-") && risky.some((option) => uses(arg, option)))) return true;
  }
  return false;
}

/** A word that is not literal and yet surely no option. */
function isSafely({ lead, splits, glob, tame }: Word, words: readonly Word[], at: number, program: string): boolean {
  if (program === "uniq" || program === "xxd") return false;
  if (tame === true) return true;
  if (optionOf(words[at]!) !== undefined && !program.endsWith("tar")) return true;
  if (lead !== "" && !lead.startsWith("-") && (!splits || glob !== undefined)) return true;
  const before = words.slice(0, at).map(({ text }) => text);
  if (program === "git" && !splits && /^(-m|--message|-F|--author|--date|-b|-B)$/.test(before.at(-1) ?? ""))
    return true;
  return program !== "find" && program !== "gfind" && before.includes("--");
}

/** An option whose very name is not known to its end, such as `-$x` or `--scr$x`; `-j$(nproc)` is none. */
function isUnfinished({ text, lead, choices }: Word): boolean {
  return text === undefined && choices === undefined && /^-(-[^=]*|[A-Za-z]{2,})?$/.test(lead);
}

function uses(arg: string, option: string): boolean {
  if (option === "") return false;
  if (option.startsWith("--")) {
    const name = option.replace("*", "");
    const given = arg.split("=", 1)[0]!;
    return (
      given.length > 2 &&
      given.startsWith("--") &&
      (name.startsWith(given) || (name !== option && given.startsWith(name)))
    );
  }
  if (option.length > 2) return arg.startsWith(option);
  return !arg.startsWith("--") && arg.includes(option.charAt(1), 1);
}

/** Tar's first word is a cluster of letters. Anything may come out of an archive; a remote one is fetched by a program. */
function tarRuns(args: readonly string[], all: readonly string[]): boolean {
  const isCluster = (arg: string, i: number) => i === 0 || /^-[^-]/.test(arg);
  if (args.some((arg) => /[xIFP]/.test(arg) && isCluster(arg, all.indexOf(arg)))) return true;
  return args.some((arg) => /^(-[^/]*)?[^/-][^/]*:/.test(arg) && !/^--(exclude|transform|mtime|date)/.test(arg));
}

/** Elsewhere the same letter is harmless: `-c` names a branch to `switch`, `-x` a note to `cherry-pick`. */
function gitRuns(_: readonly string[], all: readonly string[], literal: ReadonlySet<string>): boolean {
  const at = subcommandAt(all);
  const [before, subcommand = "", after] = [all.slice(0, at), all[at], all.slice(at + 1)];
  const given = (args: readonly string[], option: RegExp) => args.some((arg) => option.test(arg) && !literal.has(arg));
  // A subcommand that a rule names was meant.
  if (!literal.has(subcommand) && subcommand !== "" && !ordinary.has(subcommand))
    if (subcommand !== "config" || !asksConfig(after)) return true;
  return (
    given(before, /^(-c|--bare$)/) ||
    given(all, /(^|=)[A-Za-z0-9+.-]+::/) ||
    given(after, runners.get(subcommand) ?? /^-O/)
  );
}

const runners = new Map<string, RegExp>(
  Object.entries({
    // On another repository's side it is packed by what is named there.
    archive: /^(-[A-Za-z0-9]*o|--r|--add)/,
    clone: /^(-[A-Za-z0-9]*[cu]|--co|--sep|--ref)/,
    init: /^--sep/,
    blame: /^--con/,
    "format-patch": /^(-[A-Za-z0-9]*o|--output-d)/,
    apply: /^(--unsafe|--dir|--rej|--build)/,
    am: /^(--dir|--resolvemsg|-[A-Za-z]*C)/,
    "hash-object": /^(-w|--stdin|--path)/,
    "checkout-index": /^(--prefix|--stdin)/,
    "read-tree": /^--prefix/,
    grep: /^-[A-Za-z]*O/,
    rebase: /^-[A-Za-z]*x/,
    difftool: /^-[A-Za-z]*x/,
    "filter-branch": /^/,
    submodule: /^foreach$/,
    bisect: /^run$/,
  }),
);

type Fetcher = { values: string; risky: string; long: RegExp };

/** Options that write or send a file, or lead to another address than the one that is named. */
const curl: Fetcher = {
  values: "AbCcDdEeFHhKkmoPQrTtUuwXxYyz",
  risky: "KxoOJTFDcnEQP",
  long: /^--(conf|prox|prep|socks|conn.*-to|resol|doh|url|next|outp|remot|uploa|form|dump|cookie-j|trac|libc|unix|abstr|netr|cert|key|stder|etag-s|hsts|alt|engi|caf?|cacert|capa|interf|quote|post|ftp-port)/,
};
const wget: Fetcher = {
  values: "abcDeAGilOoPQRtTUwXY",
  risky: "OPieoarm",
  long: /^--(outp|direct|input|exec|post-f|body-f|conf|append|save|load|warc|use-ask|content-d|trust|recur|mirror|ca-|prox)/,
};

function fetches(arg: string, { values, risky, long }: Fetcher): boolean {
  // A file that is sent away is named after an `@`.
  if (arg.startsWith("@") || arg.includes("%output{")) return true;
  if (arg.startsWith("--")) return long.test(arg) || /=@/.test(arg);
  if (!/^-[^-]/.test(arg)) return false;
  for (let n = 1; n < arg.length; n++) {
    if (risky.includes(arg[n]!)) return true;
    if (values.includes(arg[n]!)) return arg[n + 1] === "@";
  }
  return false;
}

/** Values are expanded, and what they call is run. */
function runsInMake(arg: string): boolean {
  return /[$`;&|<>\n]/.test(arg) || /^\.?(SHELL|SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES)\s*[+:?!]*=/.test(arg);
}

function isPlainSed(args: readonly string[]): boolean {
  const flags = args.filter((arg) => arg.startsWith("-") && arg !== "-e");
  if (!flags.every((flag) => /^-[nErsuz]+$/.test(flag))) return false;
  const given = args.filter((_, i) => args[i - 1] === "-e");
  const scripts = args.includes("-e") ? given : [args.find((arg) => !arg.startsWith("-")) ?? ""];
  return scripts.length > 0 && scripts.every(isPlain);
}

function isPlainAwk(args: readonly string[]): boolean {
  return args.every((arg) => (arg.startsWith("-") ? /^-(v$|F)/.test(arg) : !/system|getline|ARGV|[|>@]/.test(arg)));
}
