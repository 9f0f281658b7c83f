import { oneLine } from "../../../base/visible.ts";
import { takesOwnWords } from "../../../protocol/facts/request.ts";
import { visibleWidth } from "../draw/tui.ts";
import { aboutLines } from "./frame.ts";
import { choiceRows, exact, framed, own, worded, type Draw, type Row } from "../widgets/draw.ts";
import { clipped } from "../draw/rows.ts";
import {
  answerOf,
  answersOf,
  reviewRows,
  type QuestionRequest,
  type QuestionState,
  type ReviewRow,
} from "./question-state.ts";

/** The question with what is needed to answer it; at the end, all answers. */
export function questionBody(request: QuestionRequest, state: QuestionState, draw: Draw): string[] {
  const { theme, wording } = draw;
  const question = request.questions[state.tab];
  // After an interruption the question names a command that may run again: nothing of it hides.
  const asked = request.source === "recovery" ? exact : worded;
  if (question)
    return [...asked(draw.t.question(question).question, draw, { paint: theme.bold }), ...aboutLines(request, draw)];
  const answers = request.questions.flatMap((one, n) => {
    const answer = answerOf(one, state, n);
    const shown = draw.t.question(one);
    const chosen = shown.options.flatMap(({ id, label }) => (answer?.selected.includes(id) ? [label] : []));
    const said = [...chosen, ...(answer?.other === undefined ? [] : [`“${answer.other}”`])];
    return [
      ...asked(shown.question, draw),
      ...(answer
        ? framed(said.join(", "), draw, { mark: "→ ", paint: theme.good })
        : own(`→ ${wording.unanswered}`, draw, { paint: theme.warn, indent: 2 })),
    ];
  });
  return [...answers, ...aboutLines(request, draw)];
}

/** All questions by their headers where they fit, else the one that is shown. */
export function questionTabs(
  { questions }: QuestionRequest,
  state: QuestionState,
  { theme, t, wording, width }: Draw,
): string[] {
  const names = questions.map((one, n) => {
    const { header, question } = t.question(one);
    const name = clipped(header.trim() === "" ? question : header, 14);
    return answerOf(questions[n], state, n) ? `${name} ✓` : name;
  });
  const tabs = [...names, wording.review].map((name, n) => (n === state.tab ? `[${name}]` : ` ${name} `));
  if (visibleWidth(tabs.join("│")) <= width)
    return [
      tabs.map((tab, n) => (n === state.tab ? theme.accent(theme.bold(tab)) : theme.dim(tab))).join(theme.border("│")),
    ];
  const short = `‹ ${clipped([...names, wording.review][state.tab] ?? "", Math.max(4, width - 10))} ${state.tab + 1}/${tabs.length} ›`;
  return [theme.accent(theme.bold(short))];
}

export function questionChoices(request: QuestionRequest, state: QuestionState, draw: Draw) {
  const question = request.questions[state.tab];
  const at = state.rows[state.tab] ?? 0;
  if (question) {
    const rows = draw.t.question(question).options.map(({ id, label, description }, n): Row => {
      const chosen = state.picked[state.tab]?.includes(id) ?? false;
      return {
        sign: `${n + 1} ${box(question.multiSelect, chosen)}`,
        label: oneLine(label),
        more: oneLine(description),
      };
    });
    return choiceRows([...rows, ...otherRow(request, state, draw)], at, draw);
  }
  const rows = reviewRows(request, state);
  return choiceRows(
    rows.map((row) => reviewRow(row, request, state, draw)),
    Math.min(at, rows.length - 1),
    draw,
  );
}

function otherRow(request: QuestionRequest, state: QuestionState, { wording }: Draw): Row[] {
  const question = request.questions[state.tab];
  const field = state.others[state.tab];
  if (!takesOwnWords(request) || !question || !field) return [];
  const counts = answerOf(question, state, state.tab)?.other !== undefined;
  if (question.options.length === 0)
    return [{ sign: "✎", label: wording.answer, field, placeholder: wording.answerHere }];
  const label = question.multiSelect ? wording.otherToo : wording.other;
  return [
    {
      sign: `${question.options.length + 1} ${box(question.multiSelect, counts)}`,
      label,
      field,
      placeholder: wording.otherHere,
    },
  ];
}

function box(several: boolean, on: boolean): string {
  return several ? (on ? "[x]" : "[ ]") : on ? "(•)" : "( )";
}

function reviewRow(row: ReviewRow, request: QuestionRequest, state: QuestionState, { wording, theme }: Draw): Row {
  switch (row) {
    case "unanswered":
      return { sign: "→", label: wording.toUnanswered };
    case "remark":
      return { sign: "✎", label: wording.remark, field: state.remark, placeholder: wording.remarkHere };
    case "submit": {
      const [answered, of] = [Object.keys(answersOf(request, state)).length, request.questions.length];
      if (answered === 0) return { sign: "✓", label: wording.submitNone, paint: theme.dim };
      return { sign: "✓", label: answered < of ? wording.submitPart(answered, of) : wording.submit };
    }
    case "decline":
      return { sign: "✗", label: wording.decline, more: takesOwnWords(request) ? wording.declineMore : "" };
    case "stop":
      return { sign: "■", label: wording.stop };
    default:
      return row satisfies never;
  }
}

export function questionKeys(request: QuestionRequest, state: QuestionState, { wording: { keys } }: Draw): string[] {
  const question = request.questions[state.tab];
  const row = state.rows[state.tab] ?? 0;
  if (!question) {
    const writing = reviewRows(request, state)[row] === "remark";
    return [writing ? keys.next : keys.pick, keys.aside, keys.move, writing ? keys.tabOnly : keys.tab];
  }
  if (row === question.options.length) return [keys.next, keys.aside, keys.move, keys.newline, keys.tabOnly];
  const choosing = question.multiSelect
    ? [keys.toggle, keys.next, keys.aside, keys.move]
    : [keys.pick, keys.aside, keys.move, keys.numberPick];
  return [...choosing, keys.tab];
}
