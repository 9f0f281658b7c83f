import { oneLine } from "../../../base/visible.ts";
import type { Resolution } from "../../../protocol/facts/request.ts";
import type { Asked, Standing } from "../../../protocol/host/receipt.ts";
import type { Reason } from "../../../protocol/reasons/reason.ts";
import type { CliTexts } from "../../../texts/commands/cli.ts";
import { changeLine } from "../../../texts/shared/resolution.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import type { CallItem, Item } from "../../../view/transcript/item.ts";
import { briefOf, isOver, nameOf } from "../../../view/items/summary.ts";

const MAX_TEXT_LENGTH = 200;
const refusals: readonly Standing[] = ["refused-by-rule", "refused-by-person", "not-run"];

/** Tells of each call that was refused or did not run, and of each question nobody answered: a result that says "done" does not. */
export function createRefusals(
  tell: (line: string) => void,
  t: CliTexts,
  words: Texts,
): (items: readonly Item[]) => void {
  const told = new WeakSet<CallItem | Asked>();
  const once = (item: CallItem | Asked, line: string) => {
    if (!told.has(item)) tell(line);
    told.add(item);
  };
  return (items) => {
    for (const item of items) {
      if (item.type !== "call" || !isOver(item)) continue;
      for (const asked of item.asked) {
        const why = asked.request.kind === "permission" ? undefined : whyNot(asked.resolution);
        if (why !== undefined)
          once(asked, t.notAnswered(oneLine(nameOf(asked.request, words)), oneLine(words.because(why))));
      }
      const asks = item.asked.some(({ request }) => request.kind !== "permission");
      if (asks || item.turnStopped || !refusals.includes(item.standing)) continue;
      const call = oneLine(`${item.call.tool} ${briefOf(item)}`).slice(0, MAX_TEXT_LENGTH);
      const why = [item.changed ? changeLine(item.changed, words) : "", oneLine(words.because(reasonOf(item)))];
      once(item, t.wasRefused(howOf(item, t, words), call, why.filter((one) => one !== "").join(" · ")));
    }
  };
}

/** Somebody who only stands in for a person is told by name. */
function howOf({ standing, asked }: CallItem, t: CliTexts, words: Texts): string {
  const end = asked.at(-1)?.resolution;
  const stoodIn = standing === "refused-by-person" && end?.surface === "persona" && end.by !== undefined;
  return stoodIn ? t.refusedBy(oneLine(end.by)) : words.standing[standing];
}

function reasonOf({ verdict, asked }: CallItem): Reason | string {
  if (verdict?.behavior === "deny") return verdict.reason;
  return whyNot(asked.at(-1)?.resolution) ?? "";
}

/** Undefined when it was answered, and not with a no. */
function whyNot(end: Resolution | undefined): Reason | string | undefined {
  switch (end?.outcome) {
    case undefined:
    case "cancelled": // the outcome of the turn says it
    case "superseded":
      return undefined;
    case "answered":
    case "partial":
      return end.response.type === "denied" ? (end.reason ?? end.response.reason ?? "") : undefined;
    case "timed_out":
      return end.response ? undefined : end.reason;
    case "declined":
    case "no_surface":
      return end.reason ?? "";
    default:
      return end satisfies never;
  }
}
