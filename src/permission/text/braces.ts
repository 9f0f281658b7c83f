const mostWords = 64;
const longestWord = 1_000;

/** Words of a brace list, `{a,b}` or `{1..3}`, by its looks, quotes included; the word itself where it is none or too long. */
export function spelledOut(word: string): string[] {
  if (word.length > longestWord) return [word];
  const done: string[] = [];
  const ahead = [word];
  for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
    const list = listIn(next);
    if (list === undefined) done.push(next);
    else for (const choice of list.choices) ahead.push(list.before + choice + list.after);
    if (done.length + ahead.length > mostWords) return [...done, ...ahead].slice(0, mostWords);
  }
  return done;
}

/** A command line with its brace lists spelled out. */
export function withoutBraces(command: string): string {
  if (!command.includes("{")) return command;
  return command.replace(/[^\s;|&<>()`]+/g, (word) => spelledOut(word).join(" "));
}

/** The first list to close, which holds no other. */
function listIn(word: string): { before: string; choices: string[]; after: string } | undefined {
  let pieces: number[] = [];
  for (let i = 0; i < word.length; i++) {
    if (word[i] === "{") pieces = word[i - 1] === "$" ? [] : [i];
    else if (word[i] === "," && pieces.length > 0) pieces.push(i);
    else if (word[i] === "}" && pieces.length > 0) {
      const texts = pieces.map((at, n) => word.slice(at + 1, pieces[n + 1] ?? i));
      const choices = texts.length > 1 ? texts : rangeOf(texts[0]!);
      if (choices.length > 0) return { before: word.slice(0, pieces[0]), choices, after: word.slice(i + 1) };
      pieces = [];
    }
  }
  return undefined;
}

function rangeOf(text: string): string[] {
  const [, from = "", to = ""] = /^(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.-?\d+)?$/.exec(text) ?? [];
  if (from === "") return [];
  const isNumber = /\d/.test(from) && /\d/.test(to);
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const length = Math.min(Math.abs(last - first) + 1, mostWords);
  const step = last < first ? -1 : 1;
  return Array.from({ length }, (_, i) => first + i * step).map((n) =>
    isNumber ? String(n).padStart(/^-?0\d/.test(from) ? from.length : 0, "0") : String.fromCharCode(n),
  );
}
