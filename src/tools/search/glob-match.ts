type Token = "*" | "?" | { literal: string } | { among: string; not: boolean };
type Segment = "**" | Token[];

/**
 * `*` and `?` within a name, `**` across names, `[abc]`, `{a,b}`. A pattern without a slash matches names at any depth.
 * Matching is bounded by length times length, where a regular expression with many stars could hang.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const alternatives = expandBraces(pattern.replace(/^(\.\/)+/, "")).map(parse);
  return (path) => {
    const names = path.split("/").map((name) => Array.from(name));
    return alternatives.some((segments) =>
      covers(segments, names, "**", (tokens, name) => covers(tokens as Token[], name, "*", matches)),
    );
  };
}

function expandBraces(pattern: string): string[] {
  let ready = [pattern];
  for (let again = true; again;) {
    again = false;
    ready = ready.flatMap((text) => {
      const innermost = /\{([^{}]*,[^{}]*)\}/.exec(text);
      if (innermost?.[1] === undefined) return [text];
      again = true;
      const [before, after] = [text.slice(0, innermost.index), text.slice(innermost.index + innermost[0].length)];
      return innermost[1].split(",").map((choice) => before + choice + after);
    });
    if (ready.length > 1_000) throw new Error("the pattern has too many alternatives in braces");
  }
  return ready;
}

function parse(pattern: string): Segment[] {
  const segments = pattern.split("/").map((name): Segment => (name === "**" ? "**" : tokenize(name)));
  return segments.length === 1 && segments[0] !== "**" ? ["**", ...segments] : segments;
}

function tokenize(name: string): Token[] {
  return [...name.matchAll(/\[([!^]?)(\]?[^\]]*)\]|\\(.)|(.)/gsu)].map(([, not, among, escaped, plain]): Token => {
    if (among !== undefined) return { among: spellOut(among), not: not !== "" };
    if (plain === "*" || plain === "?") return plain;
    return { literal: escaped ?? plain ?? "" };
  });
}

/** a-e to abcde. */
function spellOut(among: string): string {
  return among.replace(/(.)-(.)/gsu, (range, from: string, to: string) => {
    const [first = 0, last = 0] = [from.codePointAt(0), to.codePointAt(0)];
    return last - first > 1_000
      ? range
      : Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i)).join("");
  });
}

function matches(token: Token, character: string): boolean {
  if (typeof token === "string") return true;
  return "literal" in token ? token.literal === character : token.among.includes(character) !== token.not;
}

/** The star stands for any number of items. Going back to the last one is enough: an earlier one could not do better. */
function covers<P, T>(pattern: P[], items: T[], star: P, fits: (part: P, item: T) => boolean): boolean {
  let [part, item, lastStar, covered] = [0, 0, -1, 0];
  while (item < items.length) {
    if (part < pattern.length && pattern[part] === star) {
      lastStar = part++;
      covered = item;
    } else if (part < pattern.length && fits(pattern[part] as P, items[item] as T)) {
      part++;
      item++;
    } else if (lastStar >= 0) {
      part = lastStar + 1;
      item = ++covered;
    } else {
      return false;
    }
  }
  return pattern.slice(part).every((rest) => rest === star);
}
