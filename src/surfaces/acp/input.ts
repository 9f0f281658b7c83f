import type { ElicitationPropertySchema, ElicitationSchema, PermissionOption } from "@agentclientprotocol/sdk";
import { readSlash } from "../../base/name.ts";
import { oneLine } from "../../base/visible.ts";
import type { RuleDestination } from "../../protocol/decision.ts";
import type { Answer, InputResponse } from "../../protocol/facts/answer.ts";
import type { InputRequest, PermissionRequest, Question } from "../../protocol/facts/request.ts";
import { shortRequestId } from "../../protocol/key.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import type { AcpTexts } from "../../texts/surfaces/acp.ts";
import { withSlash } from "../../view/slash/read.ts";
import type { SlashName } from "../../view/slash/table.ts";
import type { SlashWords } from "../../view/slash/run.ts";
import { rulesFor, takesOwnWords } from "../../view/request/answering.ts";
import { originLines, projectOf } from "../../view/request/origin.ts";
import { neededOf } from "../../view/request/describe.ts";

export type Words = SlashWords & { w: AcpTexts };

/** The editor's own means to ask: buttons, a form, or the conversation, in which the next message answers. */
type Way =
  | { type: "buttons"; buttons: Button[] }
  | { type: "form"; schema: ElicitationSchema }
  | { type: "chat"; text: string };

export type Button = { option: PermissionOption; response: InputResponse };

type QuestionRequest = InputRequest & { kind: "question" };

export function wayOf(request: InputRequest, words: Words, { form }: { form: boolean }): Way {
  switch (request.kind) {
    case "permission":
      return { type: "buttons", buttons: permissionButtons(request, words) };
    case "question": {
      const [only, more] = request.questions;
      if (form) return { type: "form", schema: formOf(request, words) };
      // An editor may allow everything by itself, and take the first button for a yes: a command that was cut off is not run again by that.
      const mayBeButtons = request.source !== "recovery" && only && !more;
      if (mayBeButtons && only.options.length > 0 && !only.multiSelect)
        return { type: "buttons", buttons: choiceButtons(request, only, words) };
      return { type: "chat", text: chatText(request, words) };
    }
    case "text":
      if (form) return { type: "form", schema: textForm(request.prompt, words) };
      return { type: "chat", text: chatText(request, words) };
    default:
      return request satisfies never;
  }
}

function permissionButtons(request: PermissionRequest, { t, w }: Words): Button[] {
  const frame = { requestId: request.id };
  const yes = { type: "granted", ...frame } as const;
  const button = (optionId: string, kind: PermissionOption["kind"], name: string, response: InputResponse): Button => ({
    option: { optionId, kind, name },
    response,
  });
  const isPlan = request.tool === PLAN_TOOL;
  const rules = neededOf(request.consent ? [] : rulesFor(request)).filter(({ behavior }) => behavior === "allow");
  const kept = (destination: RuleDestination) =>
    rules.length > 0 && rules.every(({ places }) => places.some((place) => place.destination === destination));
  const always = (destination: RuleDestination) => ({
    ...yes,
    rules: rules.map(({ rule, behavior }) => ({ rule, behavior, destination })),
  });
  const named = oneLine(rules.map(({ rule }) => rule).join(", "));
  return [
    button("allow", "allow_once", isPlan ? t.planYes : w.allow, yes),
    ...(isPlan ? [button("accept-edits", "allow_always", t.planAccept, { ...yes, mode: "acceptEdits" })] : []),
    ...(kept("session") ? [button("always-session", "allow_always", w.always(named), always("session"))] : []),
    ...(kept("local")
      ? [button("always-local", "allow_always", w.alwaysHere(named, projectOf(request)), always("local"))]
      : []),
    ...(request.mayLeave ? [button("outside", "allow_once", t.runOutside, { ...yes, outside: true })] : []),
    button("refuse", "reject_once", w.refuse, { type: "denied", ...frame }),
    button("stop", "reject_once", w.stop, { type: "cancelled", ...frame }),
  ];
}

function choiceButtons(request: QuestionRequest, question: Question, { t, w }: Words): Button[] {
  const shown = t.question(question).options;
  return [
    ...question.options.map(({ label }, n): Button => ({
      option: { optionId: `option-${n}`, kind: "allow_once", name: oneLine(shown[n]?.label ?? label) },
      response: answered(request, new Map([[question.question, { selected: [label] }]])),
    })),
    {
      option: { optionId: "decline", kind: "reject_once", name: w.decline },
      response: { type: "denied", requestId: request.id },
    },
  ];
}

function answered({ id }: InputRequest, answers: ReadonlyMap<string, Answer>): InputResponse {
  return { type: "answers", requestId: id, answers: Object.fromEntries(answers) }; // a question may be named "__proto__"
}

