import { takesOwnWords, type Question } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";
import type { PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import { createField, edit, isBlank, type Field } from "../widgets/field.ts";
import { digitOf, type Key } from "../widgets/key.ts";
import type { Model, Step } from "./model.ts";
import {
  answerOf,
  answersOf,
  begin,
  goTo,
  reviewRows,
  type QuestionRequest,
  type QuestionState,
  type ReviewRow,
} from "./question-state.ts";
import { questionBody, questionChoices, questionKeys, questionTabs } from "./question-view.ts";

export function questionModel({ request, draft }: PendingRequest, wording: PanelTexts): Model<QuestionState> {
  const asked = request as QuestionRequest;
  return {
    start: begin(asked, draft),
    press: (state, key) => press(asked, { ...state, note: "" }, key, wording),
    page: (state) => `${state.tab}${state.tab < asked.questions.length ? "" : JSON.stringify(answersOf(asked, state))}`,
    reads: () => "",
    body: (state, draw) => ({ lines: questionBody(asked, state, draw) }),
    tabs: (state, draw) => questionTabs(asked, state, draw),
    choices: (state, draw) => questionChoices(asked, state, draw),
    note: (state) => state.note,
    keys: (state, draw) => questionKeys(asked, state, draw),
    writes: (state) => {
      const row = state.rows[state.tab] ?? 0;
      const question = asked.questions[state.tab];
      return question ? row === question.options.length : reviewRows(asked, state)[row] === "remark";
    },
    draft: (state) => {
      const remark = state.remark.text;
      return { answers: answersOf(asked, state), ...(remark.trim() !== "" && { remark }) };
    },
  };
}

function press(asked: QuestionRequest, state: QuestionState, key: Key, wording: PanelTexts): Step<QuestionState> {
  if (key.name === "escape") return { state, collapse: true };
  if (key.name === "tab") return { state: goTo(asked, state, state.tab + 1) };
  if (key.name === "shift+tab") return { state: goTo(asked, state, state.tab - 1) };
  const question = asked.questions[state.tab];
  const row = state.rows[state.tab] ?? 0;
  return question ? answer(asked, state, key, { question, row }) : review(asked, state, key, wording);
}

type Place = { question: Question; row: number };

function answer(asked: QuestionRequest, state: QuestionState, key: Key, { question, row }: Place): Step<QuestionState> {
  const { options } = question;
  const last = takesOwnWords(asked) ? options.length : options.length - 1;
  if (row === options.length) return writeOther(asked, state, key, question);
  switch (key.name) {
    case "up":
      return { state: at(state, row === 0 ? last : row - 1) };
    case "down":
      return { state: at(state, row === last ? 0 : row + 1) };
    case "left":
      return { state: goTo(asked, state, state.tab - 1) };
    case "right":
      return { state: goTo(asked, state, state.tab + 1) };
    case "enter":
      return {
        state: isTicked(state, question, row) ? goTo(asked, state, state.tab + 1) : pick(asked, state, question, row),
      };
    case "space":
      return { state: toggle(state, question, row) };
  }
  const digit = digitOf(key);
  if (digit !== undefined) {
    if (digit <= options.length) return { state: pick(asked, at(state, digit - 1), question, digit - 1) };
    return { state: digit === options.length + 1 ? at(state, last) : state };
  }
  // Somebody who begins to type means the text row.
  if (key.text !== undefined && key.text.trim() !== "" && takesOwnWords(asked))
    return writeOther(asked, at(state, options.length), key, question);
  return { state };
}

/** In the text row every key is text, but for those that leave it. */
function writeOther(asked: QuestionRequest, state: QuestionState, key: Key, question: Question): Step<QuestionState> {
  const { options, multiSelect } = question;
  const field = state.others[state.tab] ?? createField();
  const words = (written: Field): QuestionState => ({ ...state, others: state.others.with(state.tab, written) });
  // A question takes a single answer: words replace the option, and the other way round.
  const only = (given: QuestionState): QuestionState =>
    multiSelect || isBlank(given.others[state.tab] ?? field)
      ? given
      : { ...given, picked: state.picked.with(state.tab, []) };
  if (key.name === "enter") return { state: goTo(asked, only(state), state.tab + 1) };
  const edited = edit(field, key);
  if (edited) return { state: edited.text === field.text ? words(edited) : only(words(edited)) };
  if (key.name === "up") return { state: at(state, options.length - 1) };
  return { state: key.name === "down" ? at(state, 0) : state };
}

function at(state: QuestionState, row: number): QuestionState {
  return { ...state, rows: state.rows.with(state.tab, row) };
}

/** True for a ticked option, where several may be ticked: Enter then ends the question, and never takes the tick away. */
function isTicked({ picked, tab }: QuestionState, { options, multiSelect }: Question, row: number): boolean {
  return multiSelect && (picked[tab] ?? []).includes(options[row]?.label ?? "");
}

/** With several answers a choice is a tick; with one it is the end of the question. */
function pick(asked: QuestionRequest, state: QuestionState, question: Question, row: number): QuestionState {
  if (question.multiSelect) return toggle(state, question, row);
  const label = question.options[row]?.label ?? "";
  return goTo(asked, { ...state, picked: state.picked.with(state.tab, [label]) }, state.tab + 1);
}

function toggle(state: QuestionState, { options, multiSelect }: Question, row: number): QuestionState {
  const label = options[row]?.label ?? "";
  const now = state.picked[state.tab] ?? [];
  const labels = now.includes(label) ? now.filter((one) => one !== label) : multiSelect ? [...now, label] : [label];
  const inOrder = options.flatMap((option) => (labels.includes(option.label) ? [option.label] : []));
  return { ...state, picked: state.picked.with(state.tab, inOrder) };
}

function review(asked: QuestionRequest, state: QuestionState, key: Key, wording: PanelTexts): Step<QuestionState> {
  const rows = reviewRows(asked, state);
  const n = Math.min(state.rows[state.tab] ?? 0, rows.length - 1);
  const row = rows[n];
  if (row === "remark" && key.name !== "enter") {
    const edited = edit(state.remark, key);
    if (edited) return { state: { ...state, remark: edited } };
  }
  switch (key.name) {
    case "up":
      return { state: at(state, n === 0 ? rows.length - 1 : n - 1) };
    case "down":
      return { state: at(state, n === rows.length - 1 ? 0 : n + 1) };
    case "left":
      return { state: goTo(asked, state, state.tab - 1) };
    case "enter":
      return row === "remark" ? { state: at(state, n + 1) } : close(asked, state, row, wording);
    default:
      return {
        state: key.text === undefined ? state : { ...state, note: wording.notTyped },
        ...(key.text && { rearm: true }),
      };
  }
}

function close(
  asked: QuestionRequest,
  state: QuestionState,
  row: Exclude<ReviewRow, "remark"> | undefined,
  wording: PanelTexts,
): Step<QuestionState> {
  const requestId = asked.id;
  const words = state.remark.text.trim();
  switch (row) {
    case "unanswered": {
      const n = asked.questions.findIndex((question, index) => !answerOf(question, state, index));
      return { state: goTo(asked, state, n) };
    }
    case "submit": {
      const answers = answersOf(asked, state);
      const count = Object.keys(answers).length;
      if (count === 0) return { state: { ...state, note: wording.submitNone } };
      const partial = count < asked.questions.length;
      const more = { ...(words !== "" && { remark: words }), ...(partial && { partial }) };
      return { state, respond: { type: "answers", requestId, answers, ...more } };
    }
    case "decline":
      return { state, respond: { type: "denied", requestId, ...(words !== "" && { reason: words }) } };
    case "stop":
      return { state, respond: { type: "cancelled", requestId, ...(words !== "" && { reason: words }) } };
    default:
      return { state };
  }
}
