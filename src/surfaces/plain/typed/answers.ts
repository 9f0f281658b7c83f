import type { RuleDestination } from "../../../protocol/decision.ts";
import type { Answer, RuleGrant } from "../../../protocol/facts/answer.ts";
import type { PermissionRequest, Question } from "../../../protocol/facts/request.ts";
import { keyOf, optionNamed } from "../../../texts/shared/questions.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import { rulesFor } from "../../../view/request/answering.ts";
import { neededOf } from "../../../view/request/describe.ts";

/** The answer, or why the line is not one. `ownWords`: free text is allowed besides options. */
export function single(question: Question, typed: string, t: Texts, ownWords: boolean): Answer | string {
  const { options } = question;
  const words = unquoted(typed);
  if (options.length === 0) return { selected: [], other: words ?? typed };
  if (words !== undefined && ownWords) return { selected: [], other: words };
  // Two numbers mean two options, and only one is allowed.
  if (/^\d+(?:[\s,、;]+\d+)+[\s,、;]*$/.test(keyOf(typed)))
    return ownWords ? t.onlyOne(typed) : t.noOptionHere(options.length);
  const number = /^\d+$/.exec(keyOf(typed))?.[0];
  const picked = options[Number(number) - 1] ?? optionNamed(question, typed);
  if (picked) return { selected: [picked.label] };
  if (number !== undefined) return ownWords ? t.noOption(number, options.length) : t.noOptionHere(options.length);
  return ownWords ? { selected: [], other: typed } : t.noOptionHere(options.length);
}

export function several(question: Question, typed: string, t: Texts, ownWords: boolean): Answer | string {
  if (question.options.length === 0) return single(question, typed, t, ownWords);
  const selected = new Set<string>();
  let rest = typed;
  for (;;) {
    // Full-width digits and commas come from Chinese keyboards.
    const number = /^([0-9０-９]+)(?:[\s,，、;；]+|$)/.exec(rest);
    if (!number) break;
    const picked = single(question, number[1] ?? "", t, ownWords);
    if (typeof picked === "string") return picked;
    for (const label of picked.selected) selected.add(label);
    rest = rest.slice(number[0].length);
  }
  if (rest === "") return { selected: [...selected] };
  if (selected.size > 0 && !ownWords) return t.noOptionHere(question.options.length);
  const named =
    selected.size === 0 ? single(question, rest, t, ownWords) : { selected: [], other: unquoted(rest) ?? rest };
  return typeof named === "string" ? named : { ...named, selected: [...selected, ...named.selected] };
}

/** In quotes, text is only text: no number, no command. */
export function unquoted(typed: string): string | undefined {
  const inner = /^["“](.*)["”]$/su.exec(typed)?.[1];
  return inner?.trim() ? inner : undefined;
}

/** A rule to be written by the person, beginning from one that is there. */
export type Writing = { rule: string; destination: RuleDestination };

/** `a`: first or needed rules, this session. `a 2 local`: another rule, place. `a = rule`: one's own, maybe to edit. Undefined: none. */
export function readAlways(
  request: PermissionRequest,
  typed: string,
  t: Texts,
): RuleGrant[] | Writing | string | undefined {
  const equals = typed.search(/[=＝]/);
  const words = /^a(?:\s+|(?=\d)|$)(.*)$/s.exec(keyOf(equals < 0 ? typed : typed.slice(0, equals)))?.[1];
  if (words === undefined) return undefined;
  const offers = rulesFor(request);
  if (request.hard || (offers.length === 0 && equals < 0)) return t.noRule;
  let destination: RuleDestination = "session";
  const chosen: number[] = [];
  for (const word of words.split(/[\s,，、]+/).filter((word) => word !== "")) {
    if (isDestination(word)) destination = word;
    else if (word === "all") chosen.push(...offers.keys());
    else if (offers[Number(word) - 1]) chosen.push(Number(word) - 1);
    else return t.noChoice(word);
  }
  const picked = chosen.length > 0 ? [...new Set(chosen)].flatMap((n) => offers[n] ?? []) : neededOf(offers);
  const lacking = picked.find(({ places }) => places.every((place) => place.destination !== destination));
  if (lacking) return t.noPlace(destination);
  if (equals < 0) return picked.map(({ rule, behavior }) => ({ rule, behavior, destination }));
  const own = typed.slice(equals + 1).trim();
  return own === "" ? { rule: picked[0]?.rule ?? "", destination } : [{ rule: own, behavior: "allow", destination }];
}

function isDestination(word: string): word is RuleDestination {
  return word === "session" || word === "local" || word === "project" || word === "user";
}
