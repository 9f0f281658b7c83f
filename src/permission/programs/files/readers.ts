import { argumentsOf, type Arguments, type Options } from "./arguments.ts";
import { findUse } from "./find-command.ts";
import type { Word } from "../../shell/read/word.ts";
import { isPrintingAwk } from "./awk.ts";
import { isPlain, isPrinting } from "./sed.ts";
import { conditionUse, testUse } from "./test-command.ts";
import { currentFolder, type Use } from "./use.ts";

/** The use of a program that is known to read, undefined when it is given words that are not understood. */
export function readerUse(words: readonly Word[]): Use | undefined {
  const name = words[0]?.text ?? "";
  const special = specials.get(name);
  if (special !== undefined) return special(words);
  const reader = readers.get(name);
  const given = reader && argumentsOf(words, reader);
  if (reader === undefined || given === undefined) return undefined;
  const { operands, options, files } = given;
  if (reader.most !== undefined && operands.length > reader.most) return undefined;
  const has = (...names: string[]) => options.some((option) => names.includes(option.name));
  const patternGiven = has("-e", "-f", "--regexp", "--file", "--files", "--type-list");
  if (reader.operands === "text") return text(given);
  const skipped = reader.operands === "pattern" && !patternGiven ? 1 : 0;
  // A pattern that is not literal might be an option as well as a pattern.
  if (operands.slice(0, skipped).some((word) => word.text === undefined)) return undefined;
  const paths = operands.slice(skipped);
  const follows = reader.follows === "always" || has(...(reader.follows ?? "").split(" "));
  // Elsewhere these letters mean another thing: `ls -d` looks into nothing.
  const goesDown = reader.operands === "pattern" && has("-r", "--recursive", "-d", "--directories");
  const deep = reader.deep === true || follows || goesDown;
  const searches = reader.operands === "pattern" && deep;
  const inside = (reader.here === true || searches) && paths.length === 0 ? [currentFolder] : [];
  return { readOnly: true, reads: [...files, ...paths, ...inside], writes: [], deep, follows };
}

/** For a program whose words are no program themselves. */
export function plainReaderUse(words: readonly Word[]): Use | undefined {
  return readers.has(words[0]?.text ?? "") ? readerUse(words) : undefined;
}

export function isReader(name: string): boolean {
  return readers.has(name) || specials.has(name);
}

type Reader = Options & {
  /** Meaning of the operands: files (when absent), a pattern and then files, or mere text. */
  operands?: "pattern" | "text";
  /** Without a path it looks at the current folder. */
  here?: boolean;
  /** Reads the content of everything below a folder, without being told to. */
  deep?: boolean;
  most?: number;
  /** Options with which it goes where links lead, or that it always does. */
  follows?: string;
};

// Left out on purpose: whatever runs a program, writes, follows links out of a folder, or reads a list of files.
const readers = new Map<string, Reader>();
function reader(names: string, how: Reader): void {
  for (const name of names.split(" ")) readers.set(name, how);
}

