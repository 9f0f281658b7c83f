import { oneLine } from "../../base/visible.ts";
import { needsConsent } from "../../protocol/facts/consent.ts";
import type { Approval, InputRequest } from "../../protocol/facts/request.ts";
import { shortRequestId } from "../../protocol/key.ts";
import { inboxTexts } from "../../texts/commands/inbox.ts";
import type { Style } from "../../view/lines/paint.ts";
import { clipped, columns, fitted } from "../../view/lines/safe.ts";
import { nameOf, titleOf } from "../../view/items/summary.ts";
import type { Lang } from "../../texts/language.ts";

type Listed = {
  request: InputRequest;
  approvals?: readonly Approval[] | undefined;
  title: string;
  damaged: boolean;
  waits: string | undefined;
};

const MAX_TITLE_LENGTH = 24;

/** The inbox as lines, a line for each request, those that are alike together: its id, how long it waits, its session and what it is about. */
export function listLines(
  groups: readonly (readonly Listed[])[],
  { t, paint, width, flag = "" }: Style & { flag?: string },
  lang: Lang,
): string[] {
  const w = inboxTexts(lang);
  const rows = groups.flatMap((group) =>
    group.map((one, n) => ({ ...one, last: group.length > 1 && n === group.length - 1 ? group : undefined })),
  );
  const cells = rows.map(({ request, approvals = [], title, damaged, waits, last }) => ({
    below: last ? [w.groupOf(last.length, shortRequestId(last[0]!.request.id))] : [],
    id: shortRequestId(request.id),
    age: t.age(Date.now() - request.at),
    title: clipped(titleOf({ title }), Math.min(MAX_TITLE_LENGTH, Math.floor((width ?? 200) / 5))),
    what: [
      ...(damaged ? [w.damaged] : []),
      ...(waits === undefined ? [] : [`(${waits})`]),
      ...(needsConsent(request) ? [`${approvals.length}/${request.consent.approvals}`] : []),
      ...(request.agent[0] === undefined ? [] : [`${oneLine(request.agent[0])}:`]),
      nameOf(request, t),
    ].join(" "),
  }));
  const widest = (of: (cell: (typeof cells)[number]) => string) => Math.max(...cells.map((cell) => columns(of(cell))));
  const [ids, ages, titles] = [widest(({ id }) => id), widest(({ age }) => age), widest(({ title }) => title)];
  const used = ids + ages + titles + 6;
  return [
    ...cells.flatMap(({ id, age, title, what, below }) => {
      const room = width === undefined ? undefined : Math.max(12, width - used);
      const line = [
        paint.bold(padded(id, ids)),
        paint.dim(padded(age, ages)),
        padded(title, titles),
        clipped(what, room),
      ].join("  ");
      return [line, ...fitted(below, width).map(paint.dim)];
    }),
    ...fitted([w.how(flag)], width).map(paint.dim),
  ];
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - columns(text)));
}
