import { harmless, type InputRequest, type Question } from "../../../protocol/index.ts";
import { clipTo, type Clip } from "./action.ts";
import { button, card, fits, form, input, line, markdown, note, row, select, type Card, type Element } from "./card.ts";
import { code, words as escaped } from "./escape.ts";
import { fileName, forWhom, rooms, type Asked, type AskingCard } from "./permission.ts";
import { timeOf } from "./time.ts";

export type QuestionRequest = InputRequest & { kind: "question" };
export type TextRequest = InputRequest & { kind: "text" };

/** Own words are taken where a tool asks; a question about an interrupted command has its options and nothing else. */
export const takesOther = ({ source }: InputRequest): boolean => source === "tool";

/** All questions of a request on one form; a single one with buttons. */
export function questionCard(request: QuestionRequest, asked: Asked): AskingCard {
  return shrinking(asked, questionsText(request), (clip, cut) =>
    layOut(request, asked, cut, [
      ...whyElements(request, clip, asked),
      ...(request.questions.length === 1 && request.questions[0]?.multiSelect === false
        ? pickElements(request.questions[0], request, clip, asked)
        : formElements(request, clip, asked)),
    ]),
  );
}

export function textCard(request: TextRequest, asked: Asked): AskingCard {
  const { t } = asked;
  const { prompt, lastResponse } = request;
  const text = [...(lastResponse === undefined ? [] : [lastResponse, ""]), prompt].join("\n");
  return shrinking(asked, text, (clip, cut) =>
    layOut(request, asked, cut, [
      ...whyElements(request, clip, asked),
      ...(lastResponse === undefined ? [] : [markdown(code(clip(lastResponse.split("\n"))))]),
      markdown(`**${escaped(clip(prompt.split("\n")).join("\n"))}**`),
      form("text_form", [input("text", t.writeHere, { required: true })], {
        text: t.submit,
        value: { k: "ask", rid: asked.rid, act: "submit", g: asked.g },
      }),
    ]),
  );
}

function shrinking(asked: Asked, text: string, make: (clip: Clip, cut: () => boolean) => Card): AskingCard {
  for (const room of rooms) {
    const clip = clipTo(room, asked.t);
    const made = make(clip, () => clip.cut);
    if (fits(made))
      return clip.cut ? { card: made, file: { name: fileName(asked), text: harmless(text) } } : { card: made };
  }
  throw new Error("a question with nothing of its text fits on every card");
}

function layOut(request: QuestionRequest | TextRequest, asked: Asked, cut: () => boolean, elements: Element[]): Card {
  const { t, rid, g, session, folder, masked = 0, now } = asked;
  const count = request.kind === "question" ? request.questions.length : 0;
  const value = (act: string) => ({ k: "ask" as const, rid, act, g });
  const quoting = request.kind === "text" ? t.textByText : takesOther(request) ? t.questionByText : t.pickByText;
  const byText = asked.code === undefined ? quoting : t.answerByCode(asked.code);
  return card(
    {
      title: t.asks[request.kind],
      subtitle: [...(count > 1 ? [t.questions(count)] : []), folder, t.session(session)].join(" · "),
      template: "blue",
      ...(request.deadline && { tag: { text: t.until(timeOf(request.deadline.at, now)), color: "blue" } }),
      summary: request.kind === "question" ? t.summary.question(count) : t.summary.text,
    },
    [
      ...forWhom(asked),
      ...elements,
      ...(cut()
        ? [note(escaped(asked.file === "failed" ? t.answerThere(request.id) : t.attached(fileName(asked))))]
        : []),
      ...(masked > 0 ? [note(escaped(t.masked(masked)))] : []),
      row([
        button({ id: "decline", text: t.notAnswer, type: "text", value: value("decline") }),
        button({ id: "stop", text: t.stop, type: "danger_text", value: value("stop") }),
      ]),
      note(
        escaped(
          [
            byText,
            ...(request.deadline ? [t.waits(timeOf(request.deadline.at, now), request.deadline.policy)] : []),
          ].join("\n"),
        ),
      ),
    ],
  );
}

function whyElements(request: QuestionRequest | TextRequest, clip: Clip, { words }: Asked): Element[] {
  const silent = request.why === "" || (request.kind === "question" && request.source === "tool");
  return [
    ...(words.source[request.source] === "" ? [] : [note(escaped(words.source[request.source]))]),
    ...(silent ? [] : [markdown(`${escaped(words.why)} ${escaped(clip(request.why.split("\n")).join("\n"))}`)]),
    ...(request.agent.length > 0 ? [note(escaped(words.agent(request.agent)))] : []),
  ];
}

const titleOf = ({ header, question }: Question, clip: Clip, place = "") =>
  markdown(
    `**${escaped(`${place}${header}`)}**${header.trim() === "" ? "" : "<br>"}${escaped(clip(question.split("\n")).join("\n"))}`,
  );

const describes = ({ options }: Question, clip: Clip): Element[] => {
  const lines = options.map(
    ({ label, description }, n) => `${n + 1}. ${label}${description.trim() === "" ? "" : ` — ${description}`}`,
  );
  return [note(escaped(clip(lines.flatMap((one) => one.split("\n"))).join("\n")))];
};

function pickElements(question: Question, request: QuestionRequest, clip: Clip, { t, rid, g }: Asked): Element[] {
  return [
    titleOf(question, clip),
    ...describes(question, clip),
    row(
      question.options.map(({ label }, n) =>
        button({ id: `pick_${n}`, text: label, value: { k: "ask", rid, act: `pick${n}`, g } }),
      ),
    ),
    ...(takesOther(request)
      ? [
          form("ask_form", [input("q0_other", t.other, { required: true })], {
            text: t.submit,
            type: "primary",
            value: { k: "ask", rid, act: "submit", g },
          }),
        ]
      : []),
  ];
}

function formElements(request: QuestionRequest, clip: Clip, { t, rid, g }: Asked): Element[] {
  const other = takesOther(request);
  const fields = request.questions.flatMap((question, n) => {
    const { multiSelect: several, options } = question;
    const choices = options.map(({ label }, at) => ({ text: label, value: `o${at}` }));
    return [
      ...(n > 0 ? [line()] : []),
      titleOf(question, clip, request.questions.length > 1 ? `${n + 1}. ` : ""),
      select(`q${n}`, [...choices, ...(other && !several ? [{ text: t.otherBelow, value: "other" }] : [])], {
        several,
        placeholder: several ? t.chooseAny : t.chooseOne,
      }),
      ...describes(question, clip),
      ...(other ? [input(`q${n}_other`, several ? t.otherOptional : t.other)] : []),
    ];
  });
  return [
    form("ask_form", [...fields, line(), input("remark", t.remark)], {
      text: t.submit,
      value: { k: "ask", rid, act: "submit", g },
    }),
  ];
}

function questionsText({ questions }: QuestionRequest): string {
  return questions
    .map(({ header, question, options }, n) =>
      [
        `${n + 1}. [${header}] ${question}`,
        ...options.map(({ label, description }, at) => `   ${at + 1}. ${label} — ${description}`),
      ].join("\n"),
    )
    .join("\n\n");
}
