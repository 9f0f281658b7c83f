import type { ToolInput } from "../../protocol/facts/call.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import { addUsage, noUsage, type Call, type Usage } from "../../protocol/facts/message.ts";
import type { Cost } from "../../protocol/facts/outcome.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { CallItem } from "../transcript/item.ts";
import { near } from "./near.ts";
import { isOpen } from "../transcript/standing.ts";

const telling = ["command", "file_path", "path", "pattern", "url", "query", "description", "prompt", "skill"];

/** The field of an input that says most about the call: the one a rule would name. Not yet safe to draw. */
export function summaryOf(input: ToolInput): string {
  for (const field of telling) {
    const value = input[field];
    if (typeof value === "string") return value;
  }
  const { plan, ...others } = input;
  if (typeof plan === "string" && Object.keys(others).length === 0) return headingOf(plan);
  if (Array.isArray(input["todos"])) return "";
  return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
}

/** The first line that says something, without the marks of a heading. */
function headingOf(markdown: string): string {
  const lines = markdown.split("\n").map((line) => line.replace(/^[\s#]+/, "").trim());
  return lines.find((line) => line !== "") ?? "";
}

function isQuestion({ input }: Pick<Call, "input">): boolean {
  return Array.isArray(input["questions"]);
}

/** A call in a few words: what it runs, also after somebody changed it; a file is named from `cwd`. Not yet safe to draw. */
export function briefOf({ call, input, changed }: CallItem, cwd?: string): string {
  const words = changed ? summaryOf(input) : (call.malformed ?? summaryOf(input));
  return words === input["file_path"] || words === input["path"] ? near(words, cwd) : words;
}

/** The call is shown by the question it asks and then by the answer, not as a call. */
export function isAsking(item: CallItem): boolean {
  return isQuestion(item) && (item.asked.length > 0 || item.standing === "done" || !isOver(item));
}

/** The result is for the model: people see the same in the answer. */
export function isApprovedPlan({ call, standing }: CallItem): boolean {
  return call.tool === PLAN_TOOL && standing === "done";
}

/** Nothing of the call changes any more. */
export function isOver({ standing, result, turnEnded }: CallItem): boolean {
  return turnEnded === true || (result !== undefined && !isOpen(standing));
}

/** A request in a few words. Not yet safe to draw. */
export function nameOf(request: InputRequest, t: Texts): string {
  switch (request.kind) {
    case "permission":
      return `${request.tool} ${summaryOf(request.input)}`.trim();
    case "question":
      return request.questions.map((question) => t.question(question).question).join(" / ");
    case "text":
      return request.prompt;
    default:
      return request satisfies never;
  }
}

/** A session's title on one line, without text that was piped in with the first message. */
export function titleOf({ title }: { title: string }): string {
  return title
    .replace(/\n+`{3,}stdin\n[^]*$/, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Four digits below a dollar, cents above. Empty where the cost is not known. */
export function dollars(cost: Cost | undefined): string {
  return cost ? `$${cost.usd.toFixed(cost.usd < 1 ? 4 : 2)}` : "";
}

/** Turns that have ended, and their tokens. Without a cost where the price of one of them is not known. */
export function spentOf(facts: readonly Fact[]): { turns: number; usage: Usage; cost?: Cost } {
  const ends = facts.flatMap((fact) => (fact.type === "turn.ended" ? [fact.data] : []));
  const usage = ends.reduce((sum, end) => addUsage(sum, end.usage), noUsage);
  const priced = ends.length > 0 && ends.every(({ cost }) => cost !== undefined);
  const usd = ends.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0);
  return { turns: ends.length, usage, ...(priced && { cost: { usd } }) };
}

/** A few screens: more is in the export, and would only delay the first frame. */
const SHOWN_STEPS = 60;

/** The past as a surface shows it on attaching: its last turns, whole, and how many messages came before them. */
export function pastOf(facts: readonly Fact[]): { from: number; earlier: number } {
  const starts = [0, ...facts.flatMap(({ type }, n) => (type === "turn.ended" ? [n + 1] : []))];
  let from = lastTurn(facts);
  let steps = 0;
  for (const start of starts.filter((start) => start < from).toReversed()) {
    steps += facts.slice(start, from).filter(isStep).length;
    if (steps > SHOWN_STEPS) break;
    from = start;
  }
  return { from, earlier: facts.slice(0, from).filter(({ type }) => type === "user.said").length };
}

function isStep({ type }: Fact): boolean {
  return type === "user.said" || type === "model.replied" || type === "call.finished";
}

/** Index of the first fact of the open turn, or of the last turn if none is open. */
function lastTurn(facts: readonly Fact[]): number {
  const ends = facts.flatMap(({ type }, n) => (type === "turn.ended" ? [n + 1] : []));
  const open = ends.at(-1) ?? 0;
  return facts.slice(open).some(({ type }) => type === "user.said" || type === "turn.begun")
    ? open
    : (ends.at(-2) ?? 0);
}

export type Todo = { content: string; status: string };

/** The list that a call writes; undefined for every other call. Not yet safe to draw. */
export function todosOf({ call: { tool }, input }: CallItem): Todo[] | undefined {
  if (tool !== "TodoWrite" || !Array.isArray(input["todos"])) return undefined;
  const all = input["todos"] as (Partial<Todo> | null)[];
  return all.flatMap((todo) =>
    typeof todo?.content === "string" && typeof todo.status === "string"
      ? [{ content: todo.content, status: todo.status }]
      : [],
  );
}
