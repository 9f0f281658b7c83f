import { oneLine } from "../../base/visible.ts";
import type { Answer, Answers, InputResponse } from "../../protocol/facts/answer.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { Texts } from "./texts.ts";

/** How it ended, and by whom: for every surface that was not the one. */
export function headline(resolution: Resolution, t: Texts, me?: Sender, request?: InputRequest): string {
  const { at, outcome } = resolution;
  const said = outcome === "answered" || outcome === "partial" || outcome === "declined";
  return `${(said ? t.answeredBy : t.endedBy)(whoOf(resolution, t, me), timeOf(at))}${t.colon}${oneLine(ending(resolution, t, request))}`;
}

/** "by you" only for the same person on the same surface: elsewhere one may have been somebody else. */
export function whoOf({ by, surface, device }: Sender, t: Texts, me?: Sender): string {
  if (by === "auto" || by === "deadline") return t.automatically;
  if (by === "agent" && surface === "inquiry") return t.byAgent;
  if (by === me?.by && surface === me.surface) return t.byYou;
  const where = surfaceOf(surface, t);
  return t.byWhom(oneLine(by), device === undefined ? where : t.onDevice(where, oneLine(device)));
}

export function surfaceOf(surface: string, t: Texts): string {
  return Object.hasOwn(t.surfaces, surface) ? (t.surfaces[surface] ?? "") : t.otherSurface(oneLine(surface));
}

/** Names who changed the input of a call before it ran. */
export function changeLine(changed: { by: "hook" } | { by: "person"; who: Sender }, t: Texts, me?: Sender): string {
  return t.inputChanged(changed.by === "hook" ? t.byHook : whoOf(changed.who, t, me));
}

/** `request`, where it is known, puts answers to questions of Sage's own into the reader's language. */
export function ending(resolution: Resolution, t: Texts, request?: InputRequest): string {
  const because = (word: string, why: string) => (why.trim() ? t.aside(word, oneLine(why)) : word);
  switch (resolution.outcome) {
    case "answered": {
      const { approvals = [] } = resolution;
      const signed = approvals.length === 0 ? "" : t.signed(approvals.map((approval) => whoOf(approval, t)));
      const proof = resolution.signed;
      const where =
        proof !== undefined
          ? proof === "device"
            ? t.signedElsewhere
            : t.signedByPasskey
          : resolution.typed
            ? t.typedHere
            : "";
      return because(`${saidBy(resolution.response, t, request)}${where}`, signed);
    }
    case "partial":
      return `${t.partly}${t.colon}${saidBy(resolution.response, t, request)}`;
    case "timed_out":
      return because(t.timedOut, resolution.response ? saidBy(resolution.response, t, request) : "");
    case "declined":
      return because(t.declined, resolution.reason ? t.because(resolution.reason) : "");
    case "cancelled":
      return because(t.cancelled, t.because(resolution.reason));
    case "superseded":
      return because(t.superseded, t.because(resolution.reason));
    case "no_surface":
      return because(t.noSurface, t.because(resolution.reason));
    default:
      return resolution satisfies never;
  }
}

function saidBy(response: InputResponse, t: Texts, request?: InputRequest): string {
  const words = (text: string | undefined) => (text?.trim() ? ` — “${text}”` : "");
  switch (response.type) {
    case "granted": {
      const rules = (response.rules ?? []).map(({ rule, destination }) => t.aside(rule, t.destination[destination]));
      const gone = (response.removeRules ?? []).map(({ rule, destination }) =>
        t.aside(rule, t.destination[destination]),
      );
      const removed = gone.length > 0 ? t.removes(gone.join(", ")) : "";
      const mode = response.mode ? `${t.comma}${t.modes[response.mode]}` : "";
      const always = rules.length > 0 ? t.fromNowOn(rules.join(", ")) : "";
      const outside = response.outside ? t.outsideOnce : "";
      return `${response.input ? t.allowedEdited : t.allowed}${outside}${mode}${removed}${always}${words(response.comment)}`;
    }
    case "denied":
      return `${t.refused}${words(response.reason)}`;
    case "answers":
      return `${answersLine(shownAnswers(response.answers, t, request))}${words(response.remark)}`;
    case "text":
      return `“${response.text}”`;
    case "cancelled":
      return t.cancelled;
    default:
      return response satisfies never;
  }
}

function shownAnswers(answers: Answers, t: Texts, request: InputRequest | undefined): Answers {
  if (request?.kind !== "question") return answers;
  const shown = Object.entries(answers).map(([name, answer]): [string, Answer] => {
    const question = request.questions.find((question) => question.question === name);
    if (!question?.own) return [name, answer];
    const { question: text, options } = t.question(question);
    const labels = answer.selected.map((id) => options.find((option) => option.id === id)?.label ?? id);
    return [text, { ...answer, selected: labels }];
  });
  return Object.fromEntries(shown);
}

function answersLine(answers: Answers): string {
  return Object.entries(answers)
    .map(
      ([question, answer]) =>
        `${question} → ${[...answer.selected, ...(answer.other?.trim() ? [`“${answer.other}”`] : [])].join(", ")}`,
    )
    .join("; ");
}

export function timeOf(at: number, now = Date.now()): string {
  const date = new Date(at);
  const time = date.toTimeString().slice(0, 5);
  return date.toDateString() === new Date(now).toDateString() ? time : `${date.toISOString().slice(0, 10)} ${time}`;
}

export function leftOf(at: number, t: Texts, now = Date.now()): string {
  return at <= now ? t.overdue : t.inTime(t.duration(Math.max(1_000, at - now)));
}
