import { type Word, literalWord } from "../../shell/read/word.ts";
import type { Use } from "./use.ts";

/** Names that a command prints for `xargs`: all of them at or below these places, each on a line or ended by a zero. */
export type Listing = { places: readonly Word[]; zeros: boolean };

type Reads = (words: readonly Word[]) => Use | undefined;

/** The use of `xargs` with a program that only reads; undefined unless it is known which files that is given. */
export function xargsUse(words: readonly Word[], listing: Listing | undefined, reads: Reads): Use | undefined {
  const { inner, zeros, replaces } = innerOf(words);
  if (inner.length === 0 || inner.some(({ text }) => text === undefined)) return undefined;
  // These print their input, which was printed before.
  if (printing.has(inner[0]!.text!)) return { readOnly: true, reads: [], writes: [], deep: false, closed: true };
  if (listing === undefined || replaces || listing.zeros !== zeros) return undefined;
  // With two, for the second file of some programs is written; and with none, which must not mean everything.
  const given = [literalWord("a"), literalWord("b")];
  const use = reads([...inner, ...given]);
  if (use?.readOnly !== true || use.closed || !given.every((word) => use.reads.includes(word))) return undefined;
  if (use.deep || reads(inner)?.deep !== false) return undefined;
  const own = use.reads.filter((word) => !given.includes(word));
  return {
    readOnly: true,
    reads: [...own, ...listing.places],
    writes: [],
    deep: true,
    follows: true,
    closed: true,
    ...(!zeros && { plain: true }),
  };
}

const printing = new Set(["echo", "basename", "dirname"]);

function innerOf(words: readonly Word[]): { inner: readonly Word[]; zeros: boolean; replaces: boolean } {
  let at = 1;
  let [zeros, replaces] = [false, false];
  for (; ; at++) {
    const text = words[at]?.text ?? "";
    if (/^-(0|0r|r0)$|^--null$/.test(text)) zeros = true;
    else if (/^-I[^\s-]+$/.test(text)) replaces = true;
    else if (text === "-I" || /^-[nLP]$/.test(text)) {
      if (text === "-I") replaces = true;
      at++;
    } else if (!/^-(r|t|[nLP]\d+)$|^--no-run-if-empty$/.test(text)) break;
  }
  return { inner: words.slice(at), zeros, replaces };
}

/** The names that a command prints, if it prints nothing but names of files below the places that it is given. */
export function listingOf(words: readonly Word[], reads: Reads): Listing | undefined {
  const texts = words.map(({ text }) => text ?? "\0");
  const [name, ...args] = texts;
  const options = args.filter((arg) => arg.startsWith("-"));
  const printsNames = name === "find" ? findsNames(args) : printsOnlyNames(name ?? "", options);
  const use = printsNames && !texts.includes("\0") ? reads(words) : undefined;
  if (use?.readOnly !== true || use.closed) return undefined;
  const isPlain = ({ text }: Word) => text !== undefined && /^[^-\s'"\\][^\s'"\\]*$/.test(text);
  // Without a place it may speak of its standard input, which is no name.
  return use.reads.length > 0 && use.reads.every(isPlain)
    ? { places: use.reads, zeros: args.includes("-print0") }
    : undefined;
}

/** Not with `-printf`, which prints any text, nor with two ways to end a name. */
function findsNames(args: readonly string[]): boolean {
  if (args.some((arg) => /^-(printf|ls|exec)$/.test(arg))) return false;
  return !(args.includes("-print") && args.includes("-print0")) && args.filter((arg) => arg === "-print0").length < 2;
}

function printsOnlyNames(name: string, options: readonly string[]): boolean {
  switch (name) {
    case "grep":
      return (
        options.every((option) => /^-[rliEFwIs]+$|^--(include|exclude|exclude-dir)=[\w.*-]+$/.test(option)) &&
        options.some((option) => /^-\w*l/.test(option))
      );
    case "rg":
      return (
        options.every((option) => /^-[liFwsS]+$|^--files$/.test(option)) &&
        options.some((option) => option === "--files" || /^-\w*l/.test(option))
      );
    default:
      return false;
  }
}
