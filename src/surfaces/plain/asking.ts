import { oneLine } from "../../base/visible.ts";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { Draft, InputRequest, PermissionRequest } from "../../protocol/facts/request.ts";
import type { PendingRequest, SharedAnswer } from "../../protocol/host/host.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import { offerLines } from "../../view/lines/offers.ts";
import type { Style } from "../../view/lines/paint.ts";
import { questionLines, requestLines } from "../../view/lines/request.ts";
import { destinationName } from "../../view/request/origin.ts";
import { narrowerRule, ruleInTheWay, rulesFor, takesOwnWords } from "../../view/request/answering.ts";
import { mayComment, mayEdit } from "../../view/request/choices.ts";
import { neededOf } from "../../view/request/describe.ts";
import { begin, editable, hear, isTogether, type Dialog } from "./input.ts";
import type { PlainOptions } from "./options.ts";
import type { Lines } from "./typed/lines.ts";

/** A request on the screen, from the moment it is shown to its answer. */
export type Asking = {
  shown(): InputRequest | undefined;
  present(pending: PendingRequest, place: string | undefined): void;
  hear(line: string): void;
  /** Only an optional remark is missing. */
  canDoWithout(): boolean;
  /** Writes something that belongs to the shown request, above its prompt. */
  interject(requestId: string, write: () => void): void;
  forget(): void;
};

type Parts = {
  style: Style;
  lines: Lines;
  /** The session's folder. */
  cwd(): string | undefined;
  say(...lines: string[]): void;
  /** From here on the prompt stands at the bottom. */
  prompted(): void;
  saveDraft(requestId: string, draft: Draft): void;
  respond(request: InputRequest, response: InputResponse): void;
  /** Open requests that one answer may be meant for, this one included. */
  alike(request: InputRequest): PermissionRequest[];
  respondAll(requestIds: readonly string[], answer: SharedAnswer): void;
  inquire(request: InputRequest, text: string): void;
  /** The prompt is gone: what was held back is written. */
  released(): void;
  /** Lines come from a pipe: the next one is for after the reply. */
  piped: boolean;
} & Pick<PlainOptions, "refuses">;

export function createAsking(parts: Parts): Asking {
  const { style, lines, cwd, say, prompted, saveDraft, respond } = parts;
  const { t, paint } = style;
  let at: { request: InputRequest; dialog: Dialog } | undefined;

  const prompt = (request: InputRequest, dialog: Dialog, { fresh, typed }: { fresh: boolean; typed?: string }) => {
    at = { request, dialog };
    prompted();
    const start = dialog.at === "edit" ? editable(request) : dialog.at === "rule" ? dialog.rule : undefined;
    const prefill = dialog.at === "edit" || dialog.at === "rule" ? (typed ?? start) : undefined;
    lines.ask(paint.bold(`${promptLabel(request, dialog, t)} > `), { fresh, prefill });
  };
  const goTo = (request: InputRequest, dialog: Dialog) => {
    const alike = dialog.at === "choices" ? parts.alike(request) : dialog.at === "together" ? dialog.requests : [];
    say(...dialogLines(request, dialog, style, { alike, cwd: cwd() }));
    const fresh = ["choices", "question", "text", "together"].includes(dialog.at);
    prompt(request, dialog, { fresh });
  };

  return {
    shown: () => at?.request,
    present({ request, draft, approvals, carried }, place) {
      const dialog = begin(request, draft);
      const kept = "answers" in dialog ? Object.entries(dialog.answers) : [];
      say(...requestLines(request, style, { place, cwd: cwd(), approvals, carried }));
      for (const [question, { selected, other }] of kept)
        say(paint.dim(t.kept(oneLine(question), oneLine([...selected, ...(other ? [other] : [])].join(", ")))));
      goTo(request, dialog);
    },
    hear(line) {
      if (!at) return;
      const { request, dialog } = at;
      at = undefined;
      const alike = dialog.at === "choices" && isTogether(line) ? parts.alike(request) : [];
      if (alike.length > 0) return goTo(request, { at: "together", requests: alike });
      const step = hear(request, dialog, line, t);
      switch (step.type) {
        case "respond": {
          const why = parts.refuses?.(request, step.response);
          if (why === undefined) return respond(request, step.response);
          say(paint.yellow(why));
          return prompt(request, dialog, { fresh: true });
        }
        case "respondAll":
          return parts.respondAll(step.requestIds, step.answer);
        case "inquire":
          parts.inquire(request, step.text);
          say(paint.dim(t.inquiryWaits));
          return parts.piped ? void (at = { request, dialog }) : prompt(request, dialog, { fresh: false });
        case "again":
          say(paint.yellow(oneLine(step.message)));
          // A pasted block that begins with something else must not end in an answer.
          return prompt(request, dialog, { fresh: true, typed: line });
        case "next":
          if (step.draft) saveDraft(request.id, step.draft);
          if (step.note !== undefined) say(paint.yellow(step.note));
          return goTo(request, step.dialog);
        default:
          return step satisfies never;
      }
    },
    interject(requestId, write) {
      if (at?.request.id !== requestId) return write();
      const { request, dialog } = at;
      lines.hush();
      parts.released();
      write();
      prompt(request, dialog, { fresh: true });
    },
    canDoWithout: () => at?.dialog.at === "remark",
    forget: () => void (at = undefined),
  };
}

