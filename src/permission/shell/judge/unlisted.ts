import { isAbsolute, join, resolve } from "node:path";
import { subcommandAt } from "../../programs/git/git-words.ts";
import { placeWritten } from "../../programs/guarded-programs.ts";
import { type Reason, reason } from "../../../protocol/reasons/reason.ts";
import type { Reach } from "../../rules/access.ts";
import type { CommandView } from "./command-view.ts";
import type { JudgedPart } from "./shell-finding.ts";
import { judgeTarget } from "./judge-target.ts";
import { type Target, type Where, gluedTo, namesIn, operandTargets } from "./files/targets.ts";
import type { Word } from "../read/word.ts";
import { isInside, statOf } from "../../paths/canonical.ts";
import { isA } from "../../programs/table.ts";
import { baseName } from "../../text/tokens.ts";

/**
 * Parts that ask because what a program does with its words is not in our tables. Given a protected path it asks whatever
 * rule or mode allows it; under a rule also when it works in another folder than this one. Words that stand in the rule
 * were meant.
 */
export function unlistedParts(view: CommandView, where: Where, reach: Reach): JudgedPart[] {
  const { program, allowed, rule, words, meant } = view;
  const given = words.slice(1).filter(({ text }) => text === undefined || !meant.has(text));
  const guarded = guardedPart(view, given, where, reach);
  if (guarded) return [guarded];
  if (!allowed || rule === undefined || program.kind !== "other") return [];
  const folders = operandTargets({ readOnly: false, reads: foldersIn(given), writes: [], deep: false }, where);
  const parts = folders.flatMap((target) => judgeTarget(target, reach));
  if (words[0]?.text === "git")
    return [...parts, ...outside(given, where, reach).flatMap((target) => judgeTarget(target, reach))];
  for (const word of given) {
    // A file that a pattern stands for may be called `--eval=…`.
    if (word.glob === undefined || word.lead.startsWith("-")) continue;
    if (!namesIn(word, where).some((name) => name.startsWith("-"))) continue;
    const why = reason("file-like-option", {});
    parts.push({ text: where.source(word), behavior: "ask", reason: why, need: { kind: "nothing" } });
  }
  return parts;
}

/** A protected path that the command is given, or that it writes without being given one. */
function guardedPart(view: CommandView, given: readonly Word[], where: Where, reach: Reach): JudgedPart | undefined {
  const { program, words, meant } = view;
  const texts = words.map(({ text }) => text ?? "\0");
  const written = texts.every((text) => meant.has(text)) ? undefined : placeWritten(texts);
  if (written) {
    const mustAsk = reason("protected", { path: written.place, kind: written.kind });
    return { text: words.map(where.source).join(" "), behavior: "ask", reason: mustAsk, mustAsk };
  }
  if (program.use !== undefined) return undefined;
  const unpacked = unpacksRepository(texts, where, meant);
  if (unpacked)
    return { text: words.map(where.source).join(" "), behavior: "ask", reason: unpacked, mustAsk: unpacked };
  for (const word of texts[0] === "git" ? pathsOfGit(texts, given) : given) {
    const glued = gluedTo(word).map(({ text }) => text!);
    const names = [...namesIn(word, where), ...glued].flatMap(piecesOf);
    const mustAsk =
      names.flatMap((name) => where.bases.map((base) => touched(name, base, where, reach))).find(Boolean) ??
      opensHome(words, names, where);
    if (mustAsk) return { text: where.source(word), behavior: "ask", reason: mustAsk, mustAsk };
  }
  return undefined;
}

/** Git's subcommands that write what they are given; the rest write only what `--output` names. */
function pathsOfGit(texts: readonly string[], given: readonly Word[]): readonly Word[] {
  const args = texts.slice(1);
  if (onlyKeeps.has(args[subcommandAt(args)] ?? ""))
    return given.filter(({ lead }, n) => lead.startsWith("--o") || /^--o[a-z]*$/.test(given[n - 1]?.text ?? ""));
  return given.filter((_, n) => !/^(-[a-z]*m|--message|--author|--date)$/.test(given[n - 1]?.text ?? ""));
}

const onlyKeeps = new Set(
  (
    "add commit diff log show status blame ls-files ls-tree stash grep check-ignore check-attr rev-list rev-parse shortlog " +
    "whatchanged range-diff describe cat-file diff-tree diff-index diff-files update-index push fetch tag branch merge"
  ).split(" "),
);

/** Git reads and writes files anywhere. A protected one it may be given: it writes those without being given any, too. */
function outside(words: readonly Word[], where: Where, reach: Reach): Target[] {
  const isSaid = (i: number) => /^(-[a-z]*m|--message|--author|--date)$/.test(words[i - 1]?.text ?? "");
  const paths = words.flatMap((word, i): Word[] => {
    if (word.text === undefined || isSaid(i) || isAddress.test(word.text)) return [];
    const names = piecesOf(word.text).filter((name) => !name.startsWith("-"));
    return [...names.map((text) => ({ ...word, text, lead: text })), ...gluedTo(word)];
  });
  const targets = operandTargets({ readOnly: false, reads: paths, writes: [], deep: false }, where);
  return targets.filter(({ paths: led }) => led.some((path) => !reach.inside(path)));
}

const isAddress = /^(?!file:)[a-z][a-z0-9+.-]*:\/\/|^[\w.-]+@[\w.-]+:/i;

