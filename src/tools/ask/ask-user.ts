import type { Answer, Answers, InputResponse } from "../../protocol/facts/answer.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { describe } from "../definition/describe.ts";
import { failed } from "../definition/result.ts";
import type { Tool } from "../definition/tool.ts";

const maxHeader = 12;

const filled = z.string().refine((text) => text.trim() !== "", "must not be empty");

const optionSchema = z.strictObject({
  label: filled.describe("One to five words"),
  description: filled.describe("What it leads to"),
});

const questionSchema = z.strictObject({
  question: filled.describe("Whole, for somebody who reads nothing else"),
  header: filled
    .refine((text) => countGraphemes(text) <= maxHeader, `must have at most ${maxHeader} characters`)
    .describe(`A tag, at most ${maxHeader} characters`),
  options: z
    .array(optionSchema)
    .max(4)
    .refine(({ length }) => length !== 1, "must be 2 to 4, or none to ask for a text")
    .refine((options) => areDistinct(options.map(({ label }) => label)), "labels must differ from each other")
    .describe("2 to 4, or none for a text"),
  multiSelect: z.boolean().default(false).describe("Several may hold together"),
});

const inputSchema = z.strictObject({
  questions: z
    .array(questionSchema)
    .min(1)
    .max(4)
    .refine(
      (questions) => areDistinct(questions.map(({ question }) => question)),
      "questions must differ from each other",
    ),
});

type Input = z.infer<typeof inputSchema>;

export const askUser: Tool<Input> = {
  name: "AskUserQuestion",
  description: describe("ask/ask-user"),
  inputSchema,
  adapt: ({ questions, ...rest }) => ({
    ...rest,
    questions: Array.isArray(questions) ? questions.map(shortHeader) : questions,
  }),
  effect: "waits",
  requiresUserInteraction: true,
  checkPermissions: () => ({ behavior: "ask", reason: reason("asks-person", {}) }),
  request: ({ questions }) => ({ kind: "question", questions }),
  answered,
  execute: () => Promise.reject(new Error("AskUserQuestion is answered by a person, never executed")),
};

/** A tag that is too long is no reason to ask the model again. */
function shortHeader(question: unknown): unknown {
  const header = (question as { header?: unknown } | null)?.header;
  if (typeof header !== "string" || countGraphemes(header) <= maxHeader) return question;
  const cut = [...new Intl.Segmenter().segment(header)].slice(0, maxHeader - 1).map(({ segment }) => segment);
  return { ...(question as object), header: `${cut.join("")}…` };
}

function answered(input: Input, resolution: Resolution): ToolResult {
  switch (resolution.outcome) {
    case "answered":
    case "partial":
      return tell(input, resolution.response, "User answered");
    case "timed_out": {
      const { response } = resolution;
      if (response === undefined || response.type === "denied") {
        const words = response?.reason?.trim() ? `; default reason: ${JSON.stringify(response.reason)}` : "";
        return unanswered("nobody answered in time", `${inEnglish(resolution.reason)}${words}`);
      }
      const { text, answers, ...result } = tell(input, response, "Default answers");
      const nobody = `Nobody answered in time (${inEnglish(resolution.reason)}), so the default was used. It is not the person's own choice.`;
      return { ...result, text: `${nobody}\n${text}`, ...(answers && { answers, preset: true }) };
    }
    case "declined":
      return unanswered("the person chose not to answer", inEnglish(resolution.reason));
    case "cancelled":
      return unanswered("the request was cancelled", inEnglish(resolution.reason));
    case "superseded":
      return unanswered("the request was no longer needed", inEnglish(resolution.reason));
    case "no_surface":
      return unanswered("nobody can be asked here", inEnglish(resolution.reason));
    default:
      return resolution satisfies never;
  }
}

function inEnglish(why: Reason | undefined): string {
  return why === undefined ? "" : sentence(why, "en");
}

/** Never a success without an answer: an empty one has been read as consent before. */
function tell(input: Input, response: InputResponse, title: string): ToolResult {
  if (response.type === "text" && response.text.trim() !== "") {
    return { ok: true, text: `${title}: ${ownWords(response.text)}` };
  }
  if (response.type !== "answers") return unanswered("the reply held no answer", `it was "${response.type}"`);

  const { answers, remark = "" } = response;
  const given = input.questions.filter(({ question }) => showAnswer(answers, question) !== "");
  const missing = input.questions.filter(({ question }) => showAnswer(answers, question) === "");
  const remarks = remark.trim() === "" ? [] : [`Remark, ${ownWords(remark)}`];
  if (given.length === 0) return unanswered("no question was answered", remarks.join());

  const some = missing.length === 0 ? "" : ` ${given.length} of ${input.questions.length} questions`;
  const lines = [
    `${title}${some}:`,
    ...given.map(({ question }) => `- ${question} → ${showAnswer(answers, question)}`),
    ...missing.map(({ question }) => `- ${question} → NOT answered. Do not assume an answer.`),
    ...remarks,
  ];
  const asData = given.map(({ question }) => [question, answers[question] as Answer] as const);
  return { ok: true, text: lines.join("\n"), answers: Object.fromEntries(asData) };
}

function unanswered(why: string, reason: string): ToolResult {
  const because = reason.trim() === "" ? "" : ` (${reason})`;
  return failed(
    `NOT answered: ${why}${because}. This is neither consent nor a choice of any option. ` +
      "Go on only with what does not depend on the answer, or say what you need to know.",
  );
}

/** Empty when it holds nothing. A question may be called "constructor", so only what was really put there counts. */
function showAnswer(answers: Answers, question: string): string {
  const { selected = [], other = "" }: Partial<Answer> = Object.hasOwn(answers, question)
    ? (answers[question] ?? {})
    : {};
  const words = other.trim() === "" ? [] : [`Other, ${ownWords(other)}`];
  return [...selected.map((label) => JSON.stringify(label)), ...words].join("; ");
}

/** Quoted, so that nothing a person types can look like another line of the result. */
function ownWords(text: string): string {
  return `in the person's own words: ${JSON.stringify(text)}`;
}

/** Bytes or code units would refuse a short Chinese header. The segmenter is slow to make, so not before it is needed. */
function countGraphemes(text: string): number {
  return [...new Intl.Segmenter().segment(text)].length;
}

function areDistinct(texts: string[]): boolean {
  return new Set(texts.map((text) => text.trim())).size === texts.length;
}
