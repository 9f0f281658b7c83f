import { basename, isAbsolute, join, resolve } from "node:path";
import { reason, type Reason } from "../../../../protocol/reasons/reason.ts";
import { expandHome, isFolder, type CanonicalPath, type Disk } from "../../../paths/canonical.ts";
import type { Word } from "../../read/word.ts";
import { spelledOut } from "../../../text/braces.ts";
import { expandPattern } from "../flow/expand-pattern.ts";
import type { Redirect } from "../../read/script.ts";
import type { Use, Write } from "../../../programs/files/use.ts";

/** A file or folder that a command reads or writes: every path it may be. */
export type Target = {
  /** The word as it stands in the command, and as the program is given it. */
  shown: string;
  text: string | undefined;
  writes: boolean;
  paths: CanonicalPath[];
  /** With everything below, and with `follows` also where links below lead. */
  deep: boolean;
  follows: boolean;
  /** No name below may have blanks or quotes in it, or look like an option. */
  plain?: true;
  /** False when nothing is put into it, as when it is removed. */
  content: boolean;
  /** Only perhaps: rules against it count, and none is needed for it. */
  maybe: boolean;
  /** The folders whose content comes to lie here. */
  from: string[];
  /** Why it is not known what this is. */
  trouble?: Reason;
};

export type Where = {
  home: string;
  bases: readonly string[];
  disk: Disk;
  /** The same line does more than this: what is no folder yet may be one by then. */
  busy: boolean;
  source(word: Word): string;
};

/** Files that the shell itself opens for a command. Free of charge: three well-known devices, and copies of descriptors. */
export function redirectTargets(redirects: readonly Redirect[], where: Where): Target[] {
  return redirects.flatMap(({ op, target }): Target[] => {
    const { text } = target;
    if (op.startsWith("<<") || op.endsWith("&-")) return [];
    if ((op === ">&" || op === "<&") && text !== undefined && /^(\d+-?|-)$/.test(text)) return [];
    if (text === "/dev/null" || text === "/dev/stdout" || text === "/dev/stderr") return [];
    const shown = `${op} ${where.source(target)}`;
    // The shell decides which of several files a pattern opens when it runs.
    const plain = { ...target, glob: undefined };
    return [{ ...aim(plain, where), shown, writes: op !== "<" }];
  });
}

/** Files that the program opens, by its words. */
export function operandTargets({ reads, writes, deep, follows = false, plain }: Use, where: Where): Target[] {
  const isFree = ({ text }: Word) => text === "-" || text === "/dev/null";
  return [
    ...reads
      .filter((word) => !isFree(word))
      .map((word) => ({ ...aim(word, where), deep, follows, ...(plain && { plain }) })),
    // Free to read, not to remove or replace.
    ...writes
      .filter(({ target: { text }, appends }) => text !== "-" && !(appends && text === "/dev/null"))
      .flatMap((write) => writeTargets(write, where)),
  ];
}

/** Possible values in `-fx` or `-qfx`, where it is not known to which letter they belong. */
export function gluedTo(word: Word): Word[] {
  const letters = /^-([A-Za-z0-9]{1,4})/.exec(word.text ?? "")?.[1] ?? "";
  const values = [...letters].map((_, i) => word.text!.slice(i + 2)).filter((value) => value !== "");
  return values.map((text) => ({ ...word, text, lead: text }));
}

