import { lazy } from "./lazy.ts";

// Characters that a screen obeys instead of showing, or shows as nothing, or as a blank that is none. The signs that tokens are
// made of are among them, so that no text can spell a token.
const hidden = String.raw`[[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800‹⇥␠]--[\n\t\u0020\u3000]]`;
// Combining marks without a letter, or stacked, garble their neighbours.
const strayMarks = String.raw`(?<![\p{L}\p{M}])\p{M}+|(?<=\p{M}{4})\p{M}+`;
const emoji = String.raw`[0-9#*]\ufe0f?\u20e3|[\p{Emoji}--[0-9#*]][\ufe0e\ufe0f]`;
const everyTrick = lazy(() => new RegExp(`(${emoji})|${hidden}|\u3000|${strayMarks}`, "gv"));
const hiddenOnes = lazy(() => new RegExp(`(${emoji})|${hidden}`, "gv"));
// Running text may join emoji and lay itself out; it may not steer the screen or turn its lines around.
const steering = /[[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]--[\n\t]]/gv;

/** Pattern of what `visible` and `harmless` write in place of a character. A surface may colour it: no text can fake that. */
export const tokens = /‹[^›]*›|[⇥␠]/gu;

const MAX_BLANK_LENGTH = 20;
const MAX_GAP_LENGTH = 3;

/** Shows every character of what may run for what it is. */
export function visible(text: string): string {
  const escaped = /^[\n\t\x20-\x7e]*$/.test(text) ? text : withScripts(text.replace(everyTrick(), unlessEmoji));
  return escaped
    .replace(/[ \t]+/g, (run, at: number, whole: string) => blanks(run, (whole[at + run.length] ?? "\n") === "\n"))
    .replace(/(?<=^|\n)(?:(?:[⇥␠]|‹[^›]*×\d+›)*\n)+/g, gap);
}

/** Makes foreign text safe to read: nothing in it hides or steers the terminal, and its layout stays. */
export function harmless(text: string): string {
  return text.replace(hiddenOnes(), unlessEmoji).replaceAll("\t", "    ");
}

/** Makes foreign text safe to read, on one line. */
export function oneLine(text: string): string {
  return harmless(text).replaceAll("\n", token("\n"));
}

/** Text of several lines that is safe to draw. */
export function prose(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(steering, token);
}

function token(character: string): string {
  return `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;
}

function unlessEmoji(found: string, whole?: string): string {
  return whole ?? [...found].map(token).join("");
}

/** Long stretches of nothing hide what comes after them; they are counted instead. */
function blanks(run: string, trailing: boolean): string {
  if (run.length > MAX_BLANK_LENGTH) {
    const kinds = [...new Set(run)].map((blank) => token(blank).slice(1, -1)).sort();
    return `‹${kinds.join("+")}×${run.length}›`;
  }
  return trailing ? run.replaceAll(" ", "␠").replaceAll("\t", "⇥") : run.replaceAll("\t", "⇥   ");
}

function gap(lines: string): string {
  const count = lines.split("\n").length - 1;
  return count > MAX_GAP_LENGTH ? `‹U+000A×${count}›\n` : lines;
}

const known =
  "Latin Han Hiragana Katakana Hangul Bopomofo Cyrillic Greek Arabic Hebrew Armenian Georgian Cherokee Coptic Lisu";
const scripts = lazy(() => known.split(" ").map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")] as const));
// Written together every day, and none of their letters is taken for one of another.
const eastAsian = new Set(["Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"]);

/** A word that mixes alphabets looks like another one. */
function withScripts(text: string): string {
  return text.replace(/[\p{L}\p{M}\p{N}_]+/gu, (word) => {
    if (/^\w+$/.test(word)) return word;
    const found = new Set([...word].flatMap(scriptsIn));
    const others = [...found].filter((name) => !eastAsian.has(name));
    const mixed = others.length > 1 || (others.length === 1 && others[0] !== "Latin" && found.size > 1);
    return mixed ? `${word}‹${[...found].sort().join("+")}›` : word;
  });
}

function scriptsIn(letter: string): string[] {
  if (!/[\p{L}--[\p{Script=Common}\p{Script=Inherited}]]/v.test(letter)) return [];
  return [scripts().find(([, pattern]) => pattern.test(letter))?.[0] ?? "other"];
}

/** Splits a text into lines as a change shows them: "a\n" is one line, and "a" is one that is still open. */
export function splitLines(text: string): { text: string; open?: true }[] {
  if (text === "") return [];
  const lines: { text: string; open?: true }[] = text.split("\n").map((line) => ({ text: line }));
  const last = lines.at(-1);
  if (last?.text === "") lines.pop();
  else if (last) last.open = true;
  return lines;
}
