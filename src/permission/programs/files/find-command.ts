import type { Word } from "../../shell/read/word.ts";
import { currentFolder, type Use } from "./use.ts";

const alone = new Set(
  (
    "-print -print0 -ls -prune -quit -empty -readable -writable -executable -true -false -not -and -or -a -o -depth -d " +
    "-mount -xdev -daystart -noleaf -nouser -nogroup -ignore_readdir_race ! ( ) ,"
  ).split(" "),
);

const valued = new Set(
  (
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime " +
    "-amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -used -fstype -lname -ilname"
  ).split(" "),
);

/** No name that is found below it looks like an option. */
function isPlainPlace({ text }: Word): boolean {
  return text !== undefined && !text.startsWith("-");
}

const files = new Set(["-newer", "-anewer", "-cnewer", "-samefile"]);

/** The places that `find` walks and the files it compares with; undefined with any test or action that is not listed. */
export function findUse(words: readonly Word[], inner: (words: readonly Word[]) => Use | undefined): Use | undefined {
  let ran = false;
  const args = words.slice(1);
  const isPlace = ({ text, lead }: Word) => !/^[-!(),]/.test(text ?? lead) && (text ?? lead) !== "";
  let at = args.findIndex((word) => !/^-([HP]|O\d)$/.test(word.text ?? ""));
  if (at < 0) at = args.length;
  const reads: Word[] = [];
  for (; at < args.length && isPlace(args[at]!); at++) reads.push(args[at]!);
  if (reads.length === 0) reads.push(currentFolder);
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? "";
    if (alone.has(text)) continue;
    if (text === "-exec") {
      // Each file that is found is read through its links.
      const words = executed(args, at);
      const use = words && reads.every(isPlainPlace) ? inner(words) : undefined;
      if (use?.readOnly !== true || use.closed) return undefined;
      if (!words!.every(({ text }) => text !== undefined && (text === "{}" || !text.includes("{}")))) return undefined;
      if (words!.some((word) => word.text === "{}" && !use.reads.includes(word))) return undefined;
      reads.push(...use.reads.filter((word) => word.text !== "{}"));
      at += words!.length + 1;
      ran = true;
      continue;
    }
    const value = args[++at];
    if (value?.text === undefined) return undefined;
    if (files.has(text)) reads.push(value);
    else if (!valued.has(text) && !/^-newer[aBcmt][aBcmt]$/.test(text)) return undefined;
  }
  return { readOnly: true, reads, writes: [], deep: ran, follows: ran, ...(ran && { closed: true }) };
}

/** Words after `-exec`, up to the sign that ends them. */
function executed(args: readonly Word[], from: number): readonly Word[] | undefined {
  const end = args.findIndex(
    ({ text }, n) => n > from && (text === ";" || (text === "+" && args[n - 1]?.text === "{}")),
  );
  return end < 0 ? undefined : args.slice(from + 1, end);
}
