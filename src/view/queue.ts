import { oneLine } from "../base/visible.ts";
import type { Sender } from "../protocol/sender.ts";
import type { Texts } from "../texts/shared/texts.ts";
import type { SaidItem } from "./transcript/item.ts";

const MAX_LINES = 3;
const MAX_LENGTH = 200;

/** Messages that wait for the next step, in the order in which they will be read; of a long queue the newest. */
export function queueLines(queue: readonly SaidItem[], t: Texts): string[] {
  const shown = queue.slice(-MAX_LINES);
  const more = queue.length - shown.length;
  const lines = shown.map(({ text }, n) => {
    const number = queue.length > 1 ? `${more + n + 1}. ` : ""; // by which one of several is taken back
    return number + t.queuedMessage(oneLine(text).slice(0, MAX_LENGTH));
  });
  return more > 0 ? [t.queuedBefore(more), ...lines] : lines;
}

/** Messages of this person, sent from this surface. */
export function isOf({ by, surface }: Sender): (item: SaidItem) => boolean {
  return ({ sender }) => sender.by === by && sender.surface === surface;
}
