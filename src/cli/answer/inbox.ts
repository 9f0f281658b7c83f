import { ask } from "../../protocol/host/refusal.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Approval, InputRequest } from "../../protocol/facts/request.ts";
import type { SessionSummary } from "../../protocol/host/host.ts";
import { clipped, columns, fitted } from "../../view/lines/safe.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import type { Lang } from "../../texts/language.ts";
import { headline } from "../../texts/shared/resolution.ts";
import { texts } from "../../texts/shared/texts.ts";
import { styleOf, fail, printJson, exitCodes } from "../process/stdout.ts";
import { alikeTo, groupsOf } from "../../view/request/alike.ts";
import { folderNames, originBrief } from "../../view/request/origin.ts";
import { pendingOf, requestBy } from "./find-request.ts";
import { noWords, readFlags } from "../process/flags.ts";
import { hostFlag, openHost } from "../host/open-host.ts";
import { findSession } from "../host/host-client.ts";
import { requestLines } from "../open/print/request-lines.ts";
import { oneLine } from "../../base/visible.ts";
import { needsConsent } from "../../protocol/facts/consent.ts";
import { shortRequestId } from "../../protocol/key.ts";
import { inboxTexts } from "../../texts/commands/inbox.ts";
import type { Style } from "../../view/lines/paint.ts";
import { nameOf, titleOf } from "../../view/items/summary.ts";

const options = { json: { type: "boolean" }, watch: { type: "boolean" }, ...hostFlag } as const;

/** Every open request of every session on a line each; with an id, that one whole, with what to type to answer it. */
export async function inbox(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const [target, stray] = positionals;
  if (stray !== undefined || (values.watch && target !== undefined)) noWords("inbox", positionals, t);
  const { host, me, flag, store, local } = await openHost(values, { lang, looks: true });
  const style = styleOf(process.stdout, lang);
  const isDamaged = store ? createLook(store) : async () => false;
  const show = async (request: InputRequest) => {
    const session = await findSession(host, request.session);
    const { approvals, inquiries, carried } = await ask(host, { type: "request", id: request.id });
    const shown = { lang, flag, cwd: session?.cwd, approvals, inquiries, carried };
    const lines = [...requestLines(request, style, shown), whereLine(request, session, lang)];
    if (await isDamaged(request.session)) lines.push(t.damagedSession);
    console.log(fitted(lines, style.width).join("\n"));
  };
  try {
    if (values.watch) {
      const { watchInbox } = await import("./watch-inbox.ts");
      const [json, elsewhere] = [values.json === true, local === undefined];
      await watchInbox(host, { lang, json, elsewhere, show, signal: leaving() });
      return exitCodes.success;
    }
    if (target !== undefined) {
      const found = await requestBy(host, target, t);
      if ("outcome" in found) return fail(`sage: ${headline(found, texts(lang), me)}`);
      if (values.json) {
        const { inquiries = [] } = await ask(host, { type: "request", id: found.id });
        printJson({ ...found, inquiries });
      } else await show(found);
      const alike = values.json ? [] : alikeTo(found, await pendingOf(host));
      if (alike.length > 0) {
        const { alikeLines } = await import("./answer-alike.ts");
        console.log((await alikeLines(host, alike, lang)).join("\n"));
      }
      return exitCodes.success;
    }
    const { requests } = await ask(host, { type: "pending" });
    if (values.json) printJson(requests);
    else if (requests.length === 0) console.log(t.inboxEmpty);
    else {
      const { sessions } = await ask(host, { type: "sessions" });
      const known = new Map(sessions.map((session) => [session.id, session]));
      const damaged = new Set<string>();
      // A shared journal may hold thousands: each is checked when it is shown by itself.
      if (!store?.shared)
        for (const { request } of requests) if (await isDamaged(request.session)) damaged.add(request.session);
      const listed = groupsOf(requests).map((group) =>
        group.map(({ request, approvals }) => ({
          request,
          approvals,
          title: known.get(request.session)?.title ?? "",
          cwd: known.get(request.session)?.cwd,
          damaged: damaged.has(request.session),
          waits: waitsFor(known.get(request.session), lang),
        })),
      );
      console.log(listLines(listed, { ...style, flag }, lang).join("\n"));
    }
    return exitCodes.success;
  } finally {
    await host.close();
  }
}

