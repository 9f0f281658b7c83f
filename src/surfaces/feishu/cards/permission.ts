import { type PermissionRequest } from "../../../protocol/index.ts";
import { actionElements, actionText, clipTo, reasonElements, type CardTexts } from "./action.ts";
import { button, card, fits, form, input, markdown, note, row, type Card, type Element } from "./card.ts";
import { code, words as escaped } from "./escape.ts";
import { timeOf } from "./time.ts";
import { describeRequest, neededOf, offersOf } from "../../../view/describe.ts";

/** What a card has to know beside the request. */
export type Asked = CardTexts & {
  /** The random id that the buttons carry, and which version of the card they are on. */
  rid: string;
  g: number;
  session: string;
  folder: string;
  /** Secrets that were taken out. */
  masked?: number;
  now: number;
  /** Names the card in a thread, where quoting it cannot be told from quoting another. */
  code?: string;
  /** Who gave the task, where that is not plain to see. */
  for?: string;
  /**
   * Of the file that holds what the card could not: it was sent, it could not be sent, or the person says that they have read it.
   */
  file?: "sent" | "failed" | "read";
};

/** `file`: this does not fit on the card, and must be sent before it. */
export type AskingCard = { card: Card; file?: { name: string; text: string } };

/** Shorter and shorter, until it fits. */
export const rooms = [Infinity, 9_000, 5_000, 2_500, 1_000, 300, 60] as const;

export function permissionCard(request: PermissionRequest, asked: Asked): AskingCard {
  const described = describeRequest(request);
  for (const room of rooms) {
    const clip = clipTo(room, asked.t);
    const shown = [...actionElements(described, clip, asked), ...reasonElements(described, clip, asked)];
    // Whether something was left out is known only once everything is laid out.
    const made = layOut(request, asked, shown, clip.cut);
    if (!fits(made)) continue;
    if (!clip.cut) return { card: made };
    return { card: made, file: { name: fileName(asked), text: actionText(described, asked) } };
  }
  return {
    card: layOut(request, asked, [], true),
    file: { name: fileName(asked), text: actionText(described, asked) },
  };
}

export const fileName = ({ t, rid }: Asked) => t.requestFile(rid.slice(0, 6));

function layOut(request: PermissionRequest, asked: Asked, shown: Element[], cut: boolean): Card {
  const { t, session, folder, masked = 0 } = asked;
  const offers = neededOf(offersOf(request));
  const rules = offers.filter(({ behavior }) => behavior === "allow").map(({ rule }) => rule);
  return card(
    {
      title: t.asks.permission,
      subtitle: `${request.tool} · ${folder} · ${t.session(session)}`,
      template: "orange",
      ...(request.deadline && { tag: { text: t.until(timeOf(request.deadline.at, asked.now)), color: "orange" } }),
      summary: t.summary.permission(request.tool),
    },
    [
      ...forWhom(asked),
      ...shown,
      ...(masked > 0 ? [note(escaped(t.masked(masked)))] : []),
      ...(cut ? [markdown(`**${escaped(fileLine(asked))}**`)] : []),
      ...choices(request, asked, rules, cut),
      ...(request.deadline
        ? [note(escaped(t.waits(timeOf(request.deadline.at, asked.now), request.deadline.policy)))]
        : []),
    ],
  );
}

export const forWhom = ({ t, for: name }: Asked): Element[] =>
  name === undefined ? [] : [note(escaped(t.askedFor(name)))];

function fileLine(asked: Asked): string {
  return asked.file === "failed" ? asked.t.notAttached : asked.t.attached(fileName(asked));
}

/** Where the card shows less than all of it, allowing takes a step more: the file first. */
function choices(request: PermissionRequest, asked: Asked, rules: readonly string[], cut: boolean): Element[] {
  const { t, rid, g, file, code: named } = asked;
  const byText = named === undefined ? t.permissionByText : t.permissionByCode(named);
  const value = (act: string) => ({ k: "perm" as const, rid, act, g });
  const mayAllow = !cut || file === "read";
  const allow = [
    button({ id: "allow_once", text: t.allowOnce, type: "primary_filled", value: value("allow_once") }),
    ...(rules.length > 0
      ? [
          button({
            id: "allow_always",
            text: t.allowAlways,
            value: value("allow_always"),
            confirm: { title: t.alwaysTitle, text: t.alwaysRules(rules.join(", ")) },
          }),
        ]
      : []),
  ];
  const read = [button({ id: "read", text: t.haveRead, type: "primary", value: value("read") })];
  return [
    ...(mayAllow && rules.length > 0 ? [note(`${escaped(t.alwaysRules(""))}\n${code(rules)}`)] : []),
    row([
      ...(mayAllow ? allow : file === "failed" ? [] : read),
      button({ id: "deny", text: t.deny, type: "danger", value: value("deny") }),
    ]),
    form("deny_form", [input("deny_reason", t.denyWhy, { required: true, longest: 500 })], {
      text: t.denyWithReason,
      type: "danger_text",
      value: value("deny_reason"),
    }),
    note(escaped(cut && file === "failed" ? t.answerThere(request.id) : byText)),
  ];
}
