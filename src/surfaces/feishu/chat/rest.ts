import { isOpen } from "../../../view/transcript/standing.ts";
import { bytesOf } from "../cards/card.ts";
import { progressCard, ROLL_BYTES, type ProgressView } from "../cards/progress.ts";
import type { Redaction } from "../cards/redact.ts";
import type { Speeches } from "../cards/speech.ts";

/** The part of a turn that does not stand on earlier cards, with secrets removed. */
type Rest = {
  of(view: ProgressView): ProgressView;
  /** The same while it is being written: without its last word, for half a secret is not recognised as one. */
  settledOf(view: ProgressView): ProgressView;
  /** Leaves what one card can hold on it, and returns that. */
  leave(view: ProgressView, speeches: Speeches): ProgressView;
  /** Everything stands on cards now, but for steps that are still open. */
  end(whole: ProgressView): void;
  reset(): void;
};

export function createRest(redaction: Redaction): Rest {
  let [from, fromStep] = [0, 0];
  /** The fence that opens a block of code again that was cut. */
  let fence = "";

  const of = ({ text, steps, live }: ProgressView): ProgressView => {
    const clean = redaction.text(text);
    // A card does not begin with the empty lines that set it off from the one before.
    if (fence === "") while (clean[from] === "\n") from++;
    return {
      text: fence + clean.slice(from),
      steps: steps.slice(fromStep).map((step) => ({ ...step, about: redaction.text(step.about) })),
      live: live.map(redaction.text),
    };
  };
  return {
    of,
    settledOf: (view) => of({ ...view, text: settled(view) }),
    leave(view, speeches) {
      const text = headOf(view, speeches);
      const steps = view.steps.slice(0, closedSteps(view));
      from += text.length - fence.length;
      fromStep += steps.length;
      fence = openFence(text);
      return { text, steps, live: [] };
    },
    end(whole) {
      from = redaction.text(whole.text).length;
      fromStep = closedSteps(whole);
      fence = "";
    },
    reset() {
      [from, fromStep, fence] = [0, 0, ""];
    },
  };
}

/** Steps before the first that is still open. */
function closedSteps({ steps }: ProgressView): number {
  const open = steps.findIndex(({ standing }) => isOpen(standing));
  return open < 0 ? steps.length : open;
}

function settled({ text, said = false }: ProgressView): string {
  return said ? text : text.replace(/[\x21-\x7e]{1,500}$/, "");
}

/** The part of the text that one card should hold, up to the end of a line. */
export function headOf(view: ProgressView, speeches: Speeches): string {
  const size = (text: string) => bytesOf(progressCard({ ...view, text }, { rid: "", streaming: true }, speeches));
  if (size(view.text) <= ROLL_BYTES) return view.text;
  let [low, high] = [0, view.text.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (size(view.text.slice(0, middle)) <= ROLL_BYTES) low = middle;
    else high = middle;
  }
  const end = view.text.lastIndexOf("\n", low);
  const at = end > low / 2 ? end + 1 : low;
  // Not between the two halves of one character.
  return view.text.slice(0, /[\ud800-\udbff]/.test(view.text[at - 1] ?? "") ? at - 1 : at);
}

function openFence(text: string): string {
  const fences = text.match(/^```.*$/gm) ?? [];
  return fences.length % 2 === 1 ? `${fences.at(-1)}\n` : "";
}
