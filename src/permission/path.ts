import { star, wild } from "./wild.ts";
import type { Star } from "./wild.ts";

/** One path, held against many rules. */
export type PathReading = {
  /** Both the path as written and where it leads are what the rule names. */
  covered(pattern: string): boolean;
  /** Either is. Letter case does not count, and a directory stands for everything below it. */
  suspected(pattern: string): boolean;
};

type Anchors = { cwd: string; home: string };

export function readPath(
  path: string,
  { cwd, home, real }: Anchors & { real?: ((path: string) => string) | undefined },
): PathReading {
  const paths = [path];
  const anchors = [{ cwd, home }];
  let lost = false;
  try {
    if (real) {
      paths.push(real(path));
      // A workspace that is itself reached through a link is the same workspace.
      anchors.push({ cwd: real(cwd), home: real(home) });
    }
  } catch {
    lost = true;
  }
  const matches = (pattern: string, fits: typeof names) => (path: string) =>
    anchors.some((anchor) => fits(path, pattern, anchor));
  return {
    covered: (pattern) => !lost && paths.every(matches(pattern, names)),
    suspected: (pattern) => paths.some(matches(pattern, mayName)),
  };
}

function names(path: string, pattern: string, anchors: Anchors): boolean {
  const given = composed(slashed(path));
  const segments = resolve(given);
  // A proof needs the canonical path: one with dots left in it leads elsewhere than it seems to.
  return (
    given === `/${segments.join("/")}` && wild(patternOf(pattern, anchors, composed), segments.map(chars), sameName)
  );
}

function mayName(path: string, pattern: string, anchors: Anchors): boolean {
  const segments = resolve(folded(slashed(path))).map(chars);
  // A directory may be called [id]: brackets are also taken as they stand.
  const patterns = pattern.includes("[") ? [pattern, pattern.replaceAll("[", "\\[")] : [pattern];
  return patterns.some((each) => wild([...patternOf(each, anchors, folded), star], segments, sameName));
}

type CharPattern = string | ((char: string) => boolean);
type NamePattern = readonly (CharPattern | Star)[];

function sameName(pattern: NamePattern, name: readonly string[]): boolean {
  return wild(pattern, name, (expected: CharPattern, char) =>
    typeof expected === "string" ? expected === char : expected(char),
  );
}

function patternOf(pattern: string, anchors: Anchors, fold: (text: string) => string): (NamePattern | Star)[] {
  const { anchor, rest } = anchored(pattern, anchors);
  const segments: (NamePattern | Star)[] = resolve(fold(slashed(anchor))).map(chars);
  for (const name of fold(rest).split("/")) {
    if (name === "" || name === ".") continue;
    if (name === "..") segments.pop();
    else segments.push(name === "**" ? star : nameOf([...name]));
  }
  return segments;
}

function anchored(pattern: string, { cwd, home }: Anchors): { anchor: string; rest: string } {
  if (pattern === "~" || pattern.startsWith("~/")) return { anchor: home, rest: pattern.slice(1) };
  return { anchor: pattern.startsWith("/") || onDrive(pattern) ? "/" : cwd, rest: pattern };
}

function nameOf(name: readonly string[]): NamePattern {
  const pattern: (CharPattern | Star)[] = [];
  for (let i = 0; i < name.length; i++) {
    const char = name[i]!;
    const close = char === "[" ? name.indexOf("]", i + 2) : -1;
    if (close > 0) {
      pattern.push(oneOf(name.slice(i + 1, close)));
      i = close;
    } else if (char === "\\" && i + 1 < name.length) pattern.push(name[++i]!);
    else pattern.push(char === "*" ? star : char === "?" ? () => true : char);
  }
  return pattern;
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

function chars(text: string): string[] {
  return [...text];
}

function composed(text: string): string {
  return text.normalize("NFC");
}

// Some file systems see no invisible characters, and take a long s for an s: hence down from upper case.
function folded(text: string): string {
  return composed(
    text
      .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
      .toUpperCase()
      .toLowerCase(),
  );
}

function slashed(path: string): string {
  return onDrive(path) ? `/${path.replaceAll("\\", "/")}` : path;
}

function onDrive(path: string): boolean {
  return /^[A-Za-z]:[\\/]/.test(path);
}
