import type { Inquired } from "../../../protocol/facts/inquiry.ts";
import { takesOwnWords, type Approval, type InputRequest } from "../../../protocol/facts/request.ts";
import { shortRequestId } from "../../../protocol/key.ts";
import { madeNote, replyNote } from "../../../view/inquiry.ts";
import { noteLines } from "../../../view/lines/note.ts";
import { offerLines } from "../../../view/lines/offers.ts";
import type { Style } from "../../../view/lines/paint.ts";
import { fitted } from "../../../view/lines/safe.ts";
import { wholeRequest } from "../../../view/lines/request.ts";
import { cliTexts, type CliTexts } from "../../../texts/commands/cli.ts";
import type { Lang } from "../../../texts/language.ts";
import { oneLine } from "../../../base/visible.ts";
import { destinationName } from "../../../view/request/origin.ts";
import { narrowerRule, ruleInTheWay, rulesFor } from "../../../view/request/answering.ts";
import { neededOf } from "../../../view/request/describe.ts";

/** A request with what to type to answer it. It is named by an id of its own: by its session alone another one may be meant by then. */
export function requestLines(
  request: InputRequest,
  style: Style,
  {
    lang,
    flag = "",
    inquiries = [],
    ...shown
  }: {
    lang: Lang;
    /** Names the host on the command line, where it is elsewhere. */
    flag?: string;
    cwd?: string | undefined;
    approvals?: readonly Approval[] | undefined;
    carried?: boolean | undefined;
    inquiries?: readonly Inquired[] | undefined;
  },
): string[] {
  const t = cliTexts(lang);
  const how = t.howToAnswer(shortRequestId(request.id), `${flag}${flagsFor(request, t)}`);
  const talk = inquiries.flatMap((inquiry) => [
    madeNote(inquiry, style.t),
    replyNote(inquiry, style.t) ?? ({ tone: "dim", line: style.t.inquiryWaits } as const),
  ]);
  const asked = talk.flatMap((note) => noteLines(note, style));
  return [...wholeRequest(request, style, shown), ...asked, how, ...howLines(request, style, t)];
}

function howLines(request: InputRequest, style: Style, t: CliTexts): string[] {
  switch (request.kind) {
    case "permission": {
      const { rules, files } = offerLines(request, style);
      const offers = rulesFor(request);
      const asking = ruleInTheWay(request);
      const instead = narrowerRule(request);
      if (asking)
        return [
          t.alsoPermission,
          t.alsoUnask(style.t.unask(oneLine(asking.rule), destinationName(asking.destination, request, style.t))),
          ...(instead === "" ? [] : [t.alsoNarrow(style.t.unaskNarrower(oneLine(instead)))]),
        ];
      if (offers.length === 0) return [t.alsoPermission];
      const how = [...(offers.length > 1 ? [t.alwaysNth] : []), ...(files.length > 0 ? [t.alwaysTo] : [])];
      return [
        t.alsoPermission,
        t.alsoAlways(style.t.always(neededOf(offers).length)),
        ...rules,
        ...(how.length > 0 ? fitted([`     ${how.join(" · ")}`], style.width).map(style.paint.dim) : []),
        ...files,
      ];
    }
    case "question":
      if (!takesOwnWords(request)) return [t.alsoChoice];
      return [request.questions.length > 1 ? t.alsoQuestions : t.alsoQuestion];
    case "text":
      return [t.alsoText];
    default:
      return request satisfies never;
  }
}

function flagsFor(request: InputRequest, t: CliTexts): string {
  switch (request.kind) {
    case "permission":
      return "--yes | --no";
    case "question":
      return request.questions.length === 1
        ? `--choose "${t.anOption}"`
        : request.questions.map((_, n) => `--choose "${n + 1}=${t.anOption}"`).join(" ");
    case "text":
      return '--text "…"';
    default:
      return request satisfies never;
  }
}
