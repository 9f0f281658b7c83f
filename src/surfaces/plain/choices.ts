import type { InputRequest, PermissionRequest } from "../../protocol/facts/request.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import { rulesFor, takesOwnWords } from "../../view/request/answering.ts";
import { mayEdit } from "../../view/request/choices.ts";
import { neededOf } from "../../view/request/describe.ts";
import { offerLines } from "../../view/lines/offers.ts";
import type { Style } from "../../view/lines/paint.ts";
import { questionLines, requestLines } from "../../view/lines/request.ts";
import type { Dialog } from "./input.ts";

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
      return alike.flatMap((one, n) => requestLines(one, style, { place: t.place(n + 1, alike.length), cwd }));
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
  const isPlan = request.tool === PLAN_TOOL;
  return [
    key("y", isPlan ? t.planYes : t.once),
    ...(isPlan ? [key("a", t.planAccept)] : []),
    ...(rules.length > 0 ? [key("a", t.always(neededOf(rulesFor(request)).length)), ...rules] : []),
    ...(request.mayLeave ? [key("o", t.runOutside)] : []),
    key("n", t.no),
    key("r", isPlan ? t.planChange : t.noBecause),
    ...(mayEdit(request) ? [key("e", t.edit)] : []),
    key("c", t.yesAnd),
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
