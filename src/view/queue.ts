import { oneLine } from "../base/visible.ts";
import type { Sender } from "../protocol/sender.ts";
import type { Texts } from "../texts/shared/texts.ts";
import type { SaidItem } from "./transcript/item.ts";

const MAX_LINES = 3;
const MAX_LENGTH = 200;

/** Messages that wait for the next step, in the order in which they will be read; of a long queue the newest. */
export function queueLines(queue: readonly SaidItem[], t: Texts): string[] {
  // The number by which one of several is taken back.
  const place = (n: number) => (queue.length > 1 ? `${n + 1}. ` : "");
  const lines = queue.map(({ text }, n) => place(n) + t.queuedMessage(oneLine(text).slice(0, MAX_LENGTH)));
  return lines.slice(-MAX_LINES);
}

/** Messages of this person, sent from this surface. */
export function isOf({ by, surface }: Sender): (item: SaidItem) => boolean {
  return ({ sender }) => sender.by === by && sender.surface === surface;
}
