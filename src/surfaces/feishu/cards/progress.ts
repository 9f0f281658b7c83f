import type { FeishuTexts } from "../../../texts/feishu.ts";
import { button, card, fits, markdown, note, panel, short, type Card, type Element, type Template } from "./card.ts";
import { code, inline, markdownOf, words as escaped } from "./escape.ts";

export type Step = { tool: string; about: string; state: "run" | "ok" | "failed" | "refused" };

/** What a turn has come to so far, as one card shows it. */
export type ProgressView = {
  text: string;
  steps: readonly Step[];
  /** The last rows of what runs now. */
  live: readonly string[];
};

/** The elements that streaming writes to. */
export const OUT = "out";
export const STEPS = "steps_md";

const MOST_STEPS = 30;
/** A card that streams is replaced by the next one well before the platform refuses it. */
export const ROLL_BYTES = 16 * 1024;

/** `rid`: the id of its Stop button. */
export function progressCard(
  view: ProgressView,
  { t, rid, streaming }: { t: FeishuTexts; rid: string; streaming: boolean },
): Card {
  return card(
    { title: t.working, template: "wathet", summary: t.workingSummary },
    [
      markdown(outOf(view.text, t), OUT),
      panel(t.stepsTitle, [markdown(stepsOf(view, t), STEPS)], { expanded: true, id: "steps" }),
      button({
        id: "stop_btn",
        text: t.stopButton,
        type: "danger_text",
        value: { k: "run", rid, act: "stop", g: 1 },
      }),
    ],
    streaming
      ? {
          streaming_mode: true,
          streaming_config: { print_frequency_ms: { default: 70 }, print_step: { default: 2 }, print_strategy: "fast" },
        }
      : {},
  );
}

export const outOf = (text: string, t: FeishuTexts): string => (text.trim() === "" ? t.thinking : markdownOf(text));

/** A sign first, so that a step that ends changes one character and no line. */
export function stepsOf({ steps, live }: ProgressView, t: FeishuTexts): string {
  if (steps.length === 0) return t.thinking;
  const shown = steps.slice(-MOST_STEPS);
  const hidden = steps.length - shown.length;
  return [
    ...(hidden > 0 ? [escaped(t.earlierSteps(hidden))] : []),
    ...shown.map(({ tool, about, state }) => `${t.calls[state]} **${escaped(tool)}** ${inline(short(about, 120))}`),
    ...(live.length > 0 ? ["", code(live)] : []),
  ].join("\n\n");
}

export type Finish = {
  title: string;
  template: Template;
  /** What is to be said below: how it ended, what it cost. */
  notes: readonly string[];
  /** Of a text that does not fit: the file with all of it has arrived, or could not be sent. */
  attached?: boolean;
};

/** A card that will not change any more. `cut`: its text did not fit. */
export function finishedCard(view: ProgressView, finish: Finish, t: FeishuTexts): { card: Card; cut: boolean } {
  const { title, template, notes, attached = false } = finish;
  const where = attached ? t.wholeAnswer(t.answerFile) : t.answerNotSent;
  const steps: Element[] =
    view.steps.length === 0
      ? []
      : [panel(t.steps(view.steps.length), [markdown(stepsOf({ ...view, live: [] }, t), STEPS)], { id: "steps" })];
  const make = (text: string, more: readonly string[] = []) =>
    card({ title, template, summary: text.trim() === "" ? title : `${title} · ${text}`, forward: true }, [
      ...(text.trim() === "" ? [] : [markdown(markdownOf(text), OUT)]),
      ...steps,
      ...[...more, ...notes].map((one) => note(escaped(one))),
    ]);
  const whole = make(view.text);
  if (fits(whole)) return { card: whole, cut: false };
  for (const room of [4_000, 1_500, 300]) {
    const made = make(`${[...view.text].slice(0, room).join("")}…`, [where]);
    if (fits(made)) return { card: made, cut: true };
  }
  return { card: make("", [where]), cut: true };
}
