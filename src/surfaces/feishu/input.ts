import type { Answer, InputResponse, RuleGrant } from "../../protocol/facts/answer.ts";
import type { InputRequest, PermissionRequest, Question } from "../../protocol/facts/request.ts";
import { optionNamed } from "../../texts/shared/questions.ts";
import type { Phrase } from "./cards/speech.ts";
import type { QuestionRequest } from "./cards/question.ts";
import type { Decision } from "./session/state.ts";
import { rulesFor, takesOwnWords } from "../../view/request/answering.ts";
import { neededOf } from "../../view/request/describe.ts";

/** An answer, or why the message is not one. */
export type Read = { response: InputResponse } | { problem: Phrase };

export function decided(request: PermissionRequest, decision: Decision): InputResponse {
  const requestId = request.id;
  if ("deny" in decision) return { type: "denied", requestId, ...(decision.deny !== "" && { reason: decision.deny }) };
  const { allow, comment = "" } = decision;
  const rules = allow === "always" ? alwaysRules(request) : [];
  return {
    type: "granted",
    requestId,
    ...(rules.length > 0 && { rules }),
    ...(allow === "outside" && { outside: true }),
    ...(comment !== "" && { comment }),
  };
}

/** From a chat, a rule applies to the session; files can be changed only at the machine. */
function alwaysRules(request: PermissionRequest): RuleGrant[] {
  return neededOf(rulesFor(request))
    .filter(({ behavior }) => behavior === "allow")
    .map(({ rule, behavior }) => ({ rule, behavior, destination: "session" }));
}

/** Reads a message as an answer: numbers of options, labels, or own words. */
export function readText(request: InputRequest, text: string): Read {
  const requestId = request.id;
  if (text.trim() === "") return { problem: ({ t }) => t.toast.empty };
  if (request.kind === "text") return { response: { type: "text", requestId, text: text.trim() } };
  if (request.kind === "permission") return { problem: ({ t }) => t.useCard };
  const { questions } = request;
  const lines = questions.length === 1 ? [text.trim()] : text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length !== questions.length) return { problem: ({ t }) => t.needLines(questions.length) };
  const answers = new Map<string, Answer>(); // a question may be named "__proto__"
  for (const [n, question] of questions.entries()) {
    // "2: SQLite" and "2. SQLite" name the question; a bare "2" is an option.
    const line =
      questions.length === 1 ? lines[n] : lines[n]?.replace(new RegExp(`^\\s*${n + 1}\\s*[:：.、)）]\\s*`), "");
    const read = readLine(question, line?.trim() ?? "", takesOwnWords(request));
    if (typeof read === "function") return { problem: read };
    answers.set(question.question, read);
  }
  return { response: { type: "answers", requestId, answers: Object.fromEntries(answers) } };
}

function readLine(question: Question, typed: string, other: boolean): Answer | Phrase {
  const { options, multiSelect } = question;
  if (options.length === 0) return { selected: [], other: typed };
  const exact = optionNamed(question, typed);
  if (exact) return { selected: [exact.label] };
  const selected = new Set<string>();
  let rest = typed;
  for (;;) {
    // Full-width digits and commas come from Chinese keyboards.
    const number = /^([0-9０-９]+)(?:[\s,，、;；]+|$)/.exec(rest);
    if (!number) break;
    const digits = (number[1] ?? "").normalize("NFKC");
    const option = options[Number(digits) - 1];
    if (!option) return ({ t }) => t.noOption(digits, options.length);
    selected.add(option.label);
    rest = rest.slice(number[0].length);
  }
  if (selected.size > 0 && rest !== "" && !other) return ({ t }) => t.onlyOptions;
  if (selected.size > 0 && (multiSelect || (selected.size === 1 && rest === "")))
    return { selected: [...selected], ...(rest !== "" && { other: rest }) };
  if (selected.size > 1) return ({ t }) => t.oneOnly;
  return other ? { selected: [], other: typed } : ({ t }) => t.onlyOptions;
}

/** Reads a form; `problem` leaves the form as it is. */
export function readForm(request: QuestionRequest, form: Record<string, unknown>): Read {
  const answers = new Map<string, Answer>();
  const other = takesOwnWords(request);
  for (const [n, question] of request.questions.entries()) {
    const chosen = [form[`q${n}`]].flat().filter((label) => typeof label === "string");
    const words = other ? textIn(form, `q${n}_other`) : "";
    const selected = question.options.filter((_, at) => chosen.includes(`o${at}`)).map(({ label }) => label);
    const needsWords = chosen.includes("other");
    const nothing = selected.length === 0 && words === "";
    if (nothing || (needsWords && words === "")) return { problem: ({ t }) => t.toast.fill(n + 1) };
    // An option plus free text would be two answers to a question that takes one; "other" needs the text.
    if (!question.multiSelect && selected.length > 0 && words !== "") return { problem: ({ t }) => t.oneOnly };
    answers.set(question.question, { selected, ...(words !== "" && { other: words }) });
  }
  const remark = textIn(form, "remark");
  const given = { answers: Object.fromEntries(answers), ...(remark !== "" && { remark }) };
  return { response: { type: "answers", requestId: request.id, ...given } };
}

/** Untouched fields are missing, empty, or an empty list. */
export function textIn(form: Record<string, unknown>, name: string): string {
  const value = form[name];
  return typeof value === "string" ? value.trim() : "";
}
