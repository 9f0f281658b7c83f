import { neededOf, offersOf, type InputRequest } from "../protocol/index.ts";
import { offerLines } from "../surfaces/plain/keeping.ts";
import { createPaint, type Style } from "../surfaces/plain/paint.ts";
import { wholeRequest } from "../surfaces/plain/request.ts";
import { fitted } from "../surfaces/plain/safe.ts";
import { cliTexts, type CliTexts } from "../texts/cli.ts";
import type { Lang } from "../texts/language.ts";
import { texts } from "../texts/texts.ts";
import { exitCodes } from "./exit-codes.ts";
import { noWords, readFlags } from "./flags.ts";
import { ask, openJournal } from "./journal.ts";

const options = { json: { type: "boolean" }, watch: { type: "boolean" } } as const;

/** Every open request of every session, with enough to answer it from here. */
export async function inbox(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  noWords("inbox", positionals, t);
  const { host, store } = openJournal(process.env);
  const style = styleOf(process.stdout, lang);
  const show = (request: InputRequest) => {
    const alone = store.pending(request.session).length === 1;
    const lines = [
      ...openLines(request, style, { lang, alone }),
      whereLine(request, store.session(request.session), lang),
    ];
    console.log(fitted(lines, style.width).join("\n"));
  };
  try {
    if (values.watch) {
      const { watchInbox } = await import("./inbox-watch.ts");
      await watchInbox(store, { lang, json: values.json === true, show, signal: leaving() });
      return exitCodes.success;
    }
    const { requests } = await ask(host, { type: "pending" });
    if (values.json) console.log(JSON.stringify(requests, undefined, 2));
    else if (requests.length === 0) console.log(t.inboxEmpty);
    else for (const { request } of requests) show(request);
    return exitCodes.success;
  } finally {
    await host.close();
  }
}

/** Whoever looks may leave, or stop reading. */
function leaving(): AbortSignal {
  const gone = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => gone.abort());
  process.stdout.once("error", () => gone.abort());
  return gone.signal;
}

/** A request with what to type to answer it. The only one of its session is named by the session, which is short. */
export function openLines(
  request: InputRequest,
  style: Style,
  { lang, alone }: { lang: Lang; alone: boolean },
): string[] {
  const t = cliTexts(lang);
  const how = t.howToAnswer(alone ? request.session : request.id, flagsFor(request, t));
  return [...wholeRequest(request, style), how, ...howLines(request, style, t)];
}

function howLines(request: InputRequest, style: Style, t: CliTexts): string[] {
  switch (request.kind) {
    case "permission": {
      const { rules, files } = offerLines(request, style);
      if (request.hard || rules.length === 0) return [t.alsoPermission];
      const offers = offersOf(request);
      const how = [...(offers.length > 1 ? [t.alwaysNth] : []), ...(files.length > 0 ? [t.alwaysTo] : [])];
      return [
        t.alsoPermission,
        t.alsoAlways(style.t.always(neededOf(offers).length)),
        ...rules,
        ...(how.length > 0 ? [style.paint.dim(`     ${how.join(" · ")}`)] : []),
        ...files,
      ];
    }
    case "question":
      return [request.questions.length > 1 ? t.alsoQuestions : t.alsoQuestion];
    case "text":
      return [t.alsoText];
    default:
      return request satisfies never;
  }
}

function whereLine(request: InputRequest, session: { cwd: string } | undefined, lang: Lang): string {
  return cliTexts(lang).inSession(
    request.session,
    session?.cwd ?? "?",
    texts(lang).duration(Math.max(1_000, Date.now() - request.at)),
  );
}

function flagsFor(request: InputRequest, t: CliTexts): string {
  switch (request.kind) {
    case "permission":
      return "--yes | --no";
    case "question":
      return request.questions.length === 1
        ? `--choose "${t.anOption}"`
        : request.questions.map((_, n) => `--choose "${n + 1}=${t.anOption}"`).join(" ");
    case "text":
      return '--text "…"';
    default:
      return request satisfies never;
  }
}

export function styleOf(stream: NodeJS.WriteStream, lang: Lang): Style {
  return { t: texts(lang), paint: createPaint(wantsColor(stream)), width: stream.isTTY ? stream.columns : undefined };
}

export function wantsColor(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}
