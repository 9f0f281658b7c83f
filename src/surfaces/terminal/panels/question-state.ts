import type { Answer, Answers } from "../../../protocol/facts/answer.ts";
import { takesOwnWords, type Draft, type InputRequest, type Question } from "../../../protocol/facts/request.ts";
import { createField, type Field } from "../widgets/field.ts";

export type QuestionRequest = InputRequest & { kind: "question" };

export type QuestionState = {
  /** A tab for each question, then the review. */
  tab: number;
  /** The row in which the person is, by tab. */
  rows: number[];
  /** Labels that are chosen, by question. */
  picked: string[][];
  /** Words of their own, by question. */
  others: Field[];
  remark: Field;
  note: string;
};

export type ReviewRow = "unanswered" | "remark" | "submit" | "decline" | "stop";

/** Takes over the parts of the draft that fit; opens where something is missing. */
export function begin({ questions, source }: QuestionRequest, draft: Draft | undefined): QuestionState {
  const given = new Map(Object.entries(draft?.answers ?? {}));
  const picked = questions.map(({ question, options, multiSelect }) => {
    const labels = options.map(({ label }) => label);
    const selected = labels.filter((label) => given.get(question)?.selected.includes(label));
    return multiSelect ? selected : selected.slice(0, 1);
  });
  const others = questions.map(({ question }) =>
    createField(takesOwnWords({ source }) ? (given.get(question)?.other ?? "") : ""),
  );
  const state: QuestionState = {
    tab: 0,
    rows: [...questions.map(() => 0), 0],
    picked,
    others,
    remark: createField(takesOwnWords({ source }) ? (draft?.remark ?? "") : ""),
    note: "",
  };
  const open = questions.findIndex((_, n) => !answerOf(questions[n], state, n));
  return goTo({ questions, source }, state, given.size === 0 ? 0 : open < 0 ? questions.length : open);
}

type Asked = Pick<QuestionRequest, "questions" | "source">;

export function answerOf(question: Question | undefined, state: QuestionState, n: number): Answer | undefined {
  const selected = state.picked[n] ?? [];
  const other = state.others[n]?.text.trim() ?? "";
  if (selected.length > 0) return { selected, ...(question?.multiSelect && other !== "" && { other }) };
  return other === "" ? undefined : { selected: [], other };
}

export function answersOf({ questions }: Asked, state: QuestionState): Answers {
  return Object.fromEntries(
    questions.flatMap((question, n) => {
      const answer = answerOf(question, state, n);
      return answer ? [[question.question, answer]] : [];
    }),
  );
}

export function reviewRows(asked: Asked, state: QuestionState): ReviewRow[] {
  const answered = Object.keys(answersOf(asked, state)).length;
  return [
    ...(answered < asked.questions.length ? (["unanswered"] as const) : []),
    ...(takesOwnWords(asked) ? (["remark"] as const) : []),
    "submit",
    "decline",
    "stop",
  ];
}

/** The review opens on "submit" when all is answered, and on what is missing when it is not. */
export function goTo(asked: Asked, state: QuestionState, tab: number): QuestionState {
  if (tab < asked.questions.length) return { ...state, tab: Math.max(0, tab) };
  const rows = reviewRows(asked, state);
  const row = rows[0] === "unanswered" ? 0 : rows.indexOf("submit");
  return { ...state, tab: asked.questions.length, rows: state.rows.with(asked.questions.length, row) };
}