/** Why nothing should be written to the path that this may be. */
function touched(name: string, base: string, { disk }: Where, reach: Reach): Reason | undefined {
  const lexical = resolve(base, name);
  let real = lexical;
  try {
    real = disk.follow(isAbsolute(name) ? name : `${base}/${name}`);
  } catch {
    // No path at all, or one that leads nowhere: judged by its name.
  }
  return reach.guarded({ lexical, real });
}

const folderOptions = "--directory --cwd --chdir --prefix --work-tree --git-dir --manifest-path".split(" ");

function foldersIn(words: readonly Word[]): Word[] {
  return words.flatMap((word, i): Word[] => {
    const { text = "" } = word;
    // Abbreviated, or after other letters: `--dir x`, `-kC x`.
    const [, long, given] = /^(--[a-z-]{2,})(?:=([^]*))?$/.exec(text) ?? [];
    const isLong = long !== undefined && folderOptions.some((option) => option.startsWith(long));
    const short = /^-[A-Za-z]{0,3}?C=?([^]*)$/.exec(text)?.[1];
    if (!isLong && short === undefined) return [];
    const value = given ?? short ?? "";
    if (value !== "") return [{ ...word, text: value, lead: value }];
    const next = words[i + 1];
    return next === undefined ? [] : [next];
  });
}

/** A path may be the value of an option or come after a sign. */
function piecesOf(word: string): string[] {
  return [word, ...word.split(/[=@:,]/).slice(1)].filter((piece) => piece !== "" && !piece.includes("\0"));
}

/** An archive into the home folder, or a container that is given it, may replace any start file. */
function opensHome(words: readonly Word[], names: readonly string[], { bases, home, disk, source }: Where) {
  const spelled = (word: Word) =>
    source(word)
      .replace(/["'{}]/g, "")
      .replace(/(^|=)\$HOME\b/g, (_, before: string) => before + home);
  const texts = words.map((word) => word.text ?? spelled(word));
  const program = baseName(texts[0] ?? "");
  const isContainer = isA("container", program) && texts.some((text) => /^(-v|--volume|--mount)/.test(text));
  if (!isA("unpacker", program) && !isContainer) return undefined;
  const real = followed(home, disk);
  const given = isContainer ? mounted(texts) : names;
  const path = given
    .filter((name) => !name.startsWith("-"))
    .flatMap((name) => bases.map((base) => followed(resolve(base, name), disk)))
    .find((folder) => isInside(folder, real));
  if (path === undefined) return undefined;
  return reason(isContainer ? "mounts-home" : "unpacks-home", { path });
}

/** Folders of this machine that a container is given: `-v a:b`, `--mount source=a,target=b`. */
function mounted(texts: readonly string[]): string[] {
  return texts.flatMap((text, n) => {
    const value = /^(?:-v|--volume=|--mount=)(.+)$/.exec(text)?.[1];
    const given = value ?? (/^(-v|--volume|--mount)$/.test(texts[n - 1] ?? "") ? text : "");
    return [given.split(":")[0]!, /(?:^|,)(?:source|src)=([^,]+)/.exec(given)?.[1] ?? ""].filter((name) =>
      /^[/~.]/.test(name),
    );
  });
}

/** A repository that an archive is unpacked into: what comes out may be a hook of git, and nobody has looked. */
function unpacksRepository(texts: readonly string[], { bases }: Where, meant: ReadonlySet<string>): Reason | undefined {
  const program = baseName(texts[0] ?? "");
  const args = texts.slice(1);
  // A rule that says to unpack meant it.
  if (!extracts(program, args) || args.some((arg) => meant.has(arg) && extracts(program, [arg]))) return undefined;
  const given = args.flatMap((arg, n) => {
    const glued = /^(?:--directory=|--dir[a-z]*=|-C|-d|-o)(.+)$/.exec(arg)?.[1];
    return glued ?? (/^(-[A-Za-z]*C|--dir[a-z]*|-d)$/.test(args[n - 1] ?? "") ? arg : []);
  });
  const folders = bases.flatMap((base) => (given.length === 0 ? [base] : given.map((folder) => resolve(base, folder))));
  const path = folders.find((folder) => !folder.includes("\0") && statOf(join(folder, ".git")) !== undefined);
  return path === undefined ? undefined : reason("unpacks-repository", { path });
}

function extracts(program: string, args: readonly string[]): boolean {
  switch (program) {
    case "tar":
    case "gtar":
    case "bsdtar":
      return args.some(
        (arg, n) => /^--(ext|get)/.test(arg) || ((n === 0 || /^-[^-]/.test(arg)) && /^-?[A-Za-z]*x/.test(arg)),
      );
    case "unzip":
      return !args.some((arg) => /^-[A-Za-z]*[lvtpzZ]/.test(arg));
    case "7z":
    case "7za":
      return args[0] === "x" || args[0] === "e";
    case "cpio":
      return args.some((arg) => /^(-[a-z]*i|--extract)/.test(arg));
    case "pax":
      return args.some((arg) => /^-[a-z]*r/.test(arg));
    case "jar":
      return /^-?[a-z]*x/.test(args[0] ?? "") || args.includes("--extract");
    default:
      return false;
  }
}

function followed(path: string, disk: Where["disk"]): string {
  try {
    return disk.follow(path);
  } catch {
    return path;
  }
}
