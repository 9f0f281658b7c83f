import type { InputChange } from "../../../protocol/facts/call.ts";
import type { Standing } from "../../../protocol/host/receipt.ts";
import { changeLine } from "../../../texts/shared/resolution.ts";
import { closedBy } from "./closed.ts";
import { button, card, fits, markdown, note, panel, short, type Card, type Element, type Template } from "./card.ts";
import { code, inline, markdownOf, words as escaped } from "./escape.ts";
import { inEachLanguage, type Speech, type Speeches } from "./speech.ts";

/** A call of the turn, as it stands. `about` is of the input that runs or ran. */
type Step = { tool: string; about: string; standing: Standing; changed?: InputChange };

export type ProgressView = {
  text: string;
  /** Nothing of the text is still being written. */
  said?: boolean;
  steps: readonly Step[];
  live: readonly string[];
};

/** The elements that streaming writes to. */
export const OUT = "out";
export const STEPS = "steps_md";

const MAX_STEPS = 30;
/** A card that streams is replaced by the next one well before the platform refuses it. */
export const ROLL_BYTES = 16 * 1024;
/** Stands where nothing is to be said yet: what streams has one text for all languages. */
const NOTHING = "…";

const signs: Record<Standing, string> = {
  new: "○",
  waiting: "◔",
  running: "▸",
  done: "✓",
  failed: "✗",
  "refused-by-rule": "⊘",
  "refused-by-person": "⊘",
  invalid: "✗",
  "not-run": "–",
  stopped: "■",
  unknown: "?",
};

/** `rid`: the id of its Stop button. */
export function progressCard(
  view: ProgressView,
  { rid, streaming }: { rid: string; streaming: boolean },
  speeches: Speeches,
): Card {
  return inEachLanguage(speeches, ({ t }) =>
    card(
      { title: t.working, template: "wathet", summary: t.workingSummary },
      [
        markdown(outOf(view.text), OUT),
        panel(t.stepsTitle, [markdown(stepLines(view), STEPS)], { expanded: true, id: "steps" }),
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
            streaming_config: {
              print_frequency_ms: { default: 70 },
              print_step: { default: 2 },
              print_strategy: "fast",
            },
          }
        : {},
    ),
  );
}

export const outOf = (text: string): string => (text.trim() === "" ? NOTHING : markdownOf(text));

/** A sign first, so that a step that ends changes one character and no line. With a language, words for what is not plain. */
export function stepLines({ steps, live }: ProgressView, speech?: Speech): string {
  if (steps.length === 0) return NOTHING;
  const shown = steps.slice(-MAX_STEPS);
  const hidden = steps.length - shown.length;
  return [
    ...(hidden > 0 ? [escaped(speech ? speech.t.earlierSteps(hidden) : `${NOTHING} ${hidden}`)] : []),
    ...shown.map((step) => stepLine(step, speech)),
    ...(live.length > 0 ? ["", code(live)] : []),
  ].join("\n\n");
}

function stepLine({ tool, about, standing, changed }: Step, speech: Speech | undefined): string {
  const line = `${signs[standing]} **${escaped(tool)}** ${inline(short(about, 120))}`;
  if (!speech) return changed ? `${line} ✎` : line;
  const said = [
    ...(standing === "done" || standing === "running" ? [] : [speech.words.standing[standing]]),
    ...(changed ? [changeIn(speech, changed)] : []),
  ];
  return said.length === 0 ? line : `${line} · ${escaped(said.join(" · "))}`;
}

function changeIn({ t, words }: Speech, changed: InputChange): string {
  if (changed.by === "hook") return changeLine(changed, words);
  const { surface } = changed.who;
  return changeLine({ by: "person", who: { by: closedBy(changed.who, t), surface } }, words);
}

export type Finish = {
  title: string;
  template: Template;
  /** Last lines of the card: how the turn ended, what it cost. */
  notes: readonly string[];
};

/** How it is called in each language. `attached`: of a text that does not fit, the file with all of it has arrived. */
export type Finishing = { in(speech: Speech): Finish; attached?: boolean };

/** A card that will not change any more. `cut`: its text did not fit. */
export function finishedCard(
  view: ProgressView,
  { in: finishIn, attached = false }: Finishing,
  speeches: Speeches,
): { card: Card; cut: boolean } {
  const make = (text: string, cut: boolean) =>
    inEachLanguage(speeches, (speech) => {
      const { t } = speech;
      const { title, template, notes } = finishIn(speech);
      const steps: Element[] =
        view.steps.length === 0
          ? []
          : [
              panel(t.steps(view.steps.length), [markdown(stepLines({ ...view, live: [] }, speech), STEPS)], {
                id: "steps",
              }),
            ];
      const rest = cut ? [attached ? t.wholeAnswer(t.answerFile) : t.answerNotSent] : [];
      return card({ title, template, summary: text.trim() === "" ? title : `${title} · ${text}`, forward: true }, [
        ...(text.trim() === "" ? [] : [markdown(markdownOf(text), OUT)]),
        ...steps,
        ...[...rest, ...notes].map((line) => note(escaped(line))),
      ]);
    });
  const whole = make(view.text, false);
  if (fits(whole)) return { card: whole, cut: false };
  for (const room of [4_000, 1_500, 300]) {
    const made = make(`${[...view.text].slice(0, room).join("")}…`, true);
    if (fits(made)) return { card: made, cut: true };
  }
  return { card: make("", true), cut: true };
}