function promptLabel(request: InputRequest, dialog: Dialog, t: Texts): string {
  const isPlan = request.kind === "permission" && request.tool === PLAN_TOOL;
  switch (dialog.at) {
    case "choices":
      return isPlan ? t.permitPlan : t.permit;
    case "together":
      return t.permitAll(dialog.requests.length);
    case "reason":
      return isPlan ? t.planReason : t.reason;
    case "comment":
      return isPlan ? t.planComment : t.comment;
    case "edit":
      if (isPlan) return t.newPlan;
      return request.kind === "permission" && typeof request.input["command"] === "string" ? t.newCommand : t.newInput;
    case "rule":
      return t.newRule;
    case "unask":
      return t.unaskLine;
    case "remark":
      return t.remark;
    case "question":
    case "text":
      return t.answer;
    default:
      return dialog satisfies never;
  }
}

/** Prompt for the next line. */
export function dialogLines(
  request: InputRequest,
  dialog: Dialog,
  style: Style,
  { alike = [], cwd }: { alike?: readonly PermissionRequest[]; cwd?: string | undefined } = {},
): string[] {
  const { t, paint } = style;
  switch (dialog.at) {
    case "choices":
      return request.kind === "permission" ? [...choiceLines(request, style, alike.length), paint.dim(t.ctrlC)] : [];
    case "together":
      return alike.flatMap((request, n) => requestLines(request, style, { place: t.place(n + 1, alike.length), cwd }));
    case "question": {
      if (request.kind !== "question") return [];
      const of = request.questions.length;
      const question = request.questions[dialog.n];
      const hints = [
        question?.options.length === 0 ? t.textHint : hintOf(request, question?.multiSelect === true, t),
        of > 1 ? t.declineAllHint : t.declineHint,
        ...(dialog.n > 0 ? [t.backHint] : []),
        t.inquiryKey,
        ...(Object.keys(dialog.answers).length > 0 ? [t.partialHint] : []),
      ];
      return [
        ...(of > 1 ? [paint.bold(t.questionPlace(dialog.n + 1, of))] : []),
        ...(question ? questionLines(question, style) : []),
        paint.dim(hints.join(" · ")),
        paint.dim(t.ctrlC),
      ];
    }
    case "unask": {
      const instead = request.kind === "permission" ? narrowerRule(request) : "";
      return instead === "" ? [] : [`  ${paint.bold("=")}  ${t.unaskNarrower(oneLine(instead))}`];
    }
    case "text":
      return [paint.dim(`${t.textHint} ${t.declineHint}`), paint.dim(t.ctrlC)];
    default:
      return [];
  }
}

function choiceLines(request: PermissionRequest, style: Style, alike: number): string[] {
  const { t, paint } = style;
  const key = (letter: string, text: string) => `  ${paint.bold(letter)}  ${text}`;
  const rules = ruleLines(request, style);
  const inTheWay = ruleInTheWay(request);
  const isPlan = request.tool === PLAN_TOOL;
  return [
    key("y", isPlan ? t.planYes : t.once),
    ...(isPlan ? [key("a", t.planAccept)] : []),
    ...(rules.length > 0 ? [key("a", t.always(neededOf(rulesFor(request)).length)), ...rules] : []),
    ...(inTheWay ? [key("u", t.unask(oneLine(inTheWay.rule), destinationName(inTheWay.destination, request, t)))] : []),
    ...(request.mayLeave ? [key("o", t.runOutside)] : []),
    key("n", t.no),
    key("r", isPlan ? t.planChange : t.noBecause),
    ...(mayEdit(request) ? [key("e", t.edit)] : []),
    ...(mayComment(request) ? [key("c", t.yesAnd)] : []),
    key("s", t.stop),
    ...(alike > 1 ? [key("t", t.together(alike))] : []),
    key("?", t.inquiryKey),
  ];
}

function hintOf(request: InputRequest, several: boolean, t: Texts): string {
  if (!takesOwnWords(request)) return several ? t.someOptions : t.oneOption;
  return several ? t.someOf : t.oneOf;
}

/** Rules that "always" would keep, and where, with the key to type. */
function ruleLines(request: PermissionRequest, style: Style): string[] {
  const { t, paint } = style;
  const { rules, files } = offerLines(request, style);
  if (rules.length === 0) return [];
  const how = [
    ...(rulesFor(request).length > 1 ? [t.alwaysOther] : []),
    ...(files.length > 0 ? [t.alwaysPlace] : []),
    t.alwaysOwn,
  ];
  return [...rules, paint.dim(`     ${how.join(" · ")}`), ...files];
}