/** Reports sessions whose records were modified: they take no answer. Each is checked once. */
function createLook(store: Store): (session: string) => Promise<boolean> {
  const seen = new Map<string, boolean>();
  return async (session) => {
    const known = seen.get(session) ?? (await store.verify(session)) !== undefined;
    seen.set(session, known);
    return known;
  };
}

/** The reader may exit or close the pipe. */
function leaving(): AbortSignal {
  const gone = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => gone.abort());
  process.stdout.once("error", () => gone.abort());
  return gone.signal;
}

function whereLine(request: InputRequest, session: SessionSummary | undefined, lang: Lang): string {
  const line = cliTexts(lang).inSession(request.session, session?.cwd ?? "?", texts(lang).age(Date.now() - request.at));
  const waits = waitsFor(session, lang);
  return waits === undefined ? line : `${line}; ${waits}`;
}

/** Answered, it continues once somebody works at its place. */
function waitsFor(session: SessionSummary | undefined, lang: Lang): string | undefined {
  return session?.place && !session.place.works ? clusterTexts(lang).waitsFor(session.place.name) : undefined;
}

type Listed = {
  request: InputRequest;
  approvals?: readonly Approval[] | undefined;
  title: string;
  cwd: string | undefined;
  damaged: boolean;
  waits: string | undefined;
};

const MAX_TITLE_LENGTH = 24;
const MAX_WHERE_LENGTH = 30;

/** The inbox as lines, a line for each request, those that are alike together: its id, how long it waits, where, its session and what it is about. */
function listLines(
  groups: readonly (readonly Listed[])[],
  { t, paint, width, flag = "" }: Style & { flag?: string },
  lang: Lang,
): string[] {
  const w = inboxTexts(lang);
  const rows = groups.flatMap((group) =>
    group.map((entry, n) => ({ ...entry, last: group.length > 1 && n === group.length - 1 ? group : undefined })),
  );
  const fifth = Math.floor((width ?? 200) / 5);
  const named = folderNames(rows.map(({ request, cwd = "" }) => request.origin?.folder ?? cwd));
  const cells = rows.map(({ request, approvals = [], title, cwd, damaged, waits, last }) => ({
    below: last ? [w.groupOf(last.length, shortRequestId(last[0]!.request.id))] : [],
    id: shortRequestId(request.id),
    age: t.age(Date.now() - request.at),
    title: clipped(titleOf({ title }), Math.min(MAX_TITLE_LENGTH, fifth)),
    what: [
      ...(damaged ? [w.damaged] : []),
      ...(waits === undefined ? [] : [`(${waits})`]),
      ...(needsConsent(request) ? [`${approvals.length}/${request.consent.approvals}`] : []),
      ...(request.agent[0] === undefined ? [] : [`${oneLine(request.agent[0])}:`]),
      nameOf(request, t),
    ].join(" "),
    where: clipped(originBrief(request, t, { cwd, named }), Math.min(MAX_WHERE_LENGTH, fifth)),
  }));
  const widest = (of: (cell: (typeof cells)[number]) => string) => Math.max(...cells.map((cell) => columns(of(cell))));
  const [ids, ages, titles] = [widest(({ id }) => id), widest(({ age }) => age), widest(({ title }) => title)];
  const places = widest(({ where }) => where);
  const used = ids + ages + places + titles + 8;
  return [
    ...cells.flatMap(({ id, age, where, title, what, below }) => {
      const room = width === undefined ? undefined : Math.max(12, width - used);
      const line = [
        paint.bold(padded(id, ids)),
        paint.dim(padded(age, ages)),
        padded(where, places),
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