reader("diff", {
  flags: "abBcdeEfhinNpqrstTuwyZ",
  values: "CFIUWxL",
  long:
    "brief report-identical-files recursive unified? context? side-by-side ignore-case ignore-all-space text minimal " +
    "ignore-space-change ignore-blank-lines ignore-trailing-space ignore-tab-expansion new-file color? label= width= " +
    "exclude= no-dereference strip-trailing-cr suppress-common-lines show-c-function normal left-column ignore-matching-lines=",
  // Two folders are compared through their links; and any operand may be a folder.
  follows: "always",
});
reader("ls", {
  // Not `-L`, which walks through links.
  flags: "aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1",
  values: "Iw",
  long:
    "all almost-all author escape block-size= color? classify? directory file-type format= full-time " +
    "group-directories-first hide= human-readable ignore= indicator-style= inode kibibytes no-group numeric-uid-gid " +
    "literal quote-name quoting-style= recursive reverse show-control-chars si size sort= time= time-style= width= zero",
  here: true,
});
reader("pwd", { flags: "LP", operands: "text" });
reader("cat", {
  flags: "AbeEnstTuv",
  long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
});
reader("head", {
  flags: "qvz",
  values: "nc",
  long: "lines= bytes= quiet silent verbose zero-terminated",
  digits: true,
});
reader("tail", {
  flags: "fFqvz",
  values: "ncs",
  long: "lines= bytes= quiet silent verbose zero-terminated follow? retry sleep-interval= pid=",
  digits: true,
});
reader("wc", { flags: "clmLw", long: "bytes chars lines words max-line-length total=" });
reader("nl", { flags: "p", values: "bdfhilnsvw" });
reader("tac", { flags: "br", values: "s" });
reader("rev", {});
reader("cut", {
  flags: "snz",
  values: "bcdf",
  long: "complement output-delimiter= only-delimited zero-terminated fields= delimiter= characters= bytes=",
});
reader("tr", { flags: "cCdst", long: "complement delete squeeze-repeats truncate-set1", operands: "text" });
reader("paste", { flags: "sz", values: "d" });
reader("column", { flags: "txeJL", values: "scoNRTHOWl" });
reader("comm", {
  flags: "123iz",
  long: "check-order nocheck-order output-delimiter= total zero-terminated",
  digits: true,
});
reader("cmp", { flags: "blsz", values: "in", long: "print-bytes verbose quiet silent bytes= ignore-initial=" });
reader("sort", {
  flags: "bdfghiMnRrVcCmsuz",
  values: "ktS",
  long:
    "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort " +
    "human-numeric-sort numeric-sort random-sort reverse version-sort sort= check? merge stable unique key= " +
    "field-separator= zero-terminated parallel= buffer-size= debug",
});
reader("uniq", {
  flags: "cdDiuz",
  values: "fsw",
  long: "count repeated unique ignore-case skip-fields= skip-chars= check-chars= all-repeated? group? zero-terminated",
  most: 1,
});
reader("grep egrep fgrep", {
  anyValue: true,
  flags: "abcEFGHhiILlnoPqRrsTUuVvwxyZz",
  values: "ABCDdefm",
  files: "-f --file",
  long:
    "extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case no-ignore-case word-regexp " +
    "line-regexp null-data no-messages invert-match max-count= byte-offset line-number line-buffered with-filename " +
    "no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive include= exclude= " +
    "exclude-dir= files-without-match files-with-matches count initial-tab null after-context= before-context= context= " +
    "color? colour? dereference-recursive",
  digits: true,
  operands: "pattern",
  follows: "-R --dereference-recursive",
});
reader("rg", {
  anyValue: true,
  flags: "acFHhIilNnoPpqSsUuvwx0.",
  values: "ABCEefgjmMrtTd",
  files: "-f --file",
  long:
    "files files-with-matches files-without-match count count-matches ignore-case smart-case case-sensitive line-number " +
    "no-line-number hidden no-hidden no-ignore no-ignore-vcs no-ignore-global no-ignore-parent no-ignore-dot glob= iglob= " +
    "type= type-not= type-list max-count= max-depth= max-columns= max-filesize= context= after-context= before-context= " +
    "color= colors= column no-column heading no-heading json pretty stats sort= sortr= only-matching fixed-strings " +
    "word-regexp line-regexp invert-match multiline multiline-dotall pcre2 replace= regexp= file= text trim vimgrep null " +
    "passthru no-messages quiet with-filename no-filename unrestricted encoding= threads= no-config byte-offset crlf " +
    "engine= one-file-system",
  operands: "pattern",
  here: true,
  deep: true,
});
reader("fd fdfind", {
  flags: "HIusigFap01q",
  values: "detESjco",
  long:
    "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob regex fixed-strings and= absolute-path " +
    "full-path max-depth= min-depth= exact-depth= prune type= extension= exclude= size= changed-within= changed-before= " +
    "format= max-results= quiet color= threads= strip-cwd-prefix? print0 one-file-system",
  operands: "pattern",
  here: true,
});
reader("stat", { flags: "Lft", values: "c", long: "dereference file-system terse format= printf= cached=" });
reader("du", {
  flags: "0abcDHhklmSsxP",
  values: "dBt",
  long:
    "all bytes total human-readable summarize max-depth= apparent-size block-size= exclude= one-file-system " +
    "separate-dirs si threshold= time? null inodes count-links",
  here: true,
});
reader("file", {
  flags: "bhikLNnprv0",
  long: "brief mime mime-type mime-encoding keep-going dereference no-dereference no-pad no-buffer raw print0",
});
reader("od", {
  flags: "abcdfiloxsv",
  values: "AjNtwS",
  long: "address-radix= skip-bytes= read-bytes= format= output-duplicates width?",
});
reader("hexdump hd", { flags: "bcCdovx", values: "ns" });
reader("xxd", { flags: "abeEipu", values: "cglos", most: 1 });
reader("strings", { flags: "adfwT", values: "ntes", long: "all bytes= print-file-name radix= encoding=" });
reader("basename", { flags: "az", values: "s", long: "multiple suffix= zero", operands: "text" });
reader("dirname", { flags: "z", long: "zero", operands: "text" });
reader("realpath", {
  flags: "eLmPqsz",
  long: "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero relative-to= relative-base=",
});
reader("readlink", {
  flags: "efmnqsvz",
  long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
});
reader("which", { flags: "as", long: "all", operands: "text" });
reader("type", { flags: "afptP", operands: "text" });
reader("seq", { flags: "w", values: "fs", long: "equal-width format= separator=", operands: "text", digits: true });
reader("sleep", { operands: "text" });
reader("uname", {
  flags: "amnrspvio",
  long: "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system",
});
reader("uptime", { flags: "ps", long: "pretty since", most: 0 });
reader("free", { flags: "bkmghltw", long: "bytes kibi mebi gibi human si lohi total wide", most: 0 });
reader("hostname", { flags: "fsdIA", most: 0 });
reader("jobs", { flags: "lprs", most: 0 });
reader("whoami nproc arch tty groups", { operands: "text", flags: "a", long: "all ignore=", most: 0 });
reader("df", {
  flags: "ahHiklmPTx",
  values: "Bt",
  long: "all human-readable inodes local output? total type=",
  here: true,
});
reader("id", { flags: "agGnruzZ", long: "user group groups name real zero context", operands: "text" });
reader("sha1sum sha224sum sha256sum sha384sum sha512sum md5sum", { flags: "btz", long: "binary text tag zero" });
reader("shasum", { flags: "btU0", values: "a", long: "algorithm= binary text tag" });
reader("tree", {
  flags: "adfxipshugDFqNnCASQcrtvUJX",
  values: "LIP",
  long:
    "dirsfirst filesfirst noreport prune gitignore du si inodes device sort= matchdirs ignore-case charset= filelimit= " +
    "timefmt=",
  here: true,
});