const field = (n: number): string => `question_${n + 1}`;
const TEXT = "text";

/** A form has no "other" beside its options: that is a field of its own. */
function formOf(request: QuestionRequest, { t, w }: Words): ElicitationSchema {
  const properties: Record<string, ElicitationPropertySchema> = {};
  const required: string[] = [];
  for (const [n, asked] of request.questions.entries()) {
    const { question, header, options } = t.question(asked);
    const title = oneLine(header.trim() === "" ? question : header);
    const description = header.trim() === "" ? {} : { description: oneLine(question) };
    const choices = asked.options.map(({ label }, at) => ({
      const: label,
      title: oneLine([options[at]?.label ?? label, options[at]?.description].filter(Boolean).join(" — ")),
    }));
    const ownWords = takesOwnWords(request) && asked.field === undefined;
    if (choices.length === 0) properties[field(n)] = { type: "string", title, ...description };
    else if (asked.multiSelect)
      properties[field(n)] = { type: "array", title, ...description, items: { anyOf: choices } };
    else properties[field(n)] = { type: "string", title, ...description, oneOf: choices };
    if (choices.length > 0 && ownWords)
      properties[`${field(n)}_other`] = { type: "string", title: w.other, description: w.otherHint };
    else if (!asked.field?.optional) required.push(field(n));
  }
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

function textForm(prompt: string, { w }: Words): ElicitationSchema {
  return {
    type: "object",
    properties: { [TEXT]: { type: "string", title: w.text, description: oneLine(prompt) } },
    required: [TEXT],
  };
}

/** The filled-in form as an answer. Whether it fits is for the host to say. */
export function formAnswer(request: InputRequest, content: Record<string, unknown>): InputResponse {
  if (request.kind !== "question") return { type: "text", requestId: request.id, text: words(content[TEXT]) };
  const answers = new Map<string, Answer>();
  for (const [n, { question, multiSelect, options }] of request.questions.entries()) {
    const given = content[field(n)];
    const other = words(content[`${field(n)}_other`]).trim();
    const chosen = (Array.isArray(given) ? given : [given]).map(words).filter((label) => label !== "");
    const answer: Answer =
      options.length === 0
        ? { selected: [], other: chosen[0] ?? "" }
        : { selected: other !== "" && !multiSelect ? [] : chosen, ...(other !== "" && { other }) };
    if (answer.selected.length > 0 || answer.other) answers.set(question, answer);
  }
  return answered(request, answers);
}

function words(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? `${value}` : "";
}

/** The questions in the conversation, as Markdown, with how to answer them. */
export function chatText(request: InputRequest, { t, w }: Words): string {
  const below = [...originLines(request, t), w.elsewhere(shortRequestId(request.id))].join("\n\n");
  if (request.kind === "text") return [quoted(request.prompt), w.textHint, below].join("\n\n");
  if (request.kind !== "question") return below;
  const asked = request.questions.map((each, n) => {
    const { question, options } = t.question(each);
    const place = request.questions.length > 1 ? `${t.questionPlace(n + 1, request.questions.length)}\n` : "";
    const lines = options.map(({ label, description }, at) =>
      oneLine(`${at + 1}. ${description.trim() === "" ? label : `${label} — ${description}`}`),
    );
    return [`${place}${quoted(question)}`, lines.join("\n")].filter((part) => part !== "").join("\n\n");
  });
  return [...asked, w.howToAnswer(request.questions.length), below].join("\n\n");
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${oneLine(line)}`)
    .join("\n");
}

/** A message that answers: a line for each question, numbers of options, or own words. */
export function chatAnswer(request: InputRequest, message: string): InputResponse {
  if (readSlash(withSlash(message))?.name === ("decline" satisfies SlashName))
    return { type: "denied", requestId: request.id };
  if (request.kind !== "question") return { type: "text", requestId: request.id, text: message };
  const { questions } = request;
  const lines = questions.length === 1 ? [message.trim()] : message.split("\n").filter((line) => line.trim() !== "");
  const answers = new Map<string, Answer>();
  for (const [n, question] of questions.entries()) {
    const line = lines[n]?.trim();
    if (line) answers.set(question.question, answerIn(question, line));
  }
  return answered(request, answers);
}

function answerIn({ options, multiSelect }: Question, line: string): Answer {
  const named = (word: string) =>
    options.find(({ label }) => label.toLowerCase() === word.toLowerCase()) ??
    (/^\d+$/.test(word) ? options[Number(word) - 1] : undefined);
  const whole = named(line);
  if (whole) return { selected: [whole.label] };
  const several = line.split(/[,，、]/).map((word) => named(word.trim()));
  if (multiSelect && several.every((option) => option !== undefined))
    return { selected: several.map(({ label }) => label) };
  return { selected: [], other: line };
}
