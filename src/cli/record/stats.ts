import { statsOf } from "../../archive/past.ts";
import { projectRoot } from "../../config/trust/trust.ts";
import { oneLine } from "../../base/visible.ts";
import type { Stats, Tally } from "../../protocol/host/past.ts";
import { pastTexts, type PastTexts } from "../../texts/setup/past.ts";
import { surfaceOf, timeOf } from "../../texts/shared/resolution.ts";
import type { Style } from "../../view/lines/paint.ts";
import { clipped, columns } from "../../view/lines/safe.ts";
import { engineFlag, openJournal, person } from "../host/journal.ts";
import { styleOf, printJson, exitCodes } from "../process/stdout.ts";
import { sessionBy } from "../../view/find-session.ts";
import { duration, readFlagsOnly } from "../process/flags.ts";
import { ownRedaction } from "../host/redaction.ts";

const options = {
  all: { type: "boolean" },
  since: { type: "string" },
  session: { type: "string" },
  json: { type: "boolean" },
  ...engineFlag,
} as const;

const MAX_RULES = 10;

/** How often people were asked in this project, by what, how long they took, and which rules spared them. */
export async function stats(args: string[]): Promise<number> {
  const { values, lang, t } = readFlagsOnly("stats", args, options);
  const since = duration("--since", values.since, t);
  await using journal = await openJournal(values, { lang, looks: true });
  const { host, store } = journal;
  const session = values.session === undefined ? undefined : sessionBy(store.sessions(), values.session).id;
  const everywhere = values.all === true || session !== undefined;
  const found = await statsOf(store, {
    session,
    ...(!everywhere && { folder: projectRoot(process.cwd()) }),
    ...(since !== undefined && { since: Date.now() - since }),
  });
  await host.close();
  const shown = ownRedaction(process.env).value(found);
  if (values.json) printJson(shown);
  else console.log(lines(shown, pastTexts(lang), styleOf(process.stdout, lang)).join("\n"));
  return exitCodes.success;
}

function lines(stats: Stats, w: PastTexts, style: Style): string[] {
  if (stats.calls === 0 && stats.asked === 0) return [w.nothing];
  const me = person();
  // Agents outside of Sage ask, and make no calls here.
  const share = Math.min(100, Math.round((100 * stats.asked) / Math.max(1, stats.calls)));
  const by = (who: { by: string; surface: string }) =>
    style.t.aside(who.by === me ? w.you : oneLine(who.by), surfaceOf(who.surface, style.t));
  return [
    w.overall(stats.calls, timeOf(stats.since ?? 0), stats.sessions),
    w.askedOf(stats.asked, share, stats.no),
    ...table(w.tool, stats.tools, ({ tool }) => oneLine(tool), w, style),
    ...table(w.who, stats.people, by, w, style),
    ...(stats.rules.length > 0 ? ["", style.paint.bold(w.rules)] : []),
    ...stats.rules
      .slice(0, MAX_RULES)
      .map(({ rule, spared }) => `  ${String(spared).padStart(6)}  ${clipped(oneLine(rule), 60)}`),
  ];
}

/** On a terminal that is too narrow for all columns those of the highest rank are left out first. */
export function table<T extends Tally>(
  title: string,
  rows: readonly T[],
  nameOf: (row: T) => string,
  w: PastTexts,
  { paint, t, width = Infinity }: Style,
): string[] {
  if (rows.length === 0) return [];
  const time = (ms: number | undefined) => (ms === undefined ? "" : t.duration(ms));
  const { asked, yes, no, none, open, median, p90 } = w.columns;
  let shown: { head: string; rank: number; of: (row: T) => string }[] = [
    { head: title, rank: 0, of: (row) => clipped(nameOf(row), Math.min(30, Math.max(12, width - 26))) },
    { head: asked, rank: 0, of: (row) => `${row.asked}` },
    { head: yes, rank: 0, of: (row) => `${row.yes}` },
    { head: no, rank: 0, of: (row) => `${row.no}` },
    { head: none, rank: 4, of: (row) => `${row.none}` },
    ...(rows.some((row) => row.open > 0) ? [{ head: open, rank: 2, of: (row: T) => `${row.open}` }] : []),
    { head: median, rank: 1, of: (row) => time(row.medianMs) },
    { head: p90, rank: 3, of: (row) => time(row.p90Ms) },
  ];
  for (;;) {
    const cells = [shown.map(({ head }) => head), ...rows.map((row) => shown.map(({ of }) => of(row)))];
    const widths = shown.map((_, n) => Math.max(...cells.map((row) => drawn(row[n]!))));
    const highest = Math.max(...shown.map(({ rank }) => rank));
    if (highest > 0 && widths.reduce((sum, width) => sum + width + 2, -2) > width) {
      shown = shown.filter(({ rank }) => rank < highest);
      continue;
    }
    const laid = (row: readonly string[]) =>
      row
        .map((text, n) => {
          const gap = " ".repeat(widths[n]! - drawn(text));
          return n === 0 ? text + gap : gap + text;
        })
        .join("  ");
    const [head = "", ...lines] = cells.map(laid);
    return ["", paint.bold(head), ...lines];
  }
}

/** The sign for what is left out is drawn in one column; `columns` allows for two. */
function drawn(text: string): number {
  return columns(text.replace(/…$/, "."));
}