/** Operands that are printed or compared, and no files, unless they are patterns of file names. */
const text = (given: Arguments | undefined): Use | undefined =>
  given && {
    readOnly: given.operands.every(
      (word) => word.text !== undefined || word.glob !== undefined || word.printable === true,
    ),
    reads: given.operands.filter((word) => word.glob !== undefined),
    writes: [],
    deep: false,
  };
/** Does nothing with its words, but a pattern among them shows which files there are. */
const nothing = (all: readonly Word[]): Use => files(all.slice(1).filter((word) => word.glob !== undefined));
const words = (all: readonly Word[]): Use | undefined => text({ operands: all.slice(1), options: [], files: [] });
const files = (reads: Word[]): Use => ({ readOnly: true, reads, writes: [], deep: false });

// A map, because a command may be called `constructor`.
const specials = new Map<string, (words: readonly Word[]) => Use | undefined>(
  Object.entries({
    true: nothing,
    false: nothing,
    ":": nothing,
    // Everything after the name is printed; what looks like an option is one or is printed too.
    echo: words,
    // Not `-v`: an index in the name is evaluated, and commands in it run.
    printf: (all) => (all[1]?.text?.startsWith("-") === true || setsVariable(all) ? undefined : words(all)),
    test: (all) => testUse(all.slice(1)),
    "[": (all) => testUse(all.slice(1, -1)),
    "[[": (all) => conditionUse(all.slice(1, -1)),
    less: (all) => pagerUse(all, { flags: "eEFfiIMmNnQqRrSsXx" }),
    more: (all) => pagerUse(all, { flags: "s" }),
    date: dateUse,
    jq: jqUse,
    sed: sedUse,
    ...Object.fromEntries(["awk", "gawk", "mawk", "nawk"].map((name) => [name, awkUse])),
    find: (all) => findUse(all, plainReaderUse),
    // Only in the form that looks a name up.
    command: (all) => (/^-[vV]$/.test(all[1]?.text ?? "") ? text(argumentsOf(all, { flags: "vV" })) : undefined),
  }),
);

