import { harmless } from "../../../base/visible.ts";
import type { InputRequest, Question } from "../../../protocol/facts/request.ts";
import type { ShownQuestion } from "../../../texts/shared/questions.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { takesOwnWords, takesRemark, whyOf } from "../../../view/request/answering.ts";
import { type Clip, fitting, originElements, paragraph, rooms } from "./action.ts";
import { button, card, form, input, line, markdown, note, row, select, type Card, type Element } from "./card.ts";
import { code, words as escaped } from "./escape.ts";
import type { Asked, AskingCard } from "./permission.ts";
import { callElements, carriedElements, deadlineElements, detailPanel, fileName, typedHint } from "./permission.ts";
import type { Speech, Speeches } from "./speech.ts";

export type QuestionRequest = InputRequest & { kind: "question" };
type TextRequest = InputRequest & { kind: "text" };

export function questionCard(request: QuestionRequest, asked: Asked, speeches: Speeches): AskingCard {
  const [only] = request.questions;
  const isPick = request.questions.length === 1 && only?.multiSelect === false && only.options.length > 0;
  return shrinking(asked, questionsText(request, speeches[0]), speeches, (speech, clip) =>
    layOut(request, asked, speech, clip, [
      ...whyElements(request, clip, speech),
      ...(isPick
        ? pickElements(only, request, clip, { asked, speech })
        : formElements(request, clip, { asked, speech })),
    ]),
  );
}

export function textCard(request: TextRequest, asked: Asked, speeches: Speeches): AskingCard {
  const { prompt, lastResponse } = request;
  const text = [...(lastResponse === undefined ? [] : [lastResponse, ""]), prompt].join("\n");
  return shrinking(asked, text, speeches, (speech, clip) =>
    layOut(request, asked, speech, clip, [
      ...whyElements(request, clip, speech),
      ...(lastResponse === undefined ? [] : [markdown(code(clip(lastResponse.split("\n"))))]),
      markdown(`**${paragraph(prompt, clip)}**`),
      form("text_form", [input("text", speech.t.writeHere, { required: true })], [submitOf(asked, speech)]),
    ]),
  );
}

function shrinking(
  asked: Asked,
  text: string,
  speeches: Speeches,
  make: (speech: Speech, clip: Clip) => Card,
): AskingCard {
  const made = fitting(speeches, rooms, make);
  if (!made) throw new Error("a question with nothing of its text fits on every card");
  if (!made.cut) return { card: made.card };
  return { card: made.card, file: { name: fileName(asked, speeches[0]), text: harmless(text) } };
}

function layOut(request: QuestionRequest | TextRequest, asked: Asked, speech: Speech, clip: Clip, elements: Element[]) {
  const { t } = speech;
  const { rid, g, folder, masked = 0 } = asked;
  const count = request.kind === "question" ? request.questions.length : 0;
  const value = (act: string) => ({ k: "ask" as const, rid, act, g });
  const byText = typedHint(request, asked, speech);
  return card(
    {
      title: t.asks[request.kind],
      subtitle: [...(count > 1 ? [t.questions(count)] : []), folder].join(" · "),
      template: "blue",
      summary: request.kind === "question" ? t.summary.question(count) : t.summary.text,
    },
    [
      ...callElements(asked, speech),
      ...originElements(request, speech),
      ...elements,
      ...(clip.cut
        ? [note(escaped(asked.file === "failed" ? t.answerThere(request.id) : t.attached(fileName(asked, speech))))]
        : []),
      ...(masked > 0 ? [note(escaped(t.masked(masked)))] : []),
      ...carriedElements(request, asked, speech),
      row([
        button({ id: "decline", text: t.notAnswer, type: "text", value: value("decline") }),
        button({ id: "stop", text: t.stop, type: "danger_text", value: value("stop") }),
      ]),
      ...deadlineElements(request, asked, speech),
      detailPanel([note(escaped(byText)), note(escaped(t.session(asked.session)))], speech),
    ],
  );
}

