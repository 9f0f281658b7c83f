/** The nearest word, when it is near enough to have been meant. */
export function closest(
  word: string,
  words: readonly string[],
  within = Math.max(2, word.length / 3),
): string | undefined {
  const ranked = words
    .map((one) => ({ one, far: distance(word, one), longer: Math.abs(one.length - word.length) }))
    .sort((a, b) => a.far - b.far || a.longer - b.longer);
  const [best] = ranked;
  return best && best.far <= within ? best.one : undefined;
}

/** Letters added, left out, replaced or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const swapped = a[i] === b[j - 1] && a[i - 1] === b[j] ? (before[j - 1] ?? Infinity) + 1 : Infinity;
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