/** Its output is never a terminal here, and so it only copies. A word with a plus would be an order for it. */
function pagerUse(words: readonly Word[], options: Options): Use | undefined {
  const given = argumentsOf(words, options);
  return given?.operands.every(({ text, lead }) => !(text ?? lead).startsWith("+")) ? files(given.operands) : undefined;
}

/** `printf -v name` does, and so does `%n` in a format, be it `%hn`; a format that is not known may hold one. */
export function setsVariable([, first, second]: readonly Word[]): boolean {
  const format = first?.text === "--" ? second?.text : first?.text;
  return format === undefined || format.startsWith("-v") || /%[^%A-Za-z]*[hjlLqtwz]*n/.test(format);
}

function dateUse(words: readonly Word[]): Use | undefined {
  const given = argumentsOf(
    words.filter(({ text }) => !/^(-I|--iso-8601=?)(date|hours|minutes|seconds|ns)?$/.test(text ?? "")),
    { flags: "uR", values: "dr", files: "-r --reference", long: "utc universal date= reference= rfc-3339= rfc-email" },
  );
  return given?.operands.every((word) => word.text?.startsWith("+") === true) ? files(given.files) : undefined;
}

const jqFlags = new Set(
  (
    "raw-output compact-output null-input exit-status slurp sort-keys ascii-output join-output monochrome-output color-output tab " +
    "raw-input seq stream unbuffered"
  ).split(" "),
);

/** Word by word, for some of its options eat the next one or two, whatever those look like. */
function jqUse(words: readonly Word[]): Use | undefined {
  const operands: Word[] = [];
  for (let n = 1; n < words.length; n++) {
    const word = words[n]!;
    const { text } = word;
    if (text === "--") {
      operands.push(...words.slice(n + 1));
      break;
    }
    if (text === "--arg" || text === "--argjson") n += 2;
    else if (text === "--indent") {
      if (!/^[0-7]$/.test(words[++n]?.text ?? "")) return undefined;
    } else if (text === undefined || text === "-" || !text.startsWith("-")) {
      if (text === undefined && (word.lead.startsWith("-") || word.splits)) return undefined;
      operands.push(word);
    } else if (text.startsWith("--") ? !jqFlags.has(text.slice(2)) : !/^-[rcnesSajMC]+$/.test(text)) return undefined;
  }
  const [filter, ...inputs] = operands;
  if (filter?.text === undefined) return undefined;
  // The environment holds secrets, and modules are files.
  if (/\benv\b|\$(?![a-z])|\b(import|include|modulemeta|get_search_list|input_filename)\b/.test(filter.text))
    return { ...files(inputs), readOnly: false };
  return files(inputs);
}

/** Free with a program that only prints. After the program every word is a file, whatever it looks like. */
function awkUse(words: readonly Word[]): Use | undefined {
  const given = argumentsOf(words, { values: "vF" });
  const [program, ...inputs] = given?.operands ?? [];
  if (given === undefined || program === undefined) return undefined;
  if (words.slice(words.indexOf(program) + 1).some(({ text, lead }) => (text ?? lead).startsWith("-")))
    return { ...files(inputs), readOnly: false };
  const prints = program.text !== undefined && isPrintingAwk(program.text);
  return { ...files(inputs), readOnly: prints, ...(prints && { closed: true }) };
}

/** Only reads with a script that prints, removes or replaces what goes through, and nothing else. */
function sedUse(words: readonly Word[]): Use | undefined {
  const given = argumentsOf(words, { flags: "nErsuz", values: "e", long: "quiet silent expression= regexp-extended" });
  if (given === undefined) return undefined;
  const silent = given.options.some(({ name }) => /^(-n|--quiet|--silent)$/.test(name));
  const scripts = given.options
    .filter(({ name }) => name === "-e" || name === "--expression")
    .map(({ value }) => value);
  const [first, ...rest] = given.operands;
  const all = scripts.length > 0 ? scripts : [first?.text];
  const prints = all.every((script) => script !== undefined && isPrinting(script));
  const isPlainSed = all.every((script) => script !== undefined && isPlain(script));
  return { ...files(scripts.length > 0 ? given.operands : rest), readOnly: (silent && prints) || isPlainSed };
}
