import { join } from "node:path";
import type { CanonicalPath, Disk, Place } from "./canonical.ts";
import { star, wild, type Star } from "../text/wild.ts";

/** A rule's path, made once and held against many. */
export type PathRule = { exact: Pattern; loose: Pattern[]; /** Names one file, without a star. */ literal: boolean };

/** `names` are what follows the anchor, after going `up` from it. */
type Pattern = {
  anchor: "cwd" | "home" | "root";
  up: number;
  names: (Name | Star)[];
  /** Matches everything below as well. */
  open: (Name | Star)[];
};
type Name = string | NamePattern;
type NamePattern = readonly (string | ((char: string) => boolean) | Star)[];

export function pathRuleOf(specifier: string): PathRule {
  // A directory may be called [id]: to a deny rule brackets are also what they look like.
  const spellings = specifier.includes("[") ? [specifier, specifier.replaceAll("[", "\\[")] : [specifier];
  const exact = patternOf(specifier, composed);
  const literal = exact.names.length > 0 && exact.names.every((name) => typeof name === "string");
  return { exact, loose: spellings.map((each) => patternOf(each, folded)), literal };
}

/** A path in the forms that rules compare. */
export type NamedPath = { composed: string[]; folded: string[]; canonical: boolean };

export function namesOf(path: string): NamedPath {
  const given = composed(slashed(path));
  const names = resolve(given);
  return { composed: names, folded: resolve(folded(slashed(path))), canonical: given === `/${names.join("/")}` };
}

/** Folders that rules are anchored to: as named, and where they really are. */
type Anchors = Record<"exact" | "loose", Record<Pattern["anchor"], string[][]>> & {
  place: Place;
  disk: Disk | undefined;
  /** Targets of the folders that rules name, looked up once; undefined for a folder that is no link. */
  led: Map<PathRule, readonly (Name | Star)[] | undefined>;
};

export function anchorsOf(place: Place, disk: Disk | undefined): Anchors {
  const both = (path: string, fold: (text: string) => string) => {
    const named = resolve(fold(slashed(path)));
    let real: string | undefined;
    try {
      real = disk?.follow(path);
    } catch {
      // Not to be found out: then rules hold for the place as it is named.
    }
    const led = real === undefined ? named : resolve(fold(slashed(real)));
    return led.join("/") === named.join("/") ? [named] : [named, led];
  };
  const anchors = (fold: (text: string) => string) => ({
    cwd: both(place.cwd, fold),
    home: both(place.home, fold),
    root: [[]],
  });
  return { exact: anchors(composed), loose: anchors(folded), place, disk, led: new Map() };
}

/** An allow is a proof: the path is canonical and exactly what the rule names. */
export function isCovered({ exact }: PathRule, path: NamedPath, anchors: Anchors): boolean {
  if (!path.canonical) return false;
  const { names } = exact;
  if (anchors.exact[exact.anchor].some((anchor) => matches(exact, anchor, path.composed, names))) return true;
  // Folders right below the root belong to the system; that /tmp is a link elsewhere is no trick of anybody here.
  const [first, ...rest] = names;
  if (exact.anchor !== "root" || typeof first !== "string" || anchors.disk === undefined) return false;
  const led = resolve(composed(ledTo(`/${first}`, anchors.disk)));
  return matches(exact, led, path.composed, rest);
}

/** A deny is a suspicion: letter case does not count, and a directory stands for everything below it. */
export function isMeant(rule: PathRule, path: NamedPath, anchors: Anchors): boolean {
  const direct = rule.loose.some((pattern) =>
    anchors.loose[pattern.anchor].some((anchor) => matches(pattern, anchor, path.folded, pattern.open)),
  );
  return direct || isMeantThroughLinks(rule, path, anchors);
}

/** The folder that a rule names may itself be a link, and be reached on another way. */
function isMeantThroughLinks(rule: PathRule, path: NamedPath, anchors: Anchors): boolean {
  let led = anchors.led.get(rule);
  if (led === undefined && !anchors.led.has(rule)) anchors.led.set(rule, (led = ledNames(rule, anchors)));
  return led !== undefined && wild(led, path.folded, sameName);
}

