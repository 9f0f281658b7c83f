import type { RuleDestination } from "../../../../protocol/decision.ts";
import type { Answer, Answers, InputResponse } from "../../../../protocol/facts/answer.ts";
import type { Draft, InputRequest, PermissionRequest, Question } from "../../../../protocol/facts/request.ts";
import { takesOwnWords } from "../../../../protocol/facts/request.ts";
import type { Command } from "../../../../protocol/host/host.ts";
import { PLAN_TOOL } from "../../../../protocol/mode.ts";
import type { Sender } from "../../../../protocol/sender.ts";
import { narrowerRule, ruleInTheWay, rulesFor, withoutAsking } from "../../../../view/request/answering.ts";
import {
  allows,
  chosenRules,
  editable,
  fitsPlace,
  inputFrom,
  mayAcceptEdits,
  mayComment,
  mayEdit,
  type Choice,
} from "../../../../view/request/choices.ts";
import { neededOf } from "../../../../view/request/describe.ts";

/** A choice that waits for its second step. */
type Armed =
  | Exclude<Choice, "always" | "unask" | "reason" | "edit" | "comment" | "together">
  | "allowAll"
  | "refuseAll";

/** State of an answer that a person is giving. Nothing of it is known elsewhere but its draft. */
export type Answering = {
  stage: "choices" | "confirm" | "reason" | "comment" | "edit" | "always" | "unask" | "together" | "inquire";
  armed?: Armed;
  /** Requests that one answer is for. A list that is being read stays as it is. */
  list: readonly InputRequest[];
  reason: string;
  comment: string;
  edit: string;
  text: string;
  remark: string;
  inquiry: string;
  /** Answers by the text of the question. */
  answers: Answers;
  ticked: readonly boolean[];
  own: string;
  /** The narrower ask rule in place of the one that asks. */
  unask: string;
  place: RuleDestination;
  /** The person has written or chosen something that is not sent yet. */
  touched: boolean;
};

type Written = "reason" | "comment" | "edit" | "unask" | "text" | "remark" | "inquiry" | "own";

export type Did =
  | { type: "choose"; choice: Choice | "inquire" }
  | { type: "all"; answer: "allowAll" | "refuseAll" }
  | { type: "confirm" }
  | { type: "back" }
  | { type: "write"; field: Written; text: string }
  | { type: "pick"; question: string; label: string }
  | { type: "other"; question: string; text: string }
  | { type: "tick"; n: number }
  | { type: "place"; destination: RuleDestination }
  | { type: "submit" }
  | { type: "decline" }
  /** Another person's newer draft. */
  | { type: "take"; draft: Draft };

/** A command before it is known who sends it. */
export type Unsigned = Command extends infer C ? (C extends Sender ? Omit<C, keyof Sender> : C) : never;
type Nameless = Exclude<Command["type"], Extract<Command, Sender>["type"]>;
/** Commands without a sender: they read, or continue existing work. */
const nameless: Record<Nameless, true> = {
  open: true,
  ask: true,
  resume: true,
  compact: true,
  sessions: true,
  request: true,
  past: true,
  pending: true,
  rewindPoints: true,
  planRewind: true,
  about: true,
  models: true,
  files: true,
  facts: true,
  receipts: true,
  output: true,
  stats: true,
};

/** The command with its sender. The host replaces the name with the one it knows. */
export function signed(command: Unsigned, { by, surface }: Sender): Command {
  return (Object.hasOwn(nameless, command.type) ? command : { ...command, by, surface }) as Command;
}

export type Problem = "empty" | "unchanged" | "not-an-object" | "not-json" | "no-rule" | "place-gone" | "no-answer";
type Step = { state: Answering; send?: Unsigned[]; problem?: Problem };

export function begin(request: InputRequest, draft: Draft = {}): Answering {
  const offers = request.kind === "permission" ? rulesFor(request) : [];
  const needed = neededOf(offers);
  return {
    stage: "choices",
    list: [],
    reason: draft.reason ?? "",
    comment: draft.comment ?? "",
    edit: draft.edit ?? (request.kind === "permission" ? editable(request) : ""),
    text: draft.text ?? "",
    remark: draft.remark ?? "",
    inquiry: "",
    answers: request.kind === "question" ? fitting(request, draft.answers ?? {}) : {},
    ticked: offers.map((offer) => needed.includes(offer)),
    own: "",
    unask: request.kind === "permission" ? narrowerRule(request) : "",
    place: "session",
    touched: false,
  };
}

/** Text and answers that are not sent yet, as every other surface can take them up. */
export function draftOf(request: InputRequest, state: Answering): Draft {
  const { reason, comment, edit, text, remark, answers } = state;
  const written = (name: keyof Draft, value: string) => (value.trim() === "" ? {} : { [name]: value });
  switch (request.kind) {
    case "permission":
      return {
        ...written("reason", reason),
        ...written("comment", comment),
        ...(edit !== editable(request) && written("edit", edit)),
      };
    case "question":
      return { ...(Object.keys(answers).length > 0 && { answers }), ...written("remark", remark) };
    case "text":
      return written("text", text);
    default:
      return request satisfies never;
  }
}

