import type { Word } from "../shell/read/word.ts";
import { currentFolder } from "./use.ts";
import type { Use } from "./use.ts";

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

const files = new Set(["-newer", "-anewer", "-cnewer", "-samefile"]);

/** The places that `find` walks and the files it compares with; undefined with any test or action that is not listed. */
export function findUse(words: readonly Word[]): Use | undefined {
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
    const value = args[++at];
    if (value?.text === undefined) return undefined;
    if (files.has(text)) reads.push(value);
    else if (!valued.has(text) && !/^-newer[aBcmt][aBcmt]$/.test(text)) return undefined;
  }
  return { readOnly: true, reads, writes: [], deep: false };
}
