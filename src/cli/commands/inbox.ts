import type { Store } from "../../journal/store.ts";
import { withInquiry, type InputRequest } from "../../protocol/index.ts";
import { fitted } from "../../view/lines/safe.ts";
import { cliTexts } from "../../texts/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { headline } from "../../texts/resolution.ts";
import { texts } from "../../texts/texts.ts";
import { person } from "../account.ts";
import { exitCodes } from "../exit-codes.ts";
import { alikeTo, groupsOf } from "../../view/alike.ts";
import { requestBy } from "../find-request.ts";
import { noWords, readFlags } from "../flags.ts";
import { ask, openJournal } from "../journal.ts";
import { openLines } from "../open-lines.ts";
import { styleOf } from "../style.ts";
import { toStdout } from "../stdout.ts";

const options = { json: { type: "boolean" }, watch: { type: "boolean" } } as const;

/** Every open request of every session on a line each; with an id, that one whole, with what to type to answer it. */
export async function inbox(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const [target, stray] = positionals;
  if (stray !== undefined || (values.watch && target !== undefined)) noWords("inbox", positionals, t);
  const { host, store } = openJournal(process.env, { looks: true });
  const style = styleOf(process.stdout, lang);
  const isDamaged = createLook(store);
  const inquiriesOf = ({ id }: InputRequest) => store.inquiries(id).reduce(withInquiry, []);
  const show = (request: InputRequest) => {
    const session = store.session(request.session);
    const [approvals, inquiries] = [store.approvals(request.id), inquiriesOf(request)];
    const shown = { lang, cwd: session?.cwd, approvals, inquiries };
    const lines = [...openLines(request, style, shown), whereLine(request, session, lang)];
    if (isDamaged(request.session)) lines.push(t.damagedSession);
    console.log(fitted(lines, style.width).join("\n"));
  };
  try {
    if (values.watch) {
      const { watchInbox } = await import("./inbox/watch.ts");
      await watchInbox(store, { lang, json: values.json === true, show, signal: leaving() });
      return exitCodes.success;
    }
    if (target !== undefined) {
      const found = requestBy(store, target, t);
      if ("outcome" in found) {
        console.error(`sage: ${headline(found, texts(lang), { by: person(), surface: "cli" })}`);
        return exitCodes.failure;
      }
      if (values.json) toStdout(`${JSON.stringify({ ...found, inquiries: inquiriesOf(found) }, undefined, 2)}\n`);
      else show(found);
      const alike = values.json ? [] : alikeTo(found, store.pending());
      if (alike.length > 0) {
        const { alikeLines } = await import("./inbox/all-like.ts");
        console.log(alikeLines(store, alike, lang).join("\n"));
      }
      return exitCodes.success;
    }
    const { requests } = await ask(host, { type: "pending" });
    if (values.json) toStdout(`${JSON.stringify(requests, undefined, 2)}\n`);
    else if (requests.length === 0) console.log(t.inboxEmpty);
    else {
      const { listLines } = await import("./inbox/list.ts");
      const listed = groupsOf(requests).map((group) =>
        group.map(({ request, approvals }) => ({
          ...{ request, approvals },
          title: store.session(request.session)?.title ?? "",
          damaged: isDamaged(request.session),
        })),
      );
      console.log(listLines(listed, style, lang).join("\n"));
    }
    return exitCodes.success;
  } finally {
    await host.close();
  }
}

/** Tells sessions whose records are not as they were written: they take no answer. Each is looked at once. */
function createLook(store: Store): (session: string) => boolean {
  const seen = new Map<string, boolean>();
  return (session) => {
    const known = seen.get(session) ?? store.verify(session) !== undefined;
    seen.set(session, known);
    return known;
  };
}

/** Whoever looks may leave, or stop reading. */
function leaving(): AbortSignal {
  const gone = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => gone.abort());
  process.stdout.once("error", () => gone.abort());
  return gone.signal;
}

function whereLine(request: InputRequest, session: { cwd: string } | undefined, lang: Lang): string {
  return cliTexts(lang).inSession(
    request.session,
    session?.cwd ?? "?",
    texts(lang).duration(Math.max(1_000, Date.now() - request.at)),
  );
}
