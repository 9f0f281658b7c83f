import type { Rule } from "../../protocol/facts/permission.ts";
import { createRuleBooks, type RuleBooks } from "./book.ts";
import { isInside, openDisk, type Place } from "../paths/canonical.ts";
import { isPrivate } from "../paths/protected.ts";
import { anchorsOf, isMeant, namesOf } from "../paths/pattern.ts";

/** May a search from `from` show a file? A rule below stops no folder's search; an unanswered ask rule counts as a no. Real paths. */
export function readFilter(
  rules: readonly Rule[],
  place: Place & { sageHome?: string | undefined },
  books: RuleBooks = createRuleBooks(),
): ((path: string, from: string) => boolean) | undefined {
  const book = books.of(rules, place.home);
  const about = ["Read", "Grep", "Glob"].map((tool) => book.about(tool));
  const isHidden = (path: string, from: string) => isInside(from, place.home) && isPrivate(path, place.sageHome);
  const against = [...new Set(about.flatMap(({ deny, ask }) => [...deny, ...ask]))].filter(({ path }) => path);
  if (against.length === 0 && !isInside(place.cwd, place.home)) return undefined;
  const anchors = anchorsOf(place, openDisk());
  return (path, from) => {
    if (isHidden(path, from)) return false;
    const named = namesOf(path);
    return !against.some(
      ({ path: about, rule }) =>
        isMeant(about!, named, anchors) && (rule.behavior === "deny" || !isMeant(about!, namesOf(from), anchors)),
    );
  };
}
