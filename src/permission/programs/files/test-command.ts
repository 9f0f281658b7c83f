import type { Word } from "../../shell/read/word.ts";
import type { Use } from "./use.ts";

const aboutFiles = new Set("-b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S".split(" "));
const aboutText = new Set("-n -z -t".split(" "));
const comparesFiles = new Set("-nt -ot -ef".split(" "));
const comparesText = new Set("= == != < >".split(" "));
const comparesNumbers = new Set("-eq -ne -lt -le -gt -ge".split(" "));

/** Files that `test` looks at. No `-v`, `-R` or brackets: an index is evaluated. Other words must not be taken for operators. */
export function testUse(args: readonly Word[]): Use | undefined {
  const [first, ...rest] = args;
  if (first?.text === "!" && rest.length > 0 && rest.length < 4) return testUse(rest);
  if (args.some(({ text, choices }) => [text ?? "", ...(choices ?? [])].some((text) => text.includes("["))))
    return undefined;
  const literal = args.every(({ text }) => text !== undefined);
  if (args.length > 3) return literal ? longTest(args) : undefined;
  if (!literal && args.some(({ splits }) => splits)) return undefined;
  return simpleTest(args);
}

/** Judges one, two or three words. */
function simpleTest(args: readonly Word[]): Use | undefined {
  const [left, middle, right] = args;
  switch (args.length) {
    case 0:
    case 1:
      return looksAt([]);
    case 2:
      if (aboutFiles.has(left?.text ?? "")) return looksAt([middle!]);
      return aboutText.has(left?.text ?? "") ? looksAt([]) : undefined;
    case 3: {
      const operator = middle?.text ?? "";
      if (comparesFiles.has(operator)) return looksAt([left!, right!]);
      return comparesText.has(operator) || comparesNumbers.has(operator) ? looksAt([]) : undefined;
    }
    default:
      return undefined;
  }
}

/** Several tests joined by `-a` and `-o`, all of it literal: any word that is no operator may be a file. */
function longTest(args: readonly Word[]): Use | undefined {
  const operators = [aboutFiles, aboutText, comparesFiles, comparesText, comparesNumbers];
  const isOperator = ({ text = "" }: Word) => /^(!|-a|-o)$/.test(text) || operators.some((set) => set.has(text));
  const files = args.filter((word) => !isOperator(word));
  return files.every(({ text = "" }) => !/^-\D/.test(text)) ? looksAt(files) : undefined;
}

/** `[[ … ]]`: as `[`, joined by `&&` and `||`. Its numbers must be literal, for anything else is evaluated. */
export function conditionUse(args: readonly Word[]): Use | undefined {
  const files: Word[] = [];
  let test: Word[] = [];
  const ends = (): boolean => {
    const isNegated = test[0]?.text === "!";
    const words = isNegated ? test.slice(1) : test;
    const use = words.some(({ text = "" }) => text.includes("[")) ? undefined : conditionOf(words);
    files.push(...(use?.reads ?? []));
    test = [];
    return use !== undefined && words.length > 0;
  };
  for (const word of args) {
    if (word.text !== "&&" && word.text !== "||") test.push(word);
    else if (!ends()) return undefined;
  }
  return ends() ? looksAt(files) : undefined;
}

function conditionOf(words: readonly Word[]): Use | undefined {
  const operator = words[1]?.text ?? "";
  if (words.length === 3 && operator === "=~") return looksAt([]);
  if (words.length === 3 && comparesNumbers.has(operator))
    return [words[0], words[2]].every((word) => /^-?\d+$/.test(word?.text ?? "")) ? looksAt([]) : undefined;
  return simpleTest(words);
}

function looksAt(reads: Word[]): Use {
  return { readOnly: true, reads, writes: [], deep: false };
}