function writeTargets(
  { target, from = [], onto = false, deep = false, content = true }: Write,
  where: Where,
): Target[] {
  const aimed = { ...aim(target, where), writes: true, content };
  const sources = from.map((word) => aim(word, where));
  const isTree = (paths: readonly CanonicalPath[]) => deep && paths.some(({ real }) => isFolder(real));
  if (sources.length === 0) return [{ ...aimed, deep: isTree(aimed.paths) }];
  const trees = sources.filter(({ paths }) => isTree(paths)).flatMap(({ paths }) => paths.map(({ real }) => real));
  const isThere = aimed.paths.some(({ real }) => isFolder(real));
  const surely = where.busy || sources.length > 1 || isThere;
  // Into a folder that is there comes a folder of the source's name, and nothing else in it is touched; but of `src/.`
  // everything comes by itself.
  const loose = onto || from.some(({ text = "/" }) => /(^|\/)\.{0,2}\/*$/.test(text));
  const whole: Target = { ...aimed, deep: trees.length > 0 && (loose || !isThere), from: trees };
  if (onto) return [whole];
  return [
    whole,
    ...sources.map((source): Target => {
      const within = aimed.paths.flatMap(({ lexical }) =>
        source.paths.map((path) => canonical(join(lexical, basename(path.lexical)), where)),
      );
      return {
        ...source,
        shown: aimed.shown,
        writes: true,
        paths: within,
        deep: trees.length > 0,
        maybe: !surely,
        from: trees,
      };
    }),
  ];
}

function aim(word: Word, where: Where): Target {
  const target = (paths: CanonicalPath[], trouble?: Reason): Target => ({
    shown: where.source(word),
    text: word.text,
    writes: false,
    paths,
    deep: false,
    follows: false,
    maybe: false,
    content: true,
    from: [],
    ...(trouble !== undefined && { trouble }),
  });
  if (word.glob !== undefined) {
    const found = where.bases.map((base) => expandPattern(word.glob!, base, where.disk));
    // Rules against the folder hold all the same.
    if (found.includes(undefined))
      return target(
        where.bases.map((base) => locate(word.lead, base, where)),
        reason("files-too-many", {}),
      );
    const paths = where.bases.flatMap((base, i) => found[i]!.map((name) => locate(name, base, where)));
    const odd = found.flat().some((name) => name!.startsWith("-"));
    return target(paths, odd ? reason("file-like-option", {}) : undefined);
  }
  const { text, choices } = word;
  // The output of a command under the name of a file: the command itself is judged.
  if (word.pipe) return target([]);
  if (choices !== undefined) {
    const paths = choices
      .filter((name) => name !== "")
      .flatMap((name) => where.bases.map((base) => locate(name, base, where)));
    return target(paths, deviceIn(paths) ?? (word.tame ? undefined : reason("file-like-option", {})));
  }
  if (text === undefined) {
    const names = namesIn(word, where).map((name) => expandHome(name, where.home));
    const paths = names.filter((name) => name !== "" && !/[$`*?[]/.test(name) && name !== word.lead);
    return target(
      paths.flatMap((name) => where.bases.map((base) => locate(name, base, where))),
      reason("file-unknown", {}),
    );
  }
  if (text === "") return target([], reason("file-unnamed", {}));
  const paths = where.bases.map((base) => locate(text, base, where));
  return target(paths, deviceIn(paths));
}

function deviceIn(paths: readonly CanonicalPath[]): Reason | undefined {
  const device = paths.flatMap(({ lexical, real }) => [lexical, real]).find((path) => /^\/(dev|proc)(\/|$)/.test(path));
  return device === undefined ? undefined : reason("not-a-file", { path: device });
}

/** Resolves a path as the system does: dots after links, unlike a tool, which takes them as they are written. */
function locate(text: string, base: string, { disk }: Where): CanonicalPath {
  return { lexical: resolve(base, text), real: disk.follow(isAbsolute(text) ? text : `${base}/${text}`) };
}

function canonical(path: string, { disk }: Where): CanonicalPath {
  return { lexical: path, real: disk.follow(path) };
}

/** Names in a word by a generous reading: itself, the files it stands for, and what it looks like. */
export function namesIn(word: Word, { bases, disk, source }: Omit<Where, "busy">): string[] {
  if (word.text !== undefined) return [word.text];
  if (word.choices !== undefined) return [...word.choices];
  const look = (pattern: string) => bases.flatMap((base) => expandPattern(pattern, base, disk) ?? []);
  const spelled = spelledOut(source(word).replace(/["'\\]/g, ""));
  const listed = spelled.length > 1 ? spelled.filter((text) => /[*?[]/.test(text)).flatMap(look) : [];
  return [word.lead, ...spelled, ...listed, ...(word.glob === undefined ? [] : look(word.glob))];
}

/** With its pattern looked up, if it has one. */
export function tamed(word: Word, bases: readonly string[], disk: Disk): Word {
  if (word.glob === undefined) return word;
  const found = bases.map((base) => expandPattern(word.glob!, base, disk));
  const tame = found.every((names) => names?.every((name) => !name.startsWith("-")) === true);
  return tame ? { ...word, tame } : word;
}
