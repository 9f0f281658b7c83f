import { needsConsent, shortRequestId, type Approval, type InputRequest } from "../../../protocol/index.ts";
import { inboxTexts } from "../../../texts/inbox.ts";
import type { Style } from "../../../view/lines/paint.ts";
import { clipped, columns, fitted } from "../../../view/lines/safe.ts";
import { nameOf, titleOf } from "../../../view/summary.ts";
import type { Lang } from "../../../texts/language.ts";

type Listed = { request: InputRequest; approvals?: readonly Approval[] | undefined; title: string; damaged: boolean };

const LONGEST_TITLE = 24;

/** The inbox as lines, a line for each request: its id, how long it waits, its session and what it is about. */
export function listLines(requests: readonly Listed[], style: Style, lang: Lang): string[] {
  const { t, paint, width } = style;
  const w = inboxTexts(lang);
  const cells = requests.map(({ request, approvals = [], title, damaged }) => ({
    id: shortRequestId(request.id),
    age: t.duration(Math.max(1_000, Date.now() - request.at)),
    title: clipped(titleOf({ title }), Math.min(LONGEST_TITLE, Math.floor((width ?? 200) / 5))),
    what: [
      ...(damaged ? [w.damaged] : []),
      ...(needsConsent(request) ? [`${approvals.length}/${request.consent.approvals}`] : []),
      nameOf(request, t),
    ].join(" "),
  }));
  const widest = (of: (cell: (typeof cells)[number]) => string) => Math.max(...cells.map((cell) => columns(of(cell))));
  const [ids, ages, titles] = [widest(({ id }) => id), widest(({ age }) => age), widest(({ title }) => title)];
  const used = ids + ages + titles + 6;
  return [
    ...cells.map(({ id, age, title, what }) => {
      const room = width === undefined ? undefined : Math.max(12, width - used);
      return [
        paint.bold(padded(id, ids)),
        paint.dim(padded(age, ages)),
        padded(title, titles),
        clipped(what, room),
      ].join("  ");
    }),
    ...fitted([w.how], width).map(paint.dim),
  ];
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - columns(text)));
}
