import { baseName } from "../text/tokens.ts";
import { programFacts } from "./table.ts";

/** The words of one command once more, with those that this variable adds to them. */
export function withVariable(words: readonly string[], variable: string, value: string): string[][] {
  const [name = "", ...args] = words;
  const program = baseName(name).toLowerCase();
  const option = /^npm_config_(\w+)$/i.exec(variable)?.[1]?.toLowerCase().replaceAll("_", "-");
  if (option !== undefined) {
    if (!/^(npm|npx|pnpm|yarn)$/.test(program)) return [];
    return [[name, ...args, value === "true" ? `--${option}` : `--${option}=${value}`]];
  }
  const isTaken = programFacts(program)
    .variables?.split(" ")
    .some((known) => known === variable || (known.endsWith("_") && variable.startsWith(known)));
  // A value with blanks may be one word: `MAKEFLAGS='--eval=$(shell x y)'`.
  const given = isTaken
    ? [value.split(/\s+/).filter((word) => word !== ""), ...(/\s/.test(value) ? [[value]] : [])]
    : [];
  return given.flatMap((more) => [
    [name, ...more, ...args],
    [name, ...args, ...more],
  ]);
}

/** The same act in the words that rules use for it; undefined where these are the ones. */
export function plainWords(words: readonly string[]): string[][] {
  const name = baseName(words[0] ?? "").toLowerCase();
  const { before, goals, otherwise } = programFacts(name);
  const found: string[][] = [...namedByInterpreter(name, words)];
  const plain = otherNames.get(name) ?? (/\d\.[\d.]+$/.test(name) ? name.replace(/\.[\d.]+$/, "") : undefined);
  if (plain !== undefined) found.push([...plain.split(" "), ...words.slice(1)]);
  if (before !== undefined) found.push(...withoutBefore(before, words));
  const operands = goals ? words.slice(2).filter((word) => /^[^-=][^=]*$/.test(word)) : [];
  for (const goal of goals ? [...words.slice(1, 2), ...operands] : []) {
    const last = goal.replace(/^.*:(?=.)/, "");
    if (goal !== words[1]) found.push([words[0]!, goal]);
    if (last !== goal) found.push([words[0]!, last]);
  }
  const verbs = synonymsOf(name);
  if (verbs === undefined) return found;
  const first = words.findIndex((word, at) => at > 0 && !word.startsWith("-"));
  if (otherwise !== undefined && first > 0 && !verbs.has(words[first]!) && !words[first]!.includes("*"))
    found.push([...words.slice(0, first), otherwise, ...words.slice(first)]);
  // Nobody knows which options take the next word: a word behind one may be the subcommand, and the one after it.
  for (let at = 1; at < words.length && at < 8; at++) {
    const word = words[at]!;
    if (word.startsWith("-")) continue;
    const verb = verbOf(name, word, words.slice(at + 1), verbs);
    if (verb) found.push([...words.slice(0, at), ...verb.text.split(" "), ...words.slice(at + verb.length)]);
    if (!words[at - 1]!.startsWith("-")) break;
  }
  return found;
}

/** `python -m pip` is `pip`, and `node …/npm-cli.js` is `npm`. */
function namedByInterpreter(name: string, words: readonly string[]): string[][] {
  if (/^(python|pypy|py)[\d.]*$/.test(name)) {
    const at = words.findIndex((word, n) => n > 0 && /^-[bBdEhiIOPqsSuvVx]*m/.test(word));
    const glued = words[at]?.replace(/^-[^m]*m/, "");
    return at < 0
      ? []
      : [[...(glued ? [glued] : []), ...words.slice(at + 1)]].filter(([module]) => module !== undefined);
  }
  if (!/^(node|nodejs|bun)$/.test(name)) return [];
  const at = words.findIndex((word) => /(^|\/)(npm|npx|yarn|pnpm)(-cli)?\.c?js$/.test(word));
  return at < 0 ? [] : [[baseName(words[at]!).replace(/(-cli)?\.c?js$/, ""), ...words.slice(at + 1)]];
}

function withoutBefore(before: string, words: readonly string[]): string[][] {
  const [first = "", ...others] = before.split(" ");
  const at = words.findIndex((word, n) => n > 0 && !word.startsWith("-"));
  const word = words[at];
  if (word === undefined) return [];
  const isMeant = word === first || others.includes(word) || (first === "+" && word.startsWith("+"));
  const length = before.includes(`${word} _`) ? 2 : 1;
  return isMeant ? [[...words.slice(0, at), ...words.slice(at + length)]] : [];
}

function verbOf(name: string, word: string, rest: readonly string[], verbs: ReadonlyMap<string, string>) {
  const { shortens, caseless } = programFacts(name);
  const spelled = caseless ? word.toLowerCase() : word;
  const [next] = rest;
  const both = verbs.get(`${spelled} ${next}`);
  if (both !== undefined) return both === `${spelled} ${next}` ? undefined : { text: both, length: 2 };
  // An option that makes another act of it may stand anywhere.
  for (const option of rest.filter((given) => given.startsWith("-"))) {
    const text = verbs.get(`${spelled} ${option.replace(/=true$/, "")}`);
    if (text !== undefined) return { text, length: 1 };
  }
  const whole = verbs.get(spelled);
  if (whole !== undefined) return whole === word ? undefined : { text: whole, length: 1 };
  if (!shortens || word.length < 2) return caseless && spelled !== word ? { text: spelled, length: 1 } : undefined;
  const meant = new Set([...verbs].filter(([verb]) => verb.startsWith(word)).map(([, first]) => first));
  return meant.size === 1 ? { text: [...meant][0]!, length: 1 } : undefined;
}

/** Names of one program. */
const otherNames = new Map([
  ["docker-compose", "docker compose"],
  ["pip3", "pip"],
  ["view", "vim"],
  ["apt", "apt-get"],
  ["valkey-cli", "redis-cli"],
  ["mvnw", "mvn"],
  ["gradlew", "gradle"],
  ...["run-s", "run-p", "npm-run-all"].map((name) => [name, "npm run"] as const),
]);

const known = new Map<string, ReadonlyMap<string, string> | undefined>();
function synonymsOf(name: string): ReadonlyMap<string, string> | undefined {
  const { same } = programFacts(name);
  if (!known.has(name)) known.set(name, same === undefined ? undefined : verbsIn(same));
  return known.get(name);
}

/** Each spelling with the one that it is read as. */
function verbsIn(same: string): Map<string, string> {
  return new Map(
    same.split("|").flatMap((group) => {
      const verbs = group.split(" ").map((verb) => verb.replace("+", " "));
      return verbs.map((verb) => [verb, verbs[0]!] as const);
    }),
  );
}
