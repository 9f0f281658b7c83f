import type { Rule } from "../../protocol/facts/permission.ts";
import { createRuleBooks, type RuleBooks } from "./book.ts";
import { isInside, openDisk, type Place } from "../paths/canonical.ts";
import { isPrivate } from "../paths/protected.ts";
import { anchorsOf, isMeant, namesOf } from "../paths/pattern.ts";

/**
 * True if a search from `from` may show a file. A folder may be searched although a rule says no to something below it;
 * a rule that asks counts as a no, unless it is about the folder itself and was answered. Paths are real ones.
 */
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
