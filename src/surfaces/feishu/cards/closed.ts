import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import type { Reason } from "../../../protocol/reasons/reason.ts";
import type { FeishuTexts } from "../../../texts/surfaces/feishu.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { whoOf as nameOf } from "../../../texts/shared/resolution.ts";
import { describeRequest } from "../../../view/request/describe.ts";
import { actionElements, type Clip, fitting, originElements, paragraph } from "./action.ts";
import { card, markdown, note, type Card, type Element, type Template } from "./card.ts";
import { code, withTime, words as escaped } from "./escape.ts";
import { inEachLanguage, type Phrase, type Speech, type Speeches } from "./speech.ts";

/** Shown on cards that ask nobody: a reminder of what it was. */
const rooms = [3_000, 800, 200];

/** When a card is drawn, and the session's folder: paths in it are told from there. */
type Place = { now: number; cwd?: string };

/** A request that ended, wherever it did. Nothing on it can be clicked. */
export function closedCard(request: InputRequest, resolution: Resolution, place: Place, speeches: Speeches): Card {
  const end = outcomeFor(resolution);
  const late = resolution.outcome === "timed_out";
  const made = fitting(speeches, rooms, (speech, clip) => {
    const { t } = speech;
    const title = t.pair(t.closed[request.kind], t.ended[end]);
    return card({ title, template: colours[end], summary: `${title} · ${closedBy(resolution, t)}`, forward: !late }, [
      ...(listsQuestions(resolution) ? [] : askedElements(request, place, clip, speech)),
      ...answerElements(resolution, clip, speech),
      ...signedElements(resolution, speech),
      ...originElements(request, speech),
      note(late ? escaped(expiredLine(request, resolution, speech)) : byLine(resolution, place.now, speech)),
    ]);
  });
  return made?.card ?? unknownCard(speeches);
}

function signedElements(resolution: Resolution, { words }: Speech): Element[] {
  const { approvals = [] } = resolution.outcome === "answered" ? resolution : {};
  return approvals.length === 0
    ? []
    : [note(escaped(words.signed(approvals.map((approval) => nameOf(approval, words)))))];
}

/** For a click on something that nobody here knows any more. */
export function unknownCard(speeches: Speeches): Card {
  return noticeCard(
    speeches,
    ({ t }) => t.unknownTitle,
    ({ t }) => t.unknownBody,
  );
}

/** For whoever may see it and not answer it: no buttons, and who was asked. */
export function watchCard(request: InputRequest, asked: Phrase, place: Place, speeches: Speeches): Card {
  const { deadline } = request;
  const made = fitting(speeches, rooms, (speech, clip) => {
    const { t } = speech;
    return card({ title: t.asks[request.kind], template: "orange", summary: t.asks[request.kind] }, [
      ...originElements(request, speech),
      ...askedElements(request, place, clip, speech),
      note(escaped(asked(speech))),
      ...(deadline ? [note(withTime((time) => t.waits(time, deadline.policy), deadline.at, place.now))] : []),
    ]);
  });
  return made?.card ?? unknownCard(speeches);
}

/** It is too old to be answered for much longer. */
export function movedCard(speeches: Speeches): Card {
  return noticeCard(
    speeches,
    ({ t }) => t.movedTitle,
    ({ t }) => t.movedBody,
  );
}

/** Calls that were running when Sage went away. */
export function restartCard(goesOn: boolean, speeches: Speeches): Card {
  return noticeCard(
    speeches,
    ({ t }) => t.restartTitle,
    ({ t }) => (goesOn ? t.restartGoesOn : t.restartStopped),
  );
}

function noticeCard(speeches: Speeches, title: Phrase, body: Phrase): Card {
  return inEachLanguage(speeches, (speech) =>
    card({ title: title(speech), template: "grey", summary: title(speech) }, [note(escaped(body(speech)))]),
  );
}

type End = keyof FeishuTexts["ended"];

export function outcomeFor(resolution: Resolution): End {
  if (resolution.outcome !== "answered") return resolution.outcome;
  const { response } = resolution;
  if (response.type === "denied") return "denied";
  if (response.type !== "granted") return "answered";
  if (response.outside) return "outside";
  return response.input ? "edited" : (response.rules ?? []).length > 0 ? "always" : "allowed";
}

const colours: Record<End, Template> = {
  allowed: "green",
  always: "green",
  edited: "green",
  outside: "orange",
  answered: "green",
  partial: "green",
  denied: "red",
  declined: "grey",
  cancelled: "grey",
  timed_out: "grey",
  superseded: "grey",
  no_surface: "grey",
};

