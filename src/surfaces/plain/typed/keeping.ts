import type { RuleDestination } from "../../../protocol/decision.ts";
import type { RuleGrant } from "../../../protocol/facts/answer.ts";
import type { PermissionRequest } from "../../../protocol/facts/request.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import { rulesFor } from "../../../view/request/answering.ts";
import { neededOf } from "../../../view/request/describe.ts";
import { keyOf } from "./answers.ts";

/** A rule to be written by the person, beginning from one that is there. */
export type Writing = { rule: string; destination: RuleDestination };

/**
 * `a`: the first rule, or those that are needed together, for this session. `a 2 local`: another rule, another place. `a = rule`: one of their own.
 * Gives the rules, a rule to be edited, or why it is neither; undefined when the line says no such thing.
 */
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
  for (const word of words.split(/[\s,，、]+/).filter((one) => one !== "")) {
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
