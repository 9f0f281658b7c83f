import type { Approval, InputRequest, PermissionRequest } from "../../../protocol/facts/request.ts";
import { takesOwnWords } from "../../../protocol/facts/request.ts";
import type { RuleTrial } from "../../../protocol/host/past.ts";
import { carriedLines, rulesFor } from "../../../view/request/answering.ts";
import { consentLines } from "../../../view/request/consent.ts";
import { describeRequest, neededOf } from "../../../view/request/describe.ts";
import { trialLine } from "../../../view/request/past.ts";
import { originLines } from "../../../view/request/origin.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import {
  actionElements,
  actionText,
  type Clip,
  detailElements,
  fitting,
  originElements,
  reasonElements,
  rooms,
} from "./action.ts";
import { button, card, type Card, type Element, form, input, link, markdown, note, panel, row } from "./card.ts";
import { code, inline, withTime, words as escaped } from "./escape.ts";
import type { Speech, Speeches } from "./speech.ts";

export type Asked = {
  /** The random id that the buttons carry, and which version of the card they are on. */
  rid: string;
  g: number;
  session: string;
  folder: string;
  /** The session's folder as a whole: paths in it are told from there. */
  cwd?: string;
  masked?: number;
  now: number;
  /** Number of open requests that may be answered together, this one included. */
  alike?: number;
  past?: readonly RuleTrial[];
  approvals?: readonly Approval[];
  /** The agent that asked was stopped since. */
  carried?: boolean;
  /** Open ids of those who may answer: the card notifies them. */
  called?: readonly string[];
  /** Words that answer the card without its buttons, as they are to be typed where the card stands. */
  typed: (words: string) => string;
  /** Person who gave the task, where that is not plain to see; and the chat. */
  for?: string;
  from?: string;
  /** Of the file that holds what the card could not: sent, not sent, or the person says that they have read it. */
  file?: "sent" | "failed" | "read";
};

/** `file`: this does not fit on the card, and must be sent before it. */
export type AskingCard = {
  card: Card;
  file?: { name: string; text: string };
  /** It lists several requests, each of them whole. */
  together?: true;
};

export function permissionCard(request: PermissionRequest, asked: Asked, speeches: Speeches): AskingCard {
  const described = describeRequest(request, { cwd: asked.cwd });
  const [first] = speeches;
  const make = (sizes: readonly number[]) =>
    fitting(speeches, sizes, (speech, clip) => {
      const shown = [...actionElements(described, clip, speech), ...reasonElements(described, clip, speech)];
      const details = detailElements(described, clip, speech);
      return layOut(request, asked, speech, { shown, details, clip });
    });
  const whole = make(rooms);
  if (whole && !whole.cut) return { card: whole.card };
  // The file is read in any case, so the card shows only enough to know which command it is.
  const made = make(reminders);
  const file = { name: fileName(asked, first), text: actionText(described, first) };
  if (made) return { card: made.card, file };
  const bare = fitting(speeches, [0], (speech, clip) => {
    clip.cut = true;
    return layOut(request, asked, speech, { shown: [], details: [], clip });
  });
  if (!bare) throw new Error("a card with nothing of the request on it fits");
  return { card: bare.card, file };
}

const reminders = rooms.filter((room) => room <= 300);

export const fileName = ({ rid }: Asked, { t }: Speech) => t.requestFile(rid.slice(0, 6));

type Parts = { shown: Element[]; details: Element[]; clip: Clip };

function layOut(request: PermissionRequest, asked: Asked, speech: Speech, { shown, details, clip }: Parts): Card {
  const { t } = speech;
  const { folder, masked = 0, file } = asked;
  const { cut } = clip;
  const rules = neededOf(rulesFor(request))
    .filter(({ behavior }) => behavior === "allow")
    .map(({ rule }) => rule);
  const byHand =
    cut && file === "failed"
      ? t.answerThere(request.id)
      : typedHint(request, { typed: asked.typed, ...(cut && file && { file }) }, speech);
  return card(
    { title: t.asks.permission, subtitle: folder, template: "orange", summary: t.summary.permission(request.tool) },
    [
      ...callElements(asked, speech),
      ...originElements(request, speech),
      ...shown,
      ...(masked > 0 ? [note(escaped(t.masked(masked)))] : []),
      ...carriedElements(request, asked, speech),
      ...(cut ? [markdown(`**${escaped(fileLine(asked, speech))}**`)] : []),
      ...consentLines(request, asked.approvals, speech.words).map((line) => markdown(`**${escaped(line)}**`)),
      ...choices(asked, { rules, leave: request.mayLeave === true, cut }, speech),
      ...togetherElements(asked, speech),
      ...deadlineElements(request, asked, speech),
      detailPanel([...details, note(escaped(byHand)), note(escaped(t.session(asked.session)))], speech),
    ],
  );
}

export function carriedElements(request: InputRequest, { carried }: Asked, { words }: Speech): Element[] {
  return carriedLines({ request, ...(carried && { carried }) }, words).map((line) => note(escaped(line)));
}

function togetherElements({ rid, g, alike = 0 }: Asked, { words }: Speech): Element[] {
  if (alike < 2) return [];
  const value = { k: "perm" as const, rid, act: "together", g };
  return [row([button({ id: "together", text: words.together(alike), value })])];
}