/** Answers to a permission: those that people take, and the others behind "more". */
export function choicesFor(request: PermissionRequest, alike: number): { main: Choice[]; more: Choice[] } {
  const together = alike > 1 ? (["together"] as const) : [];
  const edit = mayEdit(request) ? (["edit"] as const) : [];
  if (request.tool === PLAN_TOOL)
    return { main: ["once", "acceptEdits", "reason"], more: ["comment", ...edit, "no", "stop"] };
  return {
    main: ["once", ...(request.hard ? [] : (["always"] as const)), "no"],
    more: [
      ...(mayAcceptEdits(request) ? (["acceptEdits"] as const) : []),
      ...(ruleInTheWay(request) ? (["unask"] as const) : []),
      ...(request.mayLeave ? (["outside"] as const) : []),
      "reason" as const,
      ...(mayComment(request) ? (["comment"] as const) : []),
      ...edit,
      ...together,
      "stop",
    ],
  };
}

/** Does the next step of this act let something run? Then its end must have been seen. */
export function letsRun(did: Did, state: Answering): boolean {
  if (did.type === "choose") return did.choice !== "inquire" && allows(did.choice);
  if (did.type === "all") return did.answer === "allowAll";
  if (did.type !== "confirm") return false;
  if (state.stage === "confirm")
    return state.armed === "allowAll" || (state.armed !== "refuseAll" && isAllowing(state.armed));
  return ["comment", "edit", "always", "unask"].includes(state.stage);
}

function isAllowing(armed: Armed | undefined): boolean {
  return armed === "once" || armed === "acceptEdits" || armed === "outside";
}

/** Takes a person's act to where they are now, and to the commands for the host. */
export function step(
  request: InputRequest,
  state: Answering,
  did: Did,
  { alike = [], id }: { alike?: readonly InputRequest[]; id(): string },
): Step {
  const requestId = request.id;
  const touched = { ...state, touched: true };
  switch (did.type) {
    case "choose":
      return did.choice === "together"
        ? { state: { ...state, stage: did.choice, list: alike } }
        : chosen(request, state, did.choice);
    case "all":
      return { state: { ...state, stage: "confirm", armed: did.answer } };
    case "confirm":
      return confirmed(request, state, id);
    case "back": {
      const { armed, ...rest } = state;
      const toList = armed === "allowAll" || armed === "refuseAll";
      return { state: { ...rest, stage: toList ? "together" : "choices" } };
    }
    case "write":
      return { state: { ...touched, [did.field]: did.text } };
    case "pick":
      return { state: { ...touched, answers: picked(request, state.answers, did) } };
    case "other":
      return { state: { ...touched, answers: worded(request, state.answers, did) } };
    case "tick":
      return { state: { ...state, ticked: state.ticked.with(did.n, !state.ticked[did.n]) } };
    case "place":
      return { state: { ...state, place: did.destination } };
    case "submit":
      return submitted(request, state);
    case "decline":
      return { state, send: [respond({ type: "denied", requestId, ...reasoned(state.remark) })] };
    case "take":
      return { state: begin(request, did.draft) };
    default:
      return did satisfies never;
  }
}

function chosen(request: InputRequest, state: Answering, choice: Exclude<Choice, "together"> | "inquire"): Step {
  switch (choice) {
    case "no":
      return { state, send: [respond({ type: "denied", requestId: request.id })] };
    case "once":
    case "acceptEdits":
    case "outside":
    case "stop":
      return { state: { ...state, stage: "confirm", armed: choice } };
    case "always":
    case "unask":
    case "reason":
    case "edit":
    case "comment":
    case "inquire":
      return { state: { ...state, stage: choice } };
    default:
      return choice satisfies never;
  }
}

function confirmed(request: InputRequest, state: Answering, id: () => string): Step {
  const requestId = request.id;
  const done = (response: InputResponse): Step => ({ state, send: [respond(response)] });
  const { stage, armed } = state;
  const words = stage === "reason" || stage === "comment" ? state[stage].trim() : "";
  switch (stage) {
    case "confirm":
      return armed === undefined ? { state } : firmly(request, state, armed);
    case "reason":
      return words === "" ? { state, problem: "empty" } : done({ type: "denied", requestId, reason: words });
    case "comment":
      return words === "" ? { state, problem: "empty" } : done({ type: "granted", requestId, comment: words });
    case "edit": {
      const found = request.kind === "permission" ? inputFrom(request, state.edit) : { problem: "unchanged" as const };
      if ("problem" in found) return { state, problem: found.problem };
      return done({ type: "granted", requestId, input: found.input });
    }
    case "always": {
      if (request.kind !== "permission") return { state };
      const rules = chosenRules(request, state);
      if (rules.length === 0) return { state, problem: "no-rule" };
      return fitsPlace(request, state) ? done({ type: "granted", requestId, rules }) : { state, problem: "place-gone" };
    }
    case "unask":
      return request.kind === "permission" ? done(withoutAsking(request, state.unask)) : { state };
    case "inquire": {
      const text = state.inquiry.trim();
      if (text === "") return { state, problem: "empty" };
      return {
        state: { ...state, stage: "choices", inquiry: "" },
        send: [{ type: "inquire", requestId, text, id: id() }],
      };
    }
    case "choices":
    case "together":
      return { state };
    default:
      return stage satisfies never;
  }
}

