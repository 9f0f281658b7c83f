import { isObject } from "../../base/issue.ts";
import type { Answers, InputResponse } from "../../protocol/facts/answer.ts";
import type { Draft, InputRequest, PermissionRequest } from "../../protocol/facts/request.ts";
import type { SharedAnswer } from "../../protocol/host/host.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { keyOf } from "../../texts/shared/questions.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import {
  narrowerRule,
  ruleInTheWay,
  rulesFor,
  takesOwnWords,
  takesRemark,
  withoutAsking,
} from "../../view/request/answering.ts";
import { mayComment, mayEdit } from "../../view/request/choices.ts";
import { readAlways, several, single, unquoted, type Writing } from "./typed/answers.ts";

/** Stage of answering one request. */
export type Dialog =
  | { at: "choices" }
  /** The same answer for all of these, which stand above it. */
  | { at: "together"; requests: readonly PermissionRequest[] }
  | { at: "reason" }
  | { at: "comment" }
  | { at: "edit" }
  | ({ at: "rule" } & Writing)
  | { at: "unask" }
  | { at: "text" }
  | { at: "question"; n: number; answers: Answers }
  | { at: "remark"; answers: Answers };

/** Result of a typed line. */
type Step =
  | { type: "respond"; response: InputResponse }
  | { type: "respondAll"; requestIds: string[]; answer: SharedAnswer }
  | { type: "next"; dialog: Dialog; draft?: Draft; note?: string }
  /** The person asks about the request first. */
  | { type: "inquire"; text: string }
  /** No answer; the same is asked again. */
  | { type: "again"; message: string };

/** Answers in a draft that still fit are kept. */
export function begin(request: InputRequest, draft: Draft | undefined): Dialog {
  switch (request.kind) {
    case "permission":
      return { at: "choices" };
    case "text":
      return { at: "text" };
    case "question": {
      const given = Object.entries(draft?.answers ?? {}).filter(([text, answer]) => {
        const labels = request.questions.find(({ question }) => question === text)?.options.map(({ label }) => label);
        const filled = answer.selected.length > 0 || (answer.other ?? "").trim() !== "";
        return labels && filled && answer.selected.every((label) => labels.includes(label));
      });
      return nextQuestion(request, Object.fromEntries(given));
    }
    default:
      return request satisfies never;
  }
}

export function hear(request: InputRequest, dialog: Dialog, line: string, t: Texts): Step {
  const typed = line.trim();
  const frame = { requestId: request.id };
  const back: Step = { type: "next", dialog: { at: "choices" } };
  const inquiry = asksBack.has(dialog.at) ? /^[?？](.*)$/su.exec(typed)?.[1]?.trim() : undefined;
  if (inquiry !== undefined)
    return inquiry === "" ? { type: "again", message: t.inquiryHow } : { type: "inquire", text: inquiry };
  switch (dialog.at) {
    case "choices":
      return request.kind === "permission" ? choose(request, typed, t) : { type: "again", message: t.noChoice(typed) };
    case "together": {
      const requestIds = dialog.requests.map(({ id }) => id);
      const said = keyOf(typed);
      if (said === "y" || said === "yes" || said === "是")
        return { type: "respondAll", requestIds, answer: { type: "granted" } };
      if (said === "n" || said === "no" || said === "否")
        return { type: "respondAll", requestIds, answer: { type: "denied" } };
      return typed === "" ? back : { type: "again", message: t.noChoice(typed, "y, n") };
    }
    case "reason":
      return typed === "" ? back : { type: "respond", response: { type: "denied", ...frame, reason: typed } };
    case "comment":
      return typed === "" ? back : { type: "respond", response: { type: "granted", ...frame, comment: typed } };
    case "edit":
      return typed === "" || request.kind !== "permission" ? back : edit(request, line, t);
    case "rule": {
      const rules = [{ rule: typed, behavior: "allow" as const, destination: dialog.destination }];
      return typed === "" ? back : { type: "respond", response: { type: "granted", ...frame, rules } };
    }
    case "unask":
      if (request.kind !== "permission" || typed === "") return back;
      if (/^[=＝]$/.test(typed) && narrowerRule(request) === "")
        return { type: "again", message: t.noChoice(typed, "-") };
      return { type: "respond", response: withoutAsking(request, narrowerIn(request, typed)) };
    case "text":
      if (typed === "") return { type: "again", message: t.emptyLine };
      return (
        leave(request, typed) ?? {
          type: "respond",
          response: { type: "text", ...frame, text: unquoted(typed) ?? typed },
        }
      );
    case "question":
      return request.kind === "question" ? answer(request, dialog, typed, t) : back;
    case "remark": {
      // No letter is a command here: everything was answered, and a remark may be one letter long.
      const given = typed === "" ? {} : { remark: unquoted(typed) ?? typed };
      return { type: "respond", response: { type: "answers", ...frame, answers: dialog.answers, ...given } };
    }
    default:
      return dialog satisfies never;
  }
}

/** `-`: none, the rule goes. `=`: the one that was offered. Anything else is the person's own. */
function narrowerIn(request: PermissionRequest, typed: string): string {
  return typed === "-" ? "" : /^[=＝]$/.test(typed) ? narrowerRule(request) : typed;
}

/** The letter for answering requests together that are alike. */
export function isTogether(line: string): boolean {
  return keyOf(line.trim()) === "t";
}

/** Elsewhere a question mark may begin what is written. In quotes it does so here as well. */
const asksBack: ReadonlySet<Dialog["at"]> = new Set(["choices", "question", "text"]);

