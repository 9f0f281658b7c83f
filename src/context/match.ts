const common = new Set(
  (
    "a about all also an and any are as at be but by can code do does file files for from have how if in into is it its me my not of on or " +
    "please should so some that the them then there these this to up use used using want was we what when where which will with you your"
  ).split(" "),
);

/** Topics of a text, for a rough comparison: words without their endings, and pairs of characters where words have no spaces. */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const word of text.toLowerCase().match(/[\p{Script=Latin}\p{N}]{2,}/gu) ?? [])
    if (!common.has(word)) words.add(word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, "") : word);
  for (const run of text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2,}/gu) ?? []) {
    const characters = [...run];
    for (let n = 1; n < characters.length; n++) words.add(`${characters[n - 1]}${characters[n]}`);
  }
  return words;
}