/** Notifies people who may answer, and tells people elsewhere where it comes from. */
export function callElements({ called = [], for: name, from }: Asked, { t }: Speech): Element[] {
  return [
    ...(called.length > 0 ? [markdown(called.map((id) => `<at id=${id}></at>`).join(" "))] : []),
    ...(name === undefined ? [] : [note(escaped(t.askedFor(name)))]),
    ...(from === undefined ? [] : [link(t.openChat, from)]),
  ];
}

export function deadlineElements(
  { deadline }: { deadline?: PermissionRequest["deadline"] },
  { now }: Asked,
  { t, words }: Speech,
): Element[] {
  if (!deadline) return [note(escaped(words.waitsForEver))];
  const calls = (deadline.escalation ?? []).filter(({ at }) => at > now);
  return [
    ...calls.map(({ to, at }) => note(withTime((time) => t.thenAsked(time, to), at, now))),
    note(withTime((time) => t.waits(time, deadline.policy), deadline.at, now)),
  ];
}

export const detailPanel = (elements: Element[], { t }: Speech): Element =>
  panel(t.details, elements, { id: "details" });

function fileLine(asked: Asked, speech: Speech): string {
  return asked.file === "failed" ? speech.t.notAttached : speech.t.attached(fileName(asked, speech));
}

/** Allowing takes a step more where the card shows only a part: the file first. */
function choices(
  asked: Asked,
  { rules, leave, cut }: { rules: readonly string[]; leave: boolean; cut: boolean },
  { t, words }: Speech,
): Element[] {
  const { rid, g, file, past = [] } = asked;
  const value = (act: string) => ({ k: "perm" as const, rid, act, g });
  const mayAllow = !cut || file === "read";
  const confirm = { title: t.alwaysTitle, text: rules.join(t.comma) };
  const allow = [
    { id: "allow_once", text: t.allowOnce, type: "primary_filled", value: value("allow_once") },
    ...(rules.length > 0 ? [{ id: "allow_always", text: t.allowAlways, value: value("allow_always"), confirm }] : []),
    ...(leave
      ? [{ id: "allow_outside", text: t.allowOutside, value: value("allow_outside"), confirm: t.leaving }]
      : []),
  ];
  const deny = { id: "deny", text: t.deny, type: "danger", value: value("deny") };
  const read = button({ id: "read", text: t.haveRead, type: "primary", value: value("read") });
  return [
    ...(mayAllow || file === "failed" ? [] : [row([read])]),
    form(
      "answer_form",
      [input("comment", mayAllow ? t.comment : t.denyWhy, { longest: 500 })],
      [...(mayAllow ? allow : []), deny],
    ),
    ...(mayAllow && rules.length > 0
      ? [
          note(
            rules.length === 1
              ? t.labelled(escaped(t.alwaysRules), inline(rules[0] ?? ""))
              : `${escaped(t.alwaysRules)}\n${code(rules)}`,
          ),
          ...pastElements(past, words),
        ]
      : []),
  ];
}

function pastElements(past: readonly RuleTrial[], t: Texts): Element[] {
  const lines = past.map((trial) => trialLine(trial, t)).filter(Boolean);
  return lines.length === 0 ? [] : [note(escaped(lines.join("\n")))];
}

/** How to answer in words: only what works where the card stands, when it is typed to the letter. */
export function typedHint(request: InputRequest, asked: Pick<Asked, "typed" | "file">, speech: Speech): string {
  return `${answerHint(request, asked, speech)} ${speech.t.askByText(asked.typed)}`;
}

function answerHint(request: InputRequest, { typed, file }: Pick<Asked, "typed" | "file">, { t }: Speech): string {
  if (request.kind === "text") return t.textByText(typed);
  if (request.kind === "permission") {
    if (file === "sent") return t.denyByText(typed);
    return t.permissionByText(typed, {
      always: neededOf(rulesFor(request)).length > 0,
      outside: request.mayLeave === true,
    });
  }
  const { questions } = request;
  if (!takesOwnWords(request)) return t.pickByText(typed);
  if (questions.length > 1) return t.questionsByText(typed);
  return questions[0]?.options.length === 0 ? t.textByText(typed) : t.questionByText(typed);
}

/** Several requests that one answer is for, each of them whole; undefined when they do not fit on one card. */
export function togetherCard(all: readonly PermissionRequest[], asked: Asked, speeches: Speeches): Card | undefined {
  const { rid, g, folder, cwd } = asked;
  const value = (act: string) => ({ k: "perm" as const, rid, act, g });
  const made = fitting(speeches, [Infinity], (speech, clip) => {
    const { t, words } = speech;
    const title = words.together(all.length);
    return card({ title, subtitle: folder, template: "orange", summary: title }, [
      ...all.flatMap((request, n) => [
        note(escaped([words.place(n + 1, all.length), ...originLines(request, words).slice(0, 1)].join(" · "))),
        ...actionElements(describeRequest(request, { cwd }), clip, speech),
      ]),
      row([
        button({ id: "allow_all", text: t.allowAll(all.length), type: "primary_filled", value: value("allow_all") }),
        button({ id: "deny_all", text: t.denyAll(all.length), type: "danger", value: value("deny_all") }),
        button({ id: "one", text: t.oneByOne, value: value("one") }),
      ]),
    ]);
  });
  return made && !made.cut ? made.card : undefined;
}