function choose(request: PermissionRequest, typed: string, t: Texts): Step {
  const frame = { requestId: request.id };
  const isPlan = request.tool === PLAN_TOOL;
  if (isPlan && keyOf(typed) === "a")
    return { type: "respond", response: { type: "granted", ...frame, mode: "acceptEdits" } };
  const always = readAlways(request, typed, t);
  if (typeof always === "string") return { type: "again", message: always };
  if (Array.isArray(always)) return { type: "respond", response: { type: "granted", ...frame, rules: always } };
  if (always) return { type: "next", dialog: { at: "rule", ...always } };
  switch (keyOf(typed)) {
    case "":
      return { type: "again", message: t.emptyLine };
    case "y":
    case "yes":
    case "是":
      return { type: "respond", response: { type: "granted", ...frame } };
    case "o":
      if (request.mayLeave) return { type: "respond", response: { type: "granted", ...frame, outside: true } };
      return { type: "again", message: t.noChoice(typed) };
    case "n":
    case "no":
    case "否":
      return { type: "respond", response: { type: "denied", ...frame } };
    case "u":
      if (ruleInTheWay(request)) return { type: "next", dialog: { at: "unask" } };
      return { type: "again", message: t.noChoice(typed, lettersOf(request).join(", ")) };
    case "r":
      return { type: "next", dialog: { at: "reason" } };
    case "e":
      if (mayEdit(request)) return { type: "next", dialog: { at: "edit" } };
      return { type: "again", message: t.noChoice(typed, lettersOf(request).join(", ")) };
    case "c":
      if (mayComment(request)) return { type: "next", dialog: { at: "comment" } };
      return { type: "again", message: t.noChoice(typed, lettersOf(request).join(", ")) };
    case "s":
      return { type: "respond", response: { type: "cancelled", ...frame } };
    default:
      return { type: "again", message: t.noChoice(typed, lettersOf(request).join(", ")) };
  }
}

function lettersOf(request: PermissionRequest): string[] {
  const rule = request.tool === PLAN_TOOL || rulesFor(request).length > 0;
  const [leave, edit] = [request.mayLeave, mayEdit(request)];
  const unask = ruleInTheWay(request) !== undefined;
  return [
    "y",
    ...(rule ? ["a"] : []),
    ...(unask ? ["u"] : []),
    ...(leave ? ["o"] : []),
    "n",
    "r",
    ...(edit ? ["e"] : []),
    ...(mayComment(request) ? ["c"] : []),
    "s",
    "?",
  ];
}

/** A line to start an edit from, where one line can hold it. */
export function editable(request: InputRequest): string | undefined {
  if (request.kind !== "permission") return undefined;
  const { command } = request.input;
  const text = typeof command === "string" ? command : JSON.stringify(request.input);
  return /\p{Cc}/u.test(text) ? undefined : text;
}

function edit(request: PermissionRequest, line: string, t: Texts): Step {
  const unchanged: Step = { type: "next", dialog: { at: "choices" }, note: t.unchanged };
  const { input, id: requestId } = request;
  if (typeof input["command"] === "string") {
    if (line === input["command"]) return unchanged;
    return { type: "respond", response: { type: "granted", requestId, input: { ...input, command: line } } };
  }
  try {
    const fresh: unknown = JSON.parse(line);
    if (!isObject(fresh)) return { type: "again", message: t.notJson(line) };
    if (JSON.stringify(fresh) === JSON.stringify(input)) return unchanged;
    return { type: "respond", response: { type: "granted", requestId, input: fresh } };
  } catch (error) {
    return { type: "again", message: t.notJson(thrownText(error)) };
  }
}

type Asked = InputRequest & { kind: "question" };

function answer(request: Asked, { n, answers }: Dialog & { at: "question" }, typed: string, t: Texts): Step {
  if (typed === "") return { type: "again", message: t.emptyLine };
  if (keyOf(typed) === "p") {
    if (Object.keys(answers).length === 0) return { type: "again", message: t.nothingYet };
    return { type: "respond", response: { type: "answers", requestId: request.id, answers, partial: true } };
  }
  if (keyOf(typed) === "b") return back(request, n, answers, t);
  const left = leave(request, typed);
  const question = request.questions[n];
  if (left || !question) return left ?? { type: "again", message: t.noChoice(typed) };
  const given = (question.multiSelect ? several : single)(question, typed, t, takesOwnWords(request));
  if (typeof given === "string") return { type: "again", message: given };
  const all = { ...answers, [question.question]: given };
  const dialog = nextQuestion(request, all);
  if (dialog.at === "remark" && !takesRemark(request))
    return { type: "respond", response: { type: "answers", requestId: request.id, answers: all } };
  return { type: "next", dialog, draft: { answers: all } };
}

/** To the question before this one, whose answer is given again. */
function back({ questions }: Asked, n: number, answers: Answers, t: Texts): Step {
  const before = questions[n - 1];
  if (!before) return { type: "again", message: t.noneBefore };
  const { [before.question]: _taken, ...kept } = answers;
  return { type: "next", dialog: { at: "question", n: n - 1, answers: kept }, draft: { answers: kept } };
}

function nextQuestion({ questions }: Asked, answers: Answers): Dialog {
  const n = questions.findIndex(({ question }) => !Object.hasOwn(answers, question));
  return n < 0 ? { at: "remark", answers } : { at: "question", n, answers };
}

function leave(request: InputRequest, typed: string): Step | undefined {
  const key = keyOf(typed);
  if (key === "d") return { type: "respond", response: { type: "denied", requestId: request.id } };
  if (key === "s") return { type: "respond", response: { type: "cancelled", requestId: request.id } };
  return undefined;
}
