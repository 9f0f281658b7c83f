import { isObject } from "../../../base/issue.ts";
import { feishuTexts, type FeishuTexts } from "../../../texts/surfaces/feishu.ts";
import type { Lang } from "../../../texts/language.ts";
import { texts, type Texts } from "../../../texts/shared/texts.ts";
import type { Card } from "./card.ts";

export type Speech = { lang: Lang; t: FeishuTexts; words: Texts };

/** All languages that are spoken; readers of another one see the first. */
export type Speeches = readonly [Speech, ...Speech[]];

export type Phrase = (speech: Speech) => string;

const locales: Record<Lang, string> = { en: "en_us", zh: "zh_cn" };
const languages: readonly Lang[] = ["en", "zh"];

export function speechesFrom(first: Lang): Speeches {
  return [speechOf(first), ...languages.filter((lang) => lang !== first).map(speechOf)];
}

function speechOf(lang: Lang): Speech {
  return { lang, t: feishuTexts(lang), words: texts(lang) };
}

export function inLocales(speeches: Speeches, phrase: Phrase): Record<string, string> {
  return Object.fromEntries(speeches.map((speech) => [locales[speech.lang], phrase(speech)]));
}

/** A card in which each reader sees their language. Cards must differ in texts alone; otherwise everybody sees the first. */
export function inEachLanguage(speeches: Speeches, make: (speech: Speech) => Card): Card {
  const [first, ...others] = speeches.map(make);
  if (!first) throw new Error("no language is spoken");
  if (!others.every((other) => isSameShape(first, other))) return first;
  return merged(
    [first, ...others],
    speeches.map(({ lang }) => locales[lang]),
  ) as Card;
}

function merged(nodes: readonly unknown[], names: readonly string[]): unknown {
  const [first] = nodes;
  if (Array.isArray(first))
    return first.map((_, n) =>
      merged(
        nodes.map((node) => (node as unknown[])[n]),
        names,
      ),
    );
  if (!isObject(first)) return first;
  const made: Record<string, unknown> = {};
  for (const key of Object.keys(first)) {
    const values = nodes.map((node) => (node as Record<string, unknown>)[key]);
    made[key] = merged(values, names);
    if (key === "content" && values.some((value) => value !== values[0]))
      made["i18n_content"] = Object.fromEntries(names.map((name, n) => [name, values[n]]));
  }
  return made;
}

function isSameShape(left: unknown, right: unknown): boolean {
  if (Array.isArray(left))
    return Array.isArray(right) && left.length === right.length && left.every((item, n) => isSameShape(item, right[n]));
  if (!isObject(left) || !isObject(right)) return typeof left === typeof right;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => isSameShape(left[key], right[key]));
}
