import { type InputRequest, type InputResponse, type Resolution } from "../../../protocol/index.ts";
import type { FeishuTexts } from "../../../texts/feishu.ts";
import { actionElements, clipTo, type CardTexts } from "./action.ts";
import { card, fits, markdown, note, type Card, type Element, type Template } from "./card.ts";
import { code, words as escaped } from "./escape.ts";
import { timeOf } from "./time.ts";
import { describeRequest } from "../../../view/describe.ts";

type Closing = CardTexts & { now: number };

/** A request that ended, wherever it did. Nothing on it can be clicked. */
export function closedCard(request: InputRequest, resolution: Resolution, texts: Closing): Card {
  const { t } = texts;
  const end = endOf(resolution);
  const title = `${t.closed[request.kind]}: ${t.ended[end]}`;
  const late = resolution.outcome === "timed_out";
  for (const room of [3_000, 800, 200]) {
    const made = card(
      {
        title,
        template: colours[end],
        summary: `${title} · ${whoOf(resolution, t)}`,
        forward: !late,
      },
      [
        ...(listsQuestions(resolution) ? [] : askedElements(request, room, texts)),
        ...answerElements(resolution, room, texts),
        note(escaped(late ? expiredLine(request, resolution, texts) : byLine(resolution, texts))),
      ],
    );
    if (fits(made)) return made;
  }
  return unknownCard(texts);
}

/** For a click on something that nobody here knows any more. */
export function unknownCard({ t }: { t: FeishuTexts }): Card {
  return card({ title: t.unknownTitle, template: "grey", summary: t.unknownTitle }, [note(escaped(t.unknownBody))]);
}

/** For whoever may see it and not answer it: no buttons, and who was asked. */
export function watchCard(request: InputRequest, asked: string, texts: Closing): Card {
  const { t } = texts;
  for (const room of [3_000, 800, 200]) {
    const made = card({ title: t.asks[request.kind], template: "orange", summary: t.asks[request.kind] }, [
      ...askedElements(request, room, texts),
      note(
        escaped(
          [
            asked,
            ...(request.deadline ? [t.waits(timeOf(request.deadline.at, texts.now), request.deadline.policy)] : []),
          ].join("\n"),
        ),
      ),
    ]);
    if (fits(made)) return made;
  }
  return unknownCard(texts);
}

/** It is too old to be answered for much longer. */
export function movedCard({ t }: { t: FeishuTexts }): Card {
  return card({ title: t.movedTitle, template: "grey", summary: t.movedTitle }, [note(escaped(t.movedBody))]);
}

/** What was under way when Sage went away. */
export function restartCard(goesOn: boolean, { t }: { t: FeishuTexts }): Card {
  return card({ title: t.restartTitle, template: "grey", summary: t.restartTitle }, [
    note(escaped(goesOn ? t.restartGoesOn : t.restartStopped)),
  ]);
}

export type End = keyof FeishuTexts["ended"];

export function endOf(resolution: Resolution): End {
  if (resolution.outcome !== "answered") return resolution.outcome;
  const { response } = resolution;
  if (response.type === "denied") return "denied";
  if (response.type !== "granted") return "answered";
  return response.input ? "edited" : (response.rules ?? []).length > 0 ? "always" : "allowed";
}

const colours: Record<End, Template> = {
  allowed: "green",
  always: "green",
  edited: "green",
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
export function whoOf({ by, surface }: Pick<Resolution, "by" | "surface">, t: FeishuTexts): string {
  if (by === "auto" || by === "deadline") return t.automatically;
  return surface === "feishu" ? by.replace(/ \(ou_\w+\)$/, "") : by;
}

export function whereOf(surface: string, t: FeishuTexts): string {
  switch (surface) {
    case "feishu":
      return t.inFeishu;
    case "plain":
    case "tui":
    case "terminal":
    case "cli":
      return t.inTerminal;
    case "rule":
      return t.byRule;
    case "auto":
    case "deadline":
      return "";
    default:
      return t.elsewhere(surface);
  }
}

function byLine(resolution: Resolution, { t, now }: Closing): string {
  const { outcome, surface, at } = resolution;
  const said = outcome === "answered" || outcome === "partial" || outcome === "declined";
  return (said ? t.answeredBy : t.endedBy)(whoOf(resolution, t), whereOf(surface, t), timeOf(at, now));
}

function expiredLine({ deadline }: InputRequest, resolution: Resolution, { t, words }: Closing): string {
  const used = resolution.outcome === "timed_out" && resolution.response !== undefined;
  const time = words.duration(deadline?.timeoutMs ?? 0);
  return used ? t.expiredDefault(time) : t.expired(time, deadline?.policy ?? "fail");
}

/** Then each question stands above its answer. */
const listsQuestions = (resolution: Resolution) =>
  "response" in resolution && resolution.response?.type === "answers" && resolution.outcome === "answered";

function askedElements(request: InputRequest, room: number, texts: Closing): Element[] {
  const clip = clipTo(room, texts.t);
  switch (request.kind) {
    case "permission":
      return actionElements(describeRequest(request), clip, texts);
    case "question":
      return [markdown(escaped(clip(request.questions.flatMap(({ question }) => question.split("\n"))).join("\n")))];
    case "text":
      return [markdown(escaped(clip(request.prompt.split("\n")).join("\n")))];
    default:
      return request satisfies never;
  }
}

function answerElements(resolution: Resolution, room: number, texts: Closing): Element[] {
  const { t } = texts;
  const clip = clipTo(room, t);
  const quoted = (text: string | undefined) =>
    text?.trim() ? [markdown(escaped(clip(t.reason(text).split("\n")).join("\n")))] : [];
  if ("response" in resolution && resolution.response) return responseElements(resolution.response, clip, texts);
  return resolution.outcome === "timed_out" ? [] : quoted("reason" in resolution ? resolution.reason : undefined);
}

function responseElements(
  response: InputResponse,
  clip: (lines: readonly string[]) => string[],
  texts: Closing,
): Element[] {
  const { t, words } = texts;
  const lines = (text: string) => escaped(clip(text.split("\n")).join("\n"));
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
            `**${lines(question)}**<br>${lines([...selected, ...(other?.trim() ? [`“${other}”`] : [])].join(", "))}`,
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