const submitOf = ({ rid, g }: Asked, { t }: Speech, type = "primary_filled") => ({
  id: "submit",
  text: t.submit,
  type,
  value: { k: "ask" as const, rid, act: "submit", g },
});

function whyElements(request: QuestionRequest | TextRequest, clip: Clip, { words, lang, t }: Speech): Element[] {
  const reason = whyOf(request);
  const why = reason === undefined ? "" : sentence(reason, lang);
  return [
    ...(words.source[request.source] === "" ? [] : [note(escaped(words.source[request.source]))]),
    ...(why === "" ? [] : [markdown(escaped(t.labelled(words.why, clip(why.split("\n")).join("\n"))))]),
    ...(request.agent.length > 0 ? [note(escaped(words.agent(request.agent)))] : []),
  ];
}

const titleOf = ({ header, question }: ShownQuestion, clip: Clip, place = "") =>
  markdown(`**${escaped(`${place}${header}`)}**${header.trim() === "" ? "" : "<br>"}${paragraph(question, clip)}`);

const describes = ({ options }: ShownQuestion, clip: Clip): Element[] => {
  const lines = options.map(
    ({ label, description }, n) => `${n + 1}. ${label}${description.trim() === "" ? "" : ` — ${description}`}`,
  );
  return [note(escaped(clip(lines.flatMap((line) => line.split("\n"))).join("\n")))];
};

type Laying = { asked: Asked; speech: Speech };

function pickElements(question: Question, request: QuestionRequest, clip: Clip, { asked, speech }: Laying): Element[] {
  const { rid, g } = asked;
  const shown = speech.words.question(question);
  return [
    titleOf(shown, clip),
    ...describes(shown, clip),
    row(
      shown.options.map(({ label }, n) =>
        button({ id: `pick_${n}`, text: label, value: { k: "ask", rid, act: `pick${n}`, g } }),
      ),
    ),
    ...(takesOwnWords(request)
      ? [
          form(
            "ask_form",
            [input("q0_other", speech.t.other, { required: true })],
            [submitOf(asked, speech, "primary")],
          ),
        ]
      : []),
  ];
}

function formElements(request: QuestionRequest, clip: Clip, { asked, speech }: Laying): Element[] {
  const { t } = speech;
  const other = takesOwnWords(request);
  const several = request.questions.length > 1;
  const shown = request.questions.map((question) => speech.words.question(question));
  const fields = shown.flatMap((question, n) => {
    const title = [...(n > 0 ? [line()] : []), titleOf(question, clip, several ? `${n + 1}. ` : "")];
    if (question.options.length === 0) return [...title, input(`q${n}_other`, t.writeHere, { required: !several })];
    const { multiSelect, options } = question;
    const choices = options.map(({ label }, at) => ({ text: label, value: `o${at}` }));
    return [
      ...title,
      select(`q${n}`, [...choices, ...(other && !multiSelect ? [{ text: t.otherBelow, value: "other" }] : [])], {
        several: multiSelect,
        placeholder: multiSelect ? t.chooseAny : t.chooseOne,
      }),
      ...describes(question, clip),
      ...(other ? [input(`q${n}_other`, multiSelect ? t.otherOptional : t.other)] : []),
    ];
  });
  const remark = takesRemark(request) && (several || request.questions.some(({ options }) => options.length > 0));
  return [
    form("ask_form", [...fields, ...(remark ? [line(), input("remark", t.remark)] : [])], [submitOf(asked, speech)]),
  ];
}

function questionsText({ questions }: QuestionRequest, { words }: Speech): string {
  return questions
    .map((question) => words.question(question))
    .map(({ header, question, options }, n) =>
      [
        `${n + 1}. [${header}] ${question}`,
        ...options.map(({ label, description }, at) => `   ${at + 1}. ${label} — ${description}`),
      ].join("\n"),
    )
    .join("\n\n");
}
