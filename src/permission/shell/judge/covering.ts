import { dirname, isAbsolute, join, resolve } from "node:path";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import { isInside, type Disk } from "../../paths/canonical.ts";
import { addressesIn, isAddress, sameAddress } from "../../programs/addresses.ts";
import { escalates } from "../../programs/escalating.ts";
import { isA } from "../../programs/table.ts";
import { transparent } from "../../programs/wrappers.ts";
import type { CommandRule, CompiledRule } from "../../rules/compile.ts";
import { isStar, matchesGlob, star, wild, type Glob } from "../../text/wild.ts";
import { baseName } from "../../text/tokens.ts";
import type { Word } from "../read/word.ts";

type Place = { bases: readonly string[]; session: string; disk: Disk };

/** An allow is a proof, word by word. A reason where the words fit and the rule still means something else. */
export function covers(
  { command: rule }: CompiledRule,
  words: readonly Word[],
  whole: readonly Word[],
  place: Place,
): boolean | Reason {
  if (rule === undefined) return false;
  const { pattern, literal, starred, name } = rule;
  const fits = (given: readonly Word[]) => fitsName(name, given[0]?.text) && wild(pattern, given, sameWord);
  const given = fits(words) ? words : !starred && fits(whole) ? whole : undefined;
  if (given === undefined) return false;
  const moved = otherScript(rule, given, place);
  if (moved) return moved;
  if (!starred) return true;
  const program = words[0]!.text!;
  if (transparent.has(program)) return false;
  if (escalates(words, literal)) return reason("option-unnamed", { program });
  return otherAddress(rule, words) ?? true;
}

/** A path to a program is that very path; a mere name is looked up where the person's own are. */
function fitsName(name: string | undefined, given: string | undefined): boolean {
  return given !== undefined && (!given.includes("/") || name !== undefined);
}

function sameWord(expected: string | Glob, { text, choices }: Word): boolean {
  if (typeof expected === "string") return expected === text;
  if (isStar(expected) || (text !== undefined && fitsStar(expected, text))) return true;
  return choices !== undefined && choices.every((choice) => fitsStar(expected, choice));
}

/** A star in a word is part of a name: it neither makes an option of it nor leads up and out of a folder. */
function fitsStar(expected: Glob, text: string): boolean {
  if (expected[0] === star && text.startsWith("-")) return false;
  if (
    /(^|\/)\.\.(\/|$)/.test(text) &&
    !expected
      .filter((unit) => unit !== star)
      .join("")
      .includes("..")
  )
    return false;
  return matchesGlob(expected, text);
}

/** A script is that very file: not one of its name in another folder, nor one that a link leads to elsewhere. */
function otherScript({ pattern }: CommandRule, words: readonly Word[], { bases, session, disk }: Place) {
  const program = words[0]!.text!;
  if (!isA("runner", baseName(program))) return undefined;
  const each = ({ choices, ...word }: Word) => choices?.map((text): Word => ({ ...word, text })) ?? [word];
  for (const word of words.slice(1).flatMap(each)) {
    const { text } = word;
    if (text === undefined || text.startsWith("-")) continue;
    const token = pattern
      .slice(1)
      .find((part) => typeof part !== "symbol" && !isLoneStar(part) && sameWord(part, word));
    if (token === undefined || typeof token === "symbol") continue;
    if (!isAbsolute(text) && bases.some((base) => disk.follow(base) !== session))
      return reason("program-moved", { program: text, folder: session });
    if (typeof token === "string") continue;
    const folder = dirname(`${untilStar(token)}x`);
    const [real, allowed] = [text, folder].map((path) => disk.follow(isAbsolute(path) ? path : join(session, path)));
    if (isInside(allowed!, real!)) continue;
    const isLink = isInside(allowed!, resolve(session, text));
    return isLink ? reason("link-leads", { path: text, target: real! }) : reason("outside", { path: real! });
  }
  return undefined;
}

function isLoneStar(token: string | Glob): boolean {
  return typeof token !== "string" && isStar(token);
}

function untilStar(token: Glob): string {
  const at = token.indexOf(star);
  return token.slice(0, at < 0 ? token.length : at).join("");
}

/** A rule for one address is not for a second one beside it, nor for a longer name of a host. */
function otherAddress({ pattern }: CommandRule, words: readonly Word[]): Reason | undefined {
  const program = baseName(words[0]!.text!);
  const meant = pattern
    .filter((token): token is string | Glob => typeof token !== "symbol" && !isLoneStar(token))
    .map((token) => (typeof token === "string" ? [...token] : token));
  const addresses = meant.filter((token) => isAddress(untilStar(token)));
  if (addresses.length === 0) return undefined;
  const given = addressesIn(
    program,
    words.slice(1).map(({ text }) => text),
  );
  const other = given.find(
    (address) => address === undefined || !addresses.some((token) => sameAddress(token, address)),
  );
  return given.every((address) => address !== undefined) && other === undefined
    ? undefined
    : reason("address-unnamed", { address: other ?? "?" });
}