/** A receipt names a person by name and id; for people the name is enough. */
export function closedBy({ by, surface }: Pick<Resolution, "by" | "surface">, t: FeishuTexts): string {
  if (by === "auto" || by === "deadline") return t.automatically;
  if (surface !== "feishu") return by;
  return isOpenId(by) ? t.somebody : by.replace(/ \(ou_\w+\)$/, "");
}

/** A reason as it is told in a chat: with the name of a person, never with the id that a receipt holds beside it. */
export function sentenceOf(reason: Reason, { lang, t }: Speech): string {
  const { args } = reason;
  if (!("by" in args) || typeof args.by !== "string") return sentence(reason, lang);
  return sentence(
    { ...reason, args: { ...args, by: closedBy({ by: args.by, surface: "feishu" }, t) } } as Reason,
    lang,
  );
}

const isOpenId = (by: string) => /^ou_\w+$/.test(by);

/** A person as safe Markdown. The client knows a name where nobody could tell us one. */
function personOf(resolution: Resolution, t: FeishuTexts): string {
  const { by, surface } = resolution;
  return surface === "feishu" && isOpenId(by)
    ? `<person id='${by}' show_name=true show_avatar=false style='normal'></person>`
    : escaped(closedBy(resolution, t));
}

export function whereOf(surface: string, t: FeishuTexts): string {
  if (surface === "feishu") return t.inFeishu;
  if (surface === "rule") return t.byRule;
  if (surface === "auto" || surface === "deadline") return "";
  return ["plain", "tui", "terminal", "cli"].includes(surface) ? t.inTerminal : t.elsewhere(surface);
}

const WHO = "@who@";

function byLine(resolution: Resolution, now: number, { t }: Speech): string {
  const { outcome, surface, at } = resolution;
  const said = outcome === "answered" || outcome === "partial" || outcome === "declined";
  const line = (time: string) => (said ? t.answeredBy : t.endedBy)(WHO, whereOf(surface, t), time);
  return withTime(line, at, now).replace(WHO, personOf(resolution, t));
}

function expiredLine({ deadline }: InputRequest, resolution: Resolution, { t, words }: Speech): string {
  const used = resolution.outcome === "timed_out" && resolution.response !== undefined;
  const time = words.duration(deadline?.timeoutMs ?? 0);
  if (deadline?.policy === "deny") return t.expiredDenied(time);
  return used ? t.expiredDefault(time) : t.expired(time, deadline?.policy ?? "fail");
}

/** Then each question stands above its answer. */
const listsQuestions = (resolution: Resolution) =>
  "response" in resolution && resolution.response?.type === "answers" && resolution.outcome === "answered";

function askedElements(request: InputRequest, { cwd }: Place, clip: Clip, speech: Speech): Element[] {
  switch (request.kind) {
    case "permission":
      return actionElements(describeRequest(request, { cwd }), clip, speech);
    case "question":
      return [
        markdown(paragraph(request.questions.map((asked) => speech.words.question(asked).question).join("\n"), clip)),
      ];
    case "text":
      return [markdown(paragraph(request.prompt, clip))];
    default:
      return request satisfies never;
  }
}

function answerElements(resolution: Resolution, clip: Clip, speech: Speech): Element[] {
  const { t } = speech;
  if ("response" in resolution && resolution.response) return responseElements(resolution.response, clip, speech);
  if (resolution.outcome === "timed_out" || !("reason" in resolution)) return [];
  const why = resolution.reason ? sentenceOf(resolution.reason, speech) : "";
  return why.trim() === "" ? [] : [markdown(paragraph(t.reason(why), clip))];
}

function responseElements(response: InputResponse, clip: Clip, { t, words }: Speech): Element[] {
  const lines = (text: string) => paragraph(text, clip);
  const said = (text: string | undefined) => (text?.trim() ? [markdown(`“${lines(text)}”`)] : []);
  switch (response.type) {
    case "granted":
      return [
        ...(response.input
          ? [markdown(code(clip(JSON.stringify(response.input, undefined, 2).split("\n")), "json"))]
          : []),
        ...(response.rules ?? []).map(({ rule, destination }) =>
          markdown(`${escaped(words.destination[destination])}\n${code(clip([rule]))}`),
        ),
        ...said(response.comment),
      ];
    case "denied":
      return response.reason?.trim() ? [markdown(lines(t.reason(response.reason)))] : [];
    case "text":
      return said(response.text);
    case "answers":
      return [
        ...Object.entries(response.answers).map(([question, { selected, other }]) =>
          markdown(
            `**${lines(question)}**<br>${lines([...selected, ...(other?.trim() ? [`“${other}”`] : [])].join(t.comma))}`,
          ),
        ),
        ...said(response.remark),
      ];
    case "cancelled":
      return [];
    default:
      return response satisfies never;
  }
}
