export const star = Symbol("star");
export type Star = typeof star;

/** Does it match, a star standing for any run of items? Only the last star moves, so the cost is pattern times items at most. */
export function wild<P, T>(
  pattern: readonly (P | Star)[],
  items: ArrayLike<T>,
  same: (expected: P, item: T) => boolean,
): boolean {
  let at = 0;
  let item = 0;
  let lastStar = -1;
  let resumeAt = 0;
  while (item < items.length) {
    const expected = pattern[at];
    if (at < pattern.length && expected === star) {
      lastStar = at++;
      if (at === pattern.length) return true;
      resumeAt = item;
    } else if (at < pattern.length && same(expected as P, items[item] as T)) {
      at++;
      item++;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      item = ++resumeAt;
    } else return false;
  }
  while (at < pattern.length && pattern[at] === star) at++;
  return at === pattern.length;
}

/** Text in which stars may stand; one entry per character. */
export type Glob = readonly (string | Star)[];

export function matchesGlob(glob: Glob, text: string): boolean {
  const first = glob[0];
  if (typeof first === "string" && !text.startsWith(first)) return false;
  return wild(glob, surrogate.test(text) ? [...text] : text, (expected, char) => expected === char);
}

const surrogate = /[\ud800-\udfff]/;

/** A text that both may stand for. Much too long ones may stand for anything. */
export function commonText(left: Glob, right: Glob): boolean {
  if (left.length * right.length > mostCells) return true;
  let row = new Set([0]);
  const skipStars = (at: ReadonlySet<number>) => {
    const all = new Set(at);
    for (const n of all) if (right[n] === star) all.add(n + 1);
    return all;
  };
  row = skipStars(row);
  for (const unit of left) {
    const next = new Set<number>();
    for (const n of row) {
      if (unit === star) for (let to = n; to <= right.length; to++) next.add(to);
      else if (right[n] === star) next.add(n);
      else if (right[n] === unit) next.add(n + 1);
    }
    row = skipStars(next);
    if (row.size === 0) return false;
  }
  return row.has(right.length);
}

const mostCells = 250_000;

/** A specifier by character: a bare `*` is a star; `\(`, `\)`, `\*` and `\\` stay one entry, so a lexer can tell them apart. */
export function unitsOf(specifier: string): Glob {
  const units: (string | Star)[] = [];
  const chars = [...specifier];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    const next = chars[i + 1];
    if (char === "\\" && next !== undefined && "()*\\".includes(next)) {
      units.push(char + next);
      i++;
    } else units.push(char === "*" ? star : char);
  }
  return units;
}

/** The character behind an escaped unit; undefined for any other. */
export function escaped(unit: string | Star): string | undefined {
  return typeof unit === "string" && unit.length === 2 && unit.startsWith("\\") ? unit.slice(1) : undefined;
}

export function escapeSpecifier(text: string, special = "()*\\"): string {
  return [...text].map((char) => (special.includes(char) ? `\\${char}` : char)).join("");
}

/** `:*` at the very end is another spelling of ` *`. */
export function openEnd(units: Glob): Glob {
  return units.at(-1) === star && units.at(-2) === ":" ? [...units.slice(0, -2), " ", star] : units;
}

/** A star alone is one or more words, or any number at the end; one glued to the last word leaves the end open too. */
export function withStars(tokens: readonly Glob[]): (Glob | Star)[] {
  return tokens.flatMap((token, i): (Glob | Star)[] => {
    const last = i === tokens.length - 1;
    if (isStar(token)) return last ? [star] : [token, star];
    return last && token.at(-1) === star ? [token, star] : [token];
  });
}

export function isStar(token: Glob): boolean {
  return token.length === 1 && token[0] === star;
}
