import { oneLine } from "../../../base/visible.ts";
import type { Answer, Answers } from "../../../protocol/facts/answer.ts";
import { takesOwnWords, type Draft, type InputRequest, type Question } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";
import type { PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import { clipped } from "../draw/rows.ts";
import { visibleWidth } from "../draw/tui.ts";
import { choiceRows, exact, framed, own, worded, type Draw, type Row } from "../widgets/draw.ts";
import { createField, edit, isBlank, type Field } from "../widgets/field.ts";
import { digitOf, type Key } from "../widgets/key.ts";
import { aboutLines } from "./frame.ts";
import type { Model, Step } from "./model.ts";

export function questionModel({ request, draft }: PendingRequest, wording: PanelTexts): Model<QuestionState> {
  const asked = request as QuestionRequest;
  return {
    start: begin(asked, draft),
    press: (state, key) => press(asked, { ...state, note: "" }, key, wording),
    page: (state) =>
      `${state.tab}${state.tab < asked.questions.length ? "" : JSON.stringify(givenAnswers(asked, state))}`,
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
      return { answers: givenAnswers(asked, state), ...(remark.trim() !== "" && { remark }) };
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
  const labels = now.includes(label)
    ? now.filter((chosen) => chosen !== label)
    : multiSelect
      ? [...now, label]
      : [label];
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
      const answers = givenAnswers(asked, state);
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

type QuestionRequest = InputRequest & { kind: "question" };

type QuestionState = {
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

type ReviewRow = "unanswered" | "remark" | "submit" | "decline" | "stop";

/** Takes over the parts of the draft that fit; opens where something is missing. */
function begin({ questions, source }: QuestionRequest, draft: Draft | undefined): QuestionState {
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

function answerOf(question: Question | undefined, state: QuestionState, n: number): Answer | undefined {
  const selected = state.picked[n] ?? [];
  const other = state.others[n]?.text.trim() ?? "";
  if (selected.length > 0) return { selected, ...(question?.multiSelect && other !== "" && { other }) };
  return other === "" ? undefined : { selected: [], other };
}

function givenAnswers({ questions }: Asked, state: QuestionState): Answers {
  return Object.fromEntries(
    questions.flatMap((question, n) => {
      const answer = answerOf(question, state, n);
      return answer ? [[question.question, answer]] : [];
    }),
  );
}

function reviewRows(asked: Asked, state: QuestionState): ReviewRow[] {
  const answered = Object.keys(givenAnswers(asked, state)).length;
  return [
    ...(answered < asked.questions.length ? (["unanswered"] as const) : []),
    ...(takesOwnWords(asked) ? (["remark"] as const) : []),
    "submit",
    "decline",
    "stop",
  ];
}

/** The review opens on "submit" when all is answered, and on what is missing when it is not. */
function goTo(asked: Asked, state: QuestionState, tab: number): QuestionState {
  if (tab < asked.questions.length) return { ...state, tab: Math.max(0, tab) };
  const rows = reviewRows(asked, state);
  const row = rows[0] === "unanswered" ? 0 : rows.indexOf("submit");
  return { ...state, tab: asked.questions.length, rows: state.rows.with(asked.questions.length, row) };
}

/** The question with what is needed to answer it; at the end, all answers. */
function questionBody(request: QuestionRequest, state: QuestionState, draw: Draw): string[] {
  const { theme, wording } = draw;
  const question = request.questions[state.tab];
  // After an interruption the question names a command that may run again: nothing of it hides.
  const asked = request.source === "recovery" ? exact : worded;
  if (question)
    return [...asked(draw.t.question(question).question, draw, { paint: theme.bold }), ...aboutLines(request, draw)];
  const answers = request.questions.flatMap((question, n) => {
    const answer = answerOf(question, state, n);
    const shown = draw.t.question(question);
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
function questionTabs({ questions }: QuestionRequest, state: QuestionState, { theme, t, wording, width }: Draw) {
  const names = questions.map((each, n) => {
    const { header, question } = t.question(each);
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

function questionChoices(request: QuestionRequest, state: QuestionState, draw: Draw) {
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
      const [answered, of] = [Object.keys(givenAnswers(request, state)).length, request.questions.length];
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

function questionKeys(request: QuestionRequest, state: QuestionState, { wording: { keys } }: Draw): string[] {
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