function ledNames({ exact, loose }: PathRule, { place, disk }: Anchors): readonly (Name | Star)[] | undefined {
  const pattern = exact.names.findIndex((name) => typeof name !== "string");
  const end = pattern < 0 ? exact.names.length : pattern;
  if (disk === undefined || end === 0) return undefined;
  const anchor = exact.anchor === "root" ? "/" : place[exact.anchor];
  const named = join(anchor, ...Array<string>(exact.up).fill(".."), ...(exact.names.slice(0, end) as string[]));
  const led = ledTo(named, disk);
  return led === named ? undefined : [...resolve(folded(led)), ...loose[0]!.names.slice(end), star];
}

function ledTo(path: string, disk: Disk): string {
  try {
    return disk.follow(path);
  } catch {
    return path;
  }
}

/** True if a path below this folder may match: where the answer is no, nothing below has to be looked at. */
export function mayMatchBelow({ loose }: PathRule, folder: NamedPath, anchors: Anchors): boolean {
  return loose.some((pattern) =>
    anchors.loose[pattern.anchor].some((anchor) => {
      const names = [...anchor.slice(0, anchor.length - pattern.up), ...pattern.names];
      return folder.folded.every((name, i) => {
        const before = names.slice(0, i + 1);
        return before.includes(star) || (before.length > i && sameName(before[i] as Name, name));
      });
    }),
  );
}

export function bothOf({ lexical, real }: CanonicalPath): string[] {
  return lexical === real ? [real] : [lexical, real];
}

function matches({ up }: Pattern, anchor: readonly string[], path: readonly string[], names: readonly (Name | Star)[]) {
  const base = Math.max(0, anchor.length - up);
  for (let i = 0; i < base; i++) if (anchor[i] !== path[i]) return false;
  return wild(names, path.slice(base), sameName);
}

function sameName(expected: Name, name: string): boolean {
  if (typeof expected === "string") return expected === name;
  return wild(expected, [...name], (char: string | ((char: string) => boolean), given) =>
    typeof char === "string" ? char === given : char(given),
  );
}

function patternOf(specifier: string, fold: (text: string) => string): Pattern {
  const { anchor, rest } = anchored(specifier);
  const names: (Name | Star)[] = [];
  let up = 0;
  for (const name of fold(rest).split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name === "**" ? star : compileName([...name]));
    else if (names.length > 0) names.pop();
    else up++;
  }
  return { anchor, up, names, open: [...names, star] };
}

function anchored(specifier: string): { anchor: Pattern["anchor"]; rest: string } {
  if (specifier === "~" || specifier.startsWith("~/")) return { anchor: "home", rest: specifier.slice(1) };
  return { anchor: specifier.startsWith("/") || onDrive(specifier) ? "root" : "cwd", rest: specifier };
}

/** A shell pattern for one name, or undefined when it is no pattern. */
export function namePattern(text: string): ((name: string) => boolean) | undefined {
  const pattern = compileName([...text]);
  return typeof pattern === "string" ? undefined : (name) => sameName(pattern, name);
}

function compileName(name: readonly string[]): Name {
  const pattern: (string | ((char: string) => boolean) | Star)[] = [];
  for (let i = 0; i < name.length; i++) {
    const char = name[i]!;
    const close = char === "[" ? name.indexOf("]", i + 2) : -1;
    if (close > 0) {
      pattern.push(oneOf(name.slice(i + 1, close)));
      i = close;
    } else if (char === "\\" && i + 1 < name.length) pattern.push(name[++i]!);
    else pattern.push(char === "*" ? star : char === "?" ? () => true : char);
  }
  return pattern.every((char) => typeof char === "string") ? pattern.join("") : pattern;
}

function oneOf(set: readonly string[]): (char: string) => boolean {
  return (char) => {
    for (let i = 0; i < set.length; i++) {
      const from = set[i]!;
      const isRange = set[i + 1] === "-" && i + 2 < set.length;
      const to = isRange ? set[(i += 2)]! : from;
      if (from <= char && char <= to) return true;
    }
    return false;
  };
}

function resolve(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names;
}

function composed(text: string): string {
  return text.normalize("NFC");
}

// Some file systems see no invisible characters, and take a long s for an s: hence down from upper case.
function folded(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  return composed(
    text
      .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
      .toUpperCase()
      .toLowerCase(),
  );
}

const plain = /^[\x20-\x7e]*$/;

function slashed(path: string): string {
  return onDrive(path) ? `/${path.replaceAll("\\", "/")}` : path;
}

function onDrive(path: string): boolean {
  return /^[A-Za-z]:[\\/]/.test(path);
}
