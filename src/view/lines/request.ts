import { oneLine } from "../../base/visible.ts";
import type { Approval, InputRequest, Question } from "../../protocol/facts/request.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import { whyOf } from "../request/answering.ts";
import { consentLines } from "../request/consent.ts";
import { describeRequest, isLong, type Block, type Description } from "../request/describe.ts";
import { originLines } from "../request/origin.ts";
import { silenceLines } from "../request/silence.ts";
import type { Style } from "./paint.ts";
import { changeLines } from "./change.ts";
import { clipped, columns, framed, rows } from "./safe.ts";

/** `place`: which of several this is. Paths are told from `cwd`, where it is known. `approvals`: given so far. `carried`: the agent that asks was stopped. */
type Shown = {
  place?: string | undefined;
  cwd?: string | undefined;
  approvals?: readonly Approval[] | undefined;
  carried?: boolean | undefined;
};

/** A request and its reason: the action itself first, the agent's words about it last. */
export function requestLines(
  request: InputRequest,
  style: Style,
  { place, cwd, approvals, carried }: Shown = {},
): string[] {
  const { t, paint } = style;
  const permission = request.kind === "permission" ? describeRequest(request, { cwd }) : undefined;
  const title = [
    place === undefined ? t.title[request.kind] : t.aside(t.title[request.kind], place),
    ...(permission && isLong(permission) ? [t.size(permission.characters, permission.lines)] : []),
  ].join(" · ");
  const head = `── ${title} `;
  const dangerous = permission !== undefined && permission.dangers.length > 0;
  // It is an ornament: never so long that it would be broken where this sign takes two columns.
  const room = Math.min(60 - columns(title) - 5, Math.floor(((style.width ?? Infinity) - columns(head)) / 2));
  return [
    "",
    paint.bold((dangerous ? paint.red : paint.yellow)(head + "─".repeat(Math.max(2, room)))),
    ...originLines(request, t).map((line) => paint.dim(clipped(line, style.width))),
    ...(permission ? permissionLines(permission, style) : askedLines(request, style)),
    ...(t.source[request.source] === "" ? [] : [paint.dim(t.source[request.source])]),
    ...(request.agent.length > 0 ? [clipped(t.agent(request.agent), style.width)] : []),
    ...(carried ? reasonLines(reason("guest-carried", { agent: request.agent[0] ?? "" }), style) : []),
    ...(permission?.words ? wordLines(permission.words, style) : []),
    ...consentLines(request, approvals, t).map((line) => clipped(line, style.width)),
    ...silenceLines(request, t).map((line) => (request.deadline ? line : paint.dim(line))),
  ];
}

function permissionLines(asked: Description, style: Style): string[] {
  const { t, paint } = style;
  const away = asked.writes.filter(({ outside }) => outside);
  const dangers = asked.dangers.map((danger) => t.danger[danger]);
  return [
    paint.bold(t.tools[asked.tool] ?? t.otherTool(asked.tool)),
    ...asked.action.flatMap((block) => blockLines(block, style)),
    ...away.flatMap(({ path }) => rows([path], style, "→ ").map(paint.red)),
    ...(dangers.length > 0 ? [paint.red(t.careful(dangers))] : []),
    ...reasonLines(asked.why, style),
    ...(asked.runs ? reasonLines(asked.runs, style).map(paint.dim) : []),
    ...partLines(asked, style),
  ];
}

/** Free text stays behind a margin; a sentence of our own, which may name files, right of our own columns. */
function reasonLines(why: Reason, style: Style): string[] {
  const text = style.t.because(why);
  if (text === "") return [];
  return why.code === "said"
    ? [style.t.why, ...framed(text, style)]
    : text.split("\n").map((line) => `  ${oneLine(line)}`);
}

function askedLines(request: InputRequest, style: Style): string[] {
  if (request.kind === "permission") return [];
  const asked =
    request.kind === "text"
      ? [...(request.lastResponse === undefined ? [] : [request.lastResponse]), request.prompt]
      : [];
  const why = whyOf(request);
  return [...asked.flatMap((text) => framed(text, style)), ...(why === undefined ? [] : reasonLines(why, style))];
}

/** A request in a list: everything that is asked at once. */
export function wholeRequest(request: InputRequest, style: Style, shown: Shown = {}): string[] {
  const questions = request.kind === "question" ? request.questions : [];
  const { t, paint } = style;
  return [
    ...requestLines(request, style, shown),
    ...questions.flatMap((question, n) => [
      ...(questions.length > 1 ? [paint.bold(t.questionPlace(n + 1, questions.length))] : []),
      ...questionLines(question, style),
      ...(question.multiSelect ? [paint.dim(t.severalMay)] : []),
    ]),
  ];
}

function blockLines(block: Block, style: Style): string[] {
  const { t, paint } = style;
  switch (block.type) {
    case "command":
      return rows(block.lines, style).map(paint.bold);
    case "plan":
      return rows(block.lines, style);
    case "path":
      return [
        ...rows([block.given], style).map(paint.bold),
        ...(block.real === undefined ? [] : rows([block.real], style, "→ ")),
      ];
    case "change":
      return changeLines(block.hunks, style);
    case "omitted":
      return [paint.yellow(`  ${t.omitted[block.why]}`)];
    case "field": {
      if (block.minor) return [];
      const [first = "", ...more] = block.lines;
      return rows([`${block.name}: ${first}`, ...more], style).map(paint.dim);
    }
    default:
      return block satisfies never;
  }
}

const after = (colon: string, text: string): string => (text === "" ? "" : `${colon}${text}`);

function partLines({ parts }: Description, style: Style): string[] {
  if (parts.length < 2) return [];
  const { t, paint } = style;
  return [
    t.parts,
    ...parts.flatMap(({ text, behavior, reason, asks }) => {
      const verdict = clipped(
        `${t.behavior[behavior]}${after(t.colon, t.because(reason))}`,
        style.width && style.width - 4,
      );
      return [...rows(text.split("\n"), style), asks ? paint.yellow(`  ▸ ${verdict}`) : paint.dim(`    ${verdict}`)];
    }),
  ];
}

function wordLines({ text, cut }: NonNullable<Description["words"]>, style: Style): string[] {
  const { t, paint } = style;
  return [t.ownWords, ...rows(text.split("\n"), style), ...(cut > 0 ? [paint.dim(`  ${t.cut(cut)}`)] : [])];
}

/** The question and its numbered options. */
export function questionLines(asked: Question, style: Style): string[] {
  const { t, paint, width } = style;
  const { question, header, options } = t.question(asked);
  return [
    ...framed(header.trim() === "" ? question : `[${header}] ${question}`, style).map(paint.bold),
    ...options.flatMap(({ label, description }, n) => {
      const text = description.trim() === "" ? label : `${label} — ${description}`;
      return rows([oneLine(text)], { ...style, width: width && width - 3 }).map((row, part) =>
        part === 0 ? `${`${n + 1}`.padStart(3)}${row}` : `   ${row}`,
      );
    }),
  ];
}
