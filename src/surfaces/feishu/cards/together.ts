import type { PermissionRequest } from "../../../protocol/facts/request.ts";
import { describeRequest } from "../../../view/request/describe.ts";
import { actionElements, fitting } from "./action.ts";
import { button, card, note, row, type Card } from "./card.ts";
import { words as escaped } from "./escape.ts";
import type { Asked } from "./permission.ts";
import type { Speeches } from "./speech.ts";

/** Several requests that one answer is for, each of them whole; undefined when they do not fit on one card. */
export function togetherCard(all: readonly PermissionRequest[], asked: Asked, speeches: Speeches): Card | undefined {
  const { rid, g, folder, cwd } = asked;
  const value = (act: string) => ({ k: "perm" as const, rid, act, g });
  const made = fitting(speeches, [Infinity], (speech, clip) => {
    const { t, words } = speech;
    const title = words.together(all.length);
    return card({ title, subtitle: folder, template: "orange", summary: title }, [
      ...all.flatMap((one, n) => [
        note(escaped(words.place(n + 1, all.length))),
        ...actionElements(describeRequest(one, { cwd }), clip, speech),
      ]),
      row([
        button({ id: "allow_all", text: t.allowAll(all.length), type: "primary_filled", value: value("allow_all") }),
        button({ id: "deny_all", text: t.denyAll(all.length), type: "danger", value: value("deny_all") }),
        button({ id: "one", text: t.oneByOne, value: value("one") }),
      ]),
    ]);
  });
  return made && !made.cut ? made.card : undefined;
}
