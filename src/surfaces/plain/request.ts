import type { InputRequest, Question } from "../../protocol/index.ts";
import { offered, type Dialog } from "./input.ts";
import type { Paint } from "./paint.ts";
import { leftOf, timeOf } from "./resolution.ts";
import { clipped, columns, framed, oneLine, type Page } from "./safe.ts";

export type Style = Page & { paint: Paint };

/** What is asked and why: the action itself first, the agent's words about it last. */
export function requestLines(request: InputRequest, style: Style, place?: string): string[] {
  const { t, paint, width } = style;
  const title = place === undefined ? t.title[request.kind] : `${t.title[request.kind]} (${place})`;
  const rule = "─".repeat(Math.max(2, Math.min(width ?? 60, 60) - columns(title) - 5));
  return [
    "",
    paint.bold(paint.yellow(`── ${title} ${rule}`)),
    ...bodyLines(request, style),
    // A question speaks for itself; what the loop says about it is the same every time.
    ...(request.why === "" || (request.kind === "question" && request.source === "tool")
      ? []
      : [t.why, ...framed(request.why, style)]),
    ...(request.kind === "permission" && request.hard ? [t.hard] : []),
    ...(t.source[request.source] === "" ? [] : [paint.dim(t.source[request.source])]),
    ...(request.agent.length > 0 ? [clipped(t.agent(request.agent), width)] : []),
    ...(request.kind === "permission" && request.description !== undefined
      ? [t.ownWords, ...framed(request.description, style)]
      : []),
    ...(request.deadline
      ? [t.deadline(timeOf(request.deadline.at), leftOf(request.deadline.at, t), request.deadline.policy)]
      : []),
  ];
}

function bodyLines(request: InputRequest, style: Style): string[] {
  switch (request.kind) {
    case "permission":
      return [...actionLines(request, style), ...partLines(request, style)];
    case "text":
      return [
        ...(request.lastResponse === undefined ? [] : framed(request.lastResponse, style)),
        ...framed(request.prompt, style),
      ];
    case "question":
      return [];
    default:
      return request satisfies never;
  }
}

/** A request in a list: everything that is asked at once. */
export function wholeRequest(request: InputRequest, style: Style): string[] {
  const questions = request.kind === "question" ? request.questions : [];
  return [...requestLines(request, style), ...questions.flatMap((one) => questionLines(one, style))];
}

/** The input that will run, whole. A field that no line is made for is shown as JSON. */
function actionLines({ tool, input, description }: InputRequest & { kind: "permission" }, style: Style): string[] {
  const { t, paint } = style;
  const rest = { ...input };
  if (tool === "Bash" && rest["description"] === description) delete rest["description"]; // shown as the agent's words
  const take = (field: string): string | undefined => {
    const value = rest[field];
    if (typeof value !== "string") return undefined;
    delete rest[field];
    return value;
  };
  const lines: string[] = [paint.bold(t.tools[tool] ?? t.otherTool(oneLine(tool)))];
  const each = (text: string | undefined, mark = "", color: (row: string) => string = (row) => row) => {
    if (text !== undefined) lines.push(...framed(text, style, mark).map(color));
  };
  if (tool === "Bash") each(take("command"), "", paint.bold);
  if (tool === "Edit" || tool === "Write") each(take("file_path"), "", paint.bold);
  if (tool === "Edit") {
    each(take("old_string"), "- ", paint.red);
    each(take("new_string"), "+ ", paint.green);
  }
  if (tool === "Write") {
    const content = take("content")?.replace(/\n$/, "");
    each(content, "+ ", paint.green);
    if (content !== undefined) lines.push(paint.dim(`  (${t.lines(content.split("\n").length)})`));
  }
  if (tool === "Edit" && rest["replace_all"] === true) {
    delete rest["replace_all"];
    lines.push(`  ${t.everywhere}`);
  }
  for (const [field, value] of Object.entries(rest))
    each(`${field}: ${JSON.stringify(value, undefined, 2)}`, "", paint.dim);
  return lines;
}

function partLines(request: InputRequest & { kind: "permission" }, style: Style): string[] {
  const { parts = [] } = request;
  if (parts.length < 2) return [];
  const { t, paint } = style;
  return [
    t.parts,
    ...parts.flatMap(({ text, behavior, reason }) => [
      ...framed(text, style),
      paint.dim(clipped(`    ${t.behavior[behavior]}${reason === "" ? "" : `: ${reason}`}`, style.width)),
    ]),
  ];
}

/** What is to be typed now. */
export function dialogLines(request: InputRequest, dialog: Dialog, style: Style): string[] {
  const { t, paint } = style;
  switch (dialog.at) {
    case "choices":
      return request.kind === "permission" ? [...choiceLines(request, style), paint.dim(t.ctrlC)] : [];
    case "question": {
      if (request.kind !== "question") return [];
      const of = request.questions.length;
      const question = request.questions[dialog.n];
      const some = Object.keys(dialog.answers).length > 0;
      return [
        ...(of > 1 ? [paint.bold(t.questionPlace(dialog.n + 1, of))] : []),
        ...(question ? questionLines(question, style) : []),
        paint.dim(
          [question?.multiSelect ? t.someOf : t.oneOf, t.declineHint, ...(some ? [t.partialHint] : [])].join(" · "),
        ),
        paint.dim(t.ctrlC),
      ];
    }
    case "text":
      return [paint.dim(`${t.textHint} ${t.declineHint}`), paint.dim(t.ctrlC)];
    default:
      return [];
  }
}

function choiceLines(request: InputRequest & { kind: "permission" }, { t, paint, ...page }: Style): string[] {
  const key = (letter: string, text: string) => `  ${paint.bold(letter)}  ${text}`;
  const rules = offered(request).flatMap(({ rule }) => framed(rule, { t, ...page }));
  return [
    key("y", t.once),
    ...(rules.length > 0 ? [key("a", t.always), ...rules] : []),
    key("n", t.no),
    key("r", t.noBecause),
    key("e", t.edit),
    key("c", t.yesAnd),
    key("s", t.stop),
  ];
}

function questionLines({ question, header, options }: Question, style: Style): string[] {
  const { paint, t, width } = style;
  return [
    ...framed(header.trim() === "" ? question : `[${header}] ${question}`, style).map(paint.bold),
    ...options.flatMap(({ label, description }, n) => {
      const text = description.trim() === "" ? oneLine(label) : `${oneLine(label)} — ${oneLine(description)}`;
      return framed(text, { t, width: width && width - 3 }).map((row, part) =>
        part === 0 ? `${`${n + 1}`.padStart(3)}${row}` : `   ${row}`,
      );
    }),
  ];
}