function firmly(request: InputRequest, state: Answering, armed: Armed): Step {
  const requestId = request.id;
  const isPlan = request.kind === "permission" && request.tool === PLAN_TOOL;
  switch (armed) {
    case "once":
      return { state, send: [respond({ type: "granted", requestId })] };
    case "outside":
      return { state, send: [respond({ type: "granted", requestId, outside: true })] };
    case "acceptEdits":
      return isPlan
        ? { state, send: [respond({ type: "granted", requestId, mode: armed })] }
        : {
            state,
            send: [
              respond({ type: "granted", requestId }),
              { type: "chooseMode", session: request.session, mode: armed },
            ],
          };
    case "no":
      return { state, send: [respond({ type: "denied", requestId })] };
    case "stop":
      return { state, send: [respond({ type: "cancelled", requestId })] };
    case "allowAll":
    case "refuseAll": {
      const answer = { type: armed === "allowAll" ? ("granted" as const) : ("denied" as const) };
      return { state, send: [{ type: "respondAll", requestIds: state.list.map((request) => request.id), answer }] };
    }
    default:
      return armed satisfies never;
  }
}

function submitted(request: InputRequest, state: Answering): Step {
  const requestId = request.id;
  if (request.kind === "text") {
    const text = state.text.trim();
    return text === ""
      ? { state, problem: "empty" }
      : { state, send: [respond({ type: "text", requestId, text: state.text })] };
  }
  if (request.kind !== "question") return { state };
  const { answers } = state;
  const given = Object.keys(answers).length;
  if (given === 0) return { state, problem: "no-answer" };
  const partial = given < request.questions.filter(({ field }) => !field?.optional).length;
  const remark = state.remark.trim();
  const response = { type: "answers" as const, requestId, answers, ...(partial && { partial }) };
  return { state, send: [respond({ ...response, ...(remark !== "" && { remark }) })] };
}

function respond(response: InputResponse): Unsigned {
  return { type: "respond", response };
}

function reasoned(remark: string): { reason?: string } {
  return remark.trim() === "" ? {} : { reason: remark.trim() };
}

function findQuestion(request: InputRequest, text: string): Question | undefined {
  return request.kind === "question" ? request.questions.find(({ question }) => question === text) : undefined;
}

/** With one answer a label takes the place of the other and of words; with several it comes and goes. */
function picked(
  request: InputRequest,
  answers: Answers,
  { question, label }: { question: string; label: string },
): Answers {
  const asked = findQuestion(request, question);
  if (!asked?.options.some((option) => option.label === label)) return answers;
  const { selected = [], other } = answers[question] ?? {};
  if (!asked.multiSelect) return { ...answers, [question]: { selected: [label] } };
  const labels = selected.includes(label) ? selected.filter((chosen) => chosen !== label) : [...selected, label];
  const inOrder = asked.options.flatMap((option) => (labels.includes(option.label) ? [option.label] : []));
  return kept(answers, question, { selected: inOrder, ...(other !== undefined && { other }) });
}

function worded(request: InputRequest, answers: Answers, { question, text }: { question: string; text: string }) {
  const asked = findQuestion(request, question);
  if (!asked || !takesOwnWords(request)) return answers;
  const selected = asked.multiSelect || text.trim() === "" ? (answers[question]?.selected ?? []) : [];
  return kept(answers, question, { selected, ...(text !== "" && { other: text }) });
}

function kept(answers: Answers, question: string, answer: Answer): Answers {
  const { [question]: _, ...others } = answers;
  const empty = answer.selected.length === 0 && (answer.other ?? "").trim() === "";
  return empty ? others : { ...answers, [question]: answer };
}

function fitting(request: InputRequest & { kind: "question" }, draft: Answers): Answers {
  let answers: Answers = {};
  for (const { question, multiSelect } of request.questions) {
    const { selected = [], other = "" } = draft[question] ?? {};
    for (const label of multiSelect ? selected : selected.slice(0, 1))
      answers = picked(request, answers, { question, label });
    if (other !== "") answers = worded(request, answers, { question, text: other });
  }
  return answers;
}
