const names = new Set(
  "key apikey token secret password passwd passphrase pwd pass auth authorization bearer credential credentials cookie".split(
    " ",
  ),
);

const prefixes =
  "sk- sk_ pk_ rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xoxp- xoxa- xapp- AKIA ASIA AIza ya29. npm_ pypi- hf_ dop_v1_ eyJ".split(
    " ",
  );

/** Errs on the side of yes: what it says yes to is merely not offered as a rule. */
export function looksSecret(text: string): boolean {
  if (text.includes("-----BEGIN") || hasUserInfo(text)) return true;
  const words = text.split(/[\s'"]/).filter((word) => word !== "");
  return words.some((word, i) => isNamedSecret(word, words[i + 1]) || isToken(word));
}

/** `API_KEY=x`, `--token x`, `Authorization: x`. */
function isNamedSecret(word: string, next: string | undefined): boolean {
  const end = word.search(/[=:]/);
  const name = end < 0 ? word : word.slice(0, end);
  const hasValue = end < 0 ? word.startsWith("-") && next !== undefined : end + 1 < word.length || next !== undefined;
  return (
    hasValue &&
    name
      .replace(/[a-z][A-Z]/g, (pair) => `${pair[0]}_${pair[1]}`)
      .split(/[^A-Za-z0-9]/)
      .some((part) => names.has(part.toLowerCase()))
  );
}

function isToken(word: string): boolean {
  const pieces = word.split(/[=:,/@]/);
  if (pieces.some((piece) => piece.length >= 16 && prefixes.some((prefix) => piece.startsWith(prefix)))) return true;
  return word
    .split(/[^A-Za-z0-9+]/)
    .some((piece) => piece.length >= 20 && /[0-9]/.test(piece) && /[A-Za-z]/.test(piece) && entropy(piece) > 3);
}

/** Bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}

/** `scheme://user:password@host` */
function hasUserInfo(text: string): boolean {
  return text
    .split("://")
    .slice(1)
    .some((rest) => rest.split(/[/\s?#]/, 1)[0]!.includes("@"));
}
